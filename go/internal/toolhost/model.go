package toolhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Model is a model that tools may be granted.
type Model struct {
	Provider models.Provider
	Name     string        // as the provider calls it
	Timeout  time.Duration // of one request; 0: none but the call's
}

// spent is what the models of one call used.
type spent struct {
	mu    sync.Mutex
	usage models.Usage
}

func (c *call) usage() models.Usage {
	c.spent.mu.Lock()
	defer c.spent.mu.Unlock()
	return c.spent.usage
}

func (c *call) spend(u models.Usage) {
	for at := c; at != nil; at = at.parent {
		at.spent.mu.Lock()
		at.spent.usage = at.spent.usage.Plus(u)
		at.spent.mu.Unlock()
	}
}

// model finds a model that the tool is granted. What it uses is charged to the call.
func (c *call) model(name string) (Model, error) {
	if c.host.options.Models == nil {
		return Model{}, &luau.Error{Code: "not_available", Message: "this host has no models: add [models." + shortened(name) + "] to hukilau.toml"}
	}
	if granted := c.tool.Permissions.Models; !slices.Contains(granted, name) && !slices.Contains(granted, "*") {
		return Model{}, &hostmod.PermissionError{Key: "models", Message: fmt.Sprintf(
			"the model %s is not granted to the tool %s (permissions: models = [%q])", shortened(name), c.tool.Name, shortened(name))}
	}
	m, known := c.host.options.Models(name)
	if !known {
		return Model{}, &luau.Error{Code: "not_found", Message: fmt.Sprintf("there is no model %q: add [models.%s] to hukilau.toml", shortened(name), shortened(name))}
	}
	m.Provider = c.counted(models.WithBudget(m.Provider, c.budget), name)
	return m, nil
}

// counted notes what p uses, and how long its requests take, in the log of the call. Errors of p name the model.
func (c *call) counted(p models.Provider, name string) models.Provider {
	return models.ProviderFunc(func(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
		response, err := p.Stream(ctx, r, emit)
		if response != nil {
			c.spend(response.Usage)
		}
		return response, named(err, name)
	})
}

// named is a failure of a model with the name that the configuration gives it: a tool may use several. A failure of
// the host's own is about none.
func named(err error, name string) error {
	switch failed := err.(type) {
	case *models.Error:
		if failed.Provider != "" {
			copied := *failed
			copied.Model = name
			return &copied
		}
	case *models.OutputError:
		copied := *failed
		copied.Model = name
		return &copied
	}
	return err
}

// within limits a request to a model.
func (a *asked) within(ctx context.Context, m Model) (context.Context, context.CancelFunc) {
	limit := m.Timeout
	if a.timeout > 0 {
		limit = a.timeout
	}
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, &models.Error{
		Code: models.CodeTimeout, Model: a.model, Message: fmt.Sprintf("no answer within %s", seconds(limit)), Retryable: true,
	})
}

// Generate implements toolmod.Host.
func (c *call) Generate(ctx context.Context, text []byte) ([]byte, error) {
	a, m, r, err := c.readRequest(text)
	if err != nil {
		return nil, err
	}
	ctx, cancel := a.within(ctx, m)
	defer cancel()
	if a.schema != nil {
		return c.generateJSON(ctx, a, m, r)
	}
	response, err := c.generateText(ctx, a, m, r)
	if err != nil {
		return nil, timedOut(ctx, err)
	}
	return jsonvalue.Encode(answerOf(response, m, a))
}

// timedOut is the error of a request; where its own time was over, that.
func timedOut(ctx context.Context, err error) error {
	if cause, ok := context.Cause(ctx).(*models.Error); ok {
		return cause
	}
	return err
}

// answerOf is an answer as scripts see it. Where the provider does not name the model, it is the one that was asked.
func answerOf(r *models.Response, m Model, a *asked) map[string]any {
	return map[string]any{
		"text": r.Text(), "stop": string(r.Stop), "model": cmp.Or(r.Model, m.Name, a.model),
		"usage": map[string]any{
			"input_tokens": float64(r.Usage.InputTokens), "output_tokens": float64(r.Usage.OutputTokens), "seconds": r.Usage.Time.Seconds(),
		},
	}
}

func (c *call) generateJSON(ctx context.Context, a *asked, m Model, r *models.Request) ([]byte, error) {
	compiled, err := schema.Compile(a.schema, "the answer")
	if err != nil {
		return nil, badRequest("%s: argument 3%s", a.call, schemaFault(err))
	}
	o := models.JSONOptions{
		Decode: func(text []byte) (any, error) { return jsonvalue.Decode(text, jsonvalue.Options{}) },
		Validate: func(v any) (list []string) {
			for _, violation := range compiled.Validate(v) {
				list = append(list, strings.TrimSpace(violation.Pointer+" "+violation.Message))
			}
			return list
		},
	}
	if a.repairs != nil {
		if o.Repairs = *a.repairs; o.Repairs == 0 {
			o.Repairs = -1
		}
	}
	value, response, err := models.GenerateJSON(ctx, m.Provider, r, a.schema, o)
	if err != nil {
		return nil, named(timedOut(ctx, err), a.model)
	}
	answer := answerOf(response, m, a)
	answer["value"] = value
	return jsonvalue.Encode(answer)
}

// schemaFault is what is wrong with a schema that a script wrote, to stand behind the name of the argument.
func schemaFault(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // without the name that the schema was compiled under
	}
	if said, found := strings.CutPrefix(err.Error(), "not a JSON Schema"); found {
		return " is not a JSON Schema" + said
	}
	return ": " + err.Error()
}

// GenerateStream implements toolmod.Host.
func (c *call) GenerateStream(ctx context.Context, text []byte) (toolmod.Stream, error) {
	a, m, r, err := c.readRequest(text)
	if err != nil {
		return nil, err
	}
	s := newStream()
	// The run's context: the one given ends with this host call.
	ctx, cancel := a.within(c.runContext, m)
	s.cancel = cancel
	go func() {
		defer cancel()
		_, err := m.Provider.Stream(ctx, r, func(e models.Event) error {
			if e.Kind != models.EventText || e.Text == "" {
				return nil
			}
			text, err := jsonvalue.Encode(e.Text)
			if err != nil {
				return err
			}
			return s.send(ctx, text)
		})
		if err != nil {
			err = timedOut(ctx, err)
		}
		s.end(err)
	}()
	return s, nil
}
