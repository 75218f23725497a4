package toolhost

import (
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/hukilau/hukilau/go/internal/models"
)

// asked is what a script asks of a model.
type asked struct {
	call        string // the function of ctx that it called
	model       string
	messages    []models.Message
	schema      any // of the JSON that is asked for; nil: none
	system      string
	temperature *float64
	maxTokens   *int
	stop        []string
	seed        *int64
	timeout     time.Duration // 0: the model's
	tools       []string
	repairs     *int
}

// Bounds of options.
const (
	maxTokens  = 1_000_000_000
	maxRepairs = 100
	maxSeconds = 24 * 60 * 60
)

func tokensField(to **int) field { return wholeField(to, 1, maxTokens) }

func temperatureField(to **float64) field {
	return numberField(to, "a number, 0 or more", func(n float64) bool { return n >= 0 })
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// options are those of the function that was called: an option of another would have no effect.
func (a *asked) options(table map[string]any) error {
	var timeout *float64
	known := fields{
		"system": textField(&a.system), "temperature": temperatureField(&a.temperature), "max_tokens": tokensField(&a.maxTokens),
		"stop": textsField(&a.stop, true), "seed": seedField(&a.seed),
		"timeout": numberField(&timeout, fmt.Sprintf("a number of seconds above 0, at most %d", maxSeconds), func(n float64) bool {
			return n > 0 && n <= maxSeconds
		}),
	}
	switch a.call {
	case "ctx.generate":
		known["tools"] = textsField(&a.tools, false)
	case "ctx.generate_json":
		known["repairs"] = wholeField(&a.repairs, 0, maxRepairs)
	}
	if err := known.read("option", "", table); err != nil {
		return err
	}
	if timeout != nil {
		a.timeout = time.Duration(*timeout * float64(time.Second))
	}
	return nil
}

// readRequest reads a request as the prelude writes it, and finds its model.
func (c *call) readRequest(text []byte) (*asked, Model, *models.Request, error) {
	a, err := readAsked(text)
	if err != nil {
		return nil, Model{}, nil, err
	}
	m, err := c.model(a.model)
	if err != nil {
		return nil, Model{}, nil, err
	}
	return a, m, &models.Request{
		Model: m.Name, System: a.system, Messages: a.messages, Temperature: a.temperature, MaxTokens: orZero(a.maxTokens),
		Stop: a.stop, Seed: a.seed,
	}, nil
}

func readAsked(text []byte) (*asked, error) {
	table, err := decoded("ctx.generate", text)
	if err != nil {
		return nil, err
	}
	a := &asked{schema: table["schema"]}
	a.call, _ = table["call"].(string)
	a.model, _ = table["model"].(string)
	options, _ := table["options"].(map[string]any)
	if list, ok := table["options"].([]any); ok && len(list) > 0 {
		return nil, badRequest("%s: the options must be a table of names and values, got a list", a.call)
	}
	if err := a.options(options); err != nil {
		return nil, badRequest("%s: %s", a.call, err)
	}
	messages, ok := listOf(table["messages"])
	if !ok {
		return nil, badRequest("%s: argument 2 must be a prompt: a string or a list of messages", a.call)
	}
	if len(messages) == 0 {
		return nil, badRequest("%s: the list of messages is empty", a.call)
	}
	for i, given := range messages {
		one, ok := given.(map[string]any)
		if !ok {
			return nil, badRequest("%s: message %d must be a table, got %s", a.call, i+1, typeName(given))
		}
		message, err := readMessage(one)
		if err != nil {
			return nil, badRequest("%s: message %d: %s", a.call, i+1, err)
		}
		a.messages = append(a.messages, message)
	}
	return a, nil
}

// readMessage reads a table with content, and with a role where it is not the user's.
func readMessage(table map[string]any) (models.Message, error) {
	m := models.Message{Role: models.RoleUser}
	said := fields{
		"role": func(value any) error {
			text, ok := value.(string)
			m.Role = models.Role(text)
			if !ok {
				return must("system, user or assistant", value)
			}
			if m.Role != models.RoleSystem && m.Role != models.RoleUser && m.Role != models.RoleAssistant {
				return fmt.Errorf("must be system, user or assistant, not %q", shortened(text))
			}
			return nil
		},
		"content": func(value any) (err error) {
			m.Parts, err = readContent(value)
			return err
		},
	}
	if err := said.read("field", "", table); err != nil {
		return m, err
	}
	if table["content"] == nil {
		return m, errors.New("it has no content: give a string or a list of parts")
	}
	return m, nil
}

func readContent(value any) ([]models.Part, error) {
	if text, ok := value.(string); ok {
		return []models.Part{{Text: text}}, nil
	}
	list, ok := listOf(value)
	if !ok {
		return nil, must("a string or a list of parts", value)
	}
	parts := make([]models.Part, 0, len(list))
	for i, item := range list {
		table, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("must be a string or a list of parts; part %d is a %s", i+1, typeName(item))
		}
		part, err := readPart(table)
		if err != nil {
			return nil, complete{fmt.Errorf("part %d: %w", i+1, err)}
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func readPart(table map[string]any) (models.Part, error) {
	var kind, text string
	var image models.Image
	known := fields{
		"type": textField(&kind), "text": textField(&text), "url": textField(&image.URL), "media_type": textField(&image.MediaType),
		"data": func(value any) (err error) {
			encoded, ok := value.(string)
			if !ok {
				return must("a buffer, or a string in base64", value)
			}
			if image.Data, err = base64.StdEncoding.DecodeString(encoded); err != nil {
				return errors.New("must be a buffer, or a string in base64; this string is not")
			}
			return nil
		},
	}
	if err := known.read("field", "", table); err != nil {
		return models.Part{}, err
	}
	isImage := image.URL != "" || image.Data != nil
	switch {
	case kind != "" && kind != "text" && kind != "image":
		return models.Part{}, fmt.Errorf("its type must be text or image, not %q", shortened(kind))
	case kind == "text" && isImage:
		return models.Part{}, errors.New("a text has no url and no data")
	case kind != "image" && !isImage:
		return models.Part{Text: text}, nil
	case text != "":
		return models.Part{}, errors.New("an image has no text: give the text a part of its own")
	case image.URL == "" && (image.Data == nil || image.MediaType == ""):
		return models.Part{}, errors.New("an image needs a url, or data and media_type")
	}
	return models.Part{Image: &image}, nil
}
