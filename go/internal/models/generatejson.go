package models

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// JSONOptions say how GenerateJSON reads and checks answers.
type JSONOptions struct {
	Decode   func([]byte) (any, error) // JSON text to a tree
	Validate func(any) []string        // what is wrong with a tree, in words for the model; nil: nothing ever is
	Repairs  int                       // turns in which the model may mend its answer; 0: 2; below 0: none
}

// OutputError is an answer that was not the JSON asked for, after all repairs.
type OutputError struct {
	Text       string // the last answer, cut when it is very long
	Violations []string
	Repairs    int    // turns that were tried
	Model      string // as the configuration calls it; empty where nobody said
}

// Error says what was wrong with the last answer.
func (e *OutputError) Error() string {
	who, also := "the model", ""
	if e.Model != "" {
		who = "model " + e.Model
	}
	switch {
	case e.Repairs == 1:
		also = ", also after 1 repair"
	case e.Repairs > 1:
		also = fmt.Sprintf(", also after %d repairs", e.Repairs)
	}
	return who + " gave no valid JSON" + also + ": " + strings.Join(e.Violations, "; ")
}

// ErrorCode is the code as scripts see it.
func (*OutputError) ErrorCode() string { return string(CodeInvalidOutput) }

// ErrorFields is what scripts see beside code and message.
func (e *OutputError) ErrorFields() map[string]any {
	violations := make([]any, len(e.Violations))
	for i, v := range e.Violations {
		violations[i] = v
	}
	fields := map[string]any{"text": e.Text, "violations": violations, "retryable": false}
	if e.Model != "" {
		fields["model"] = e.Model
	}
	return fields
}

// Bounds of what a repair turn and an error repeat.
const (
	maxRepeated   = 16 << 10
	maxViolations = 20
)

// GenerateJSON asks for JSON that schema allows. Where the provider can hold the model to it, it
// does; else the prompt asks for it. What comes is checked, and the model is told what is wrong with
// it. The Response is the last answer, with the usage of all turns. r is not changed.
func GenerateJSON(ctx context.Context, p Provider, r *Request, schema any, o JSONOptions) (any, *Response, error) {
	switch {
	case o.Repairs == 0:
		o.Repairs = 2
	case o.Repairs < 0:
		o.Repairs = 0
	}
	asked := *r
	asked.Schema, asked.Tools = schema, nil
	var all Usage
	for turn := 0; ; turn++ {
		response, err := generateBySchema(ctx, p, &asked)
		if response != nil {
			all = all.Plus(response.Usage)
			response.Usage = all
		}
		if err != nil {
			return nil, response, err
		}
		tree, violations := readJSON(response, o)
		if len(violations) == 0 {
			return tree, response, nil
		}
		if turn == o.Repairs {
			return nil, response, &OutputError{Text: cut(response.Text(), maxRepeated), Violations: violations, Repairs: turn}
		}
		asked.Messages = append(asked.Messages[:len(asked.Messages):len(asked.Messages)],
			TextMessage(RoleAssistant, cut(response.Text(), maxRepeated)), TextMessage(RoleUser, repairPrompt(violations)))
	}
}

// generateBySchema tries once more with the schema in the prompt when the provider refuses it: each
// takes another part of JSON Schema.
func generateBySchema(ctx context.Context, p Provider, asked *Request) (*Response, error) {
	response, err := Generate(ctx, p, asked)
	var failed *Error
	if asked.Schema == nil || response != nil || !errors.As(err, &failed) || failed.Code != CodeInvalidRequest {
		return response, err
	}
	asked.System, asked.Schema = JoinPrompts(asked.System, SchemaPrompt(asked.Schema)), nil
	return Generate(ctx, p, asked)
}

func repairPrompt(violations []string) string {
	return "This is not the JSON that was asked for:\n- " + strings.Join(violations, "\n- ") +
		"\nAnswer with the whole corrected JSON value and nothing else."
}

// readJSON finds the JSON in an answer. Of several it takes the first that is valid; where none is,
// it says what is wrong with the first.
func readJSON(r *Response, o JSONOptions) (any, []string) {
	var first []string
	var problem error
	for _, text := range jsonTexts(r.Text()) {
		tree, err := o.Decode([]byte(text))
		if err != nil {
			if problem == nil {
				problem = err
			}
			continue
		}
		violations := validate(tree, o)
		if len(violations) == 0 {
			return tree, nil
		}
		if first == nil {
			first = violations
		}
	}
	switch {
	case first != nil:
		return nil, first
	case r.Stop == StopLength:
		return nil, []string{"the answer was cut off at the limit of its length: make it shorter"}
	case problem == nil:
		return nil, []string{"there is no JSON in the answer"}
	}
	return nil, []string{"the answer is not JSON: " + Clip(problem.Error())}
}

func validate(tree any, o JSONOptions) []string {
	if o.Validate == nil {
		return nil
	}
	list := o.Validate(tree)
	if len(list) > maxViolations {
		more := fmt.Sprintf("and %d more", len(list)-maxViolations)
		list = append(list[:maxViolations:maxViolations], more)
	}
	for i := range list {
		list[i] = Clip(list[i])
	}
	return list
}

// cut is text without what is beyond a number of bytes, at a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:wholeCharacters(text[:most])]
}
