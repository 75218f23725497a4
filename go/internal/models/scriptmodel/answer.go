package scriptmodel

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// answer puts what the script gives into the answer.
type answer struct {
	collector *models.Collector
	stop      models.StopReason
}

// tell takes a string, a table, a list of these, or nothing.
func (a *answer) tell(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return a.collector.Text(v)
	case map[string]any:
		return a.table(v)
	case []any:
		for _, piece := range v {
			if err := a.tell(piece); err != nil {
				return err
			}
		}
		return nil
	}
	return wrong("generate must give a string, a table, a list or a function, got %s", kind(v))
}

func (a *answer) table(t map[string]any) error {
	for key, value := range t {
		if value == nil {
			continue // a JSON null
		}
		switch key {
		case "text", "reasoning", "stop":
			if _, ok := value.(string); !ok {
				return wrong("%s must be a string, got %s", key, kind(value))
			}
		case "tool_calls", "usage":
		default:
			return wrong("there is no field %q in an answer: it has text, reasoning, tool_calls, usage, stop", key)
		}
	}
	reasoning, _ := t["reasoning"].(string)
	if err := a.collector.Reasoning(reasoning); err != nil {
		return err
	}
	text, _ := t["text"].(string)
	if err := a.collector.Text(text); err != nil {
		return err
	}
	if err := a.calls(t["tool_calls"]); err != nil {
		return err
	}
	if stop, ok := t["stop"].(string); ok {
		a.stop = models.StopReason(stop)
	}
	return a.usage(t["usage"])
}

func (a *answer) calls(v any) error {
	list, ok := v.([]any)
	if empty, isMap := v.(map[string]any); v != nil && !ok && (!isMap || len(empty) > 0) {
		return wrong("tool_calls must be a list, got %s", kind(v))
	}
	for i, item := range list {
		t, _ := item.(map[string]any)
		function, ok := t["name"].(string)
		if !ok {
			return wrong("tool_calls[%d] must be a table with a name", i+1)
		}
		id, _ := t["id"].(string)
		arguments, err := argumentsText(t["arguments"])
		if err != nil {
			return wrong("tool_calls[%d].arguments: %s", i+1, err)
		}
		if err := a.collector.Call(models.ToolCall{ID: id, Name: function, Arguments: arguments}); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) usage(v any) error {
	if v == nil {
		return nil
	}
	t, ok := v.(map[string]any)
	if !ok {
		return wrong("usage must be a table, got %s", kind(v))
	}
	var u models.Usage
	for key, to := range map[string]*int64{
		"input_tokens": &u.InputTokens, "output_tokens": &u.OutputTokens,
		"cached_tokens": &u.CachedTokens, "reasoning_tokens": &u.ReasoningTokens,
	} {
		n, isNumber := t[key].(float64)
		if t[key] != nil && (!isNumber || n != math.Trunc(n) || n < 0 || n > 1e15) {
			return wrong("usage.%s must be a whole number of at least 0", key)
		}
		*to = int64(n)
	}
	return a.collector.Usage(u)
}

// argumentsText is the JSON of arguments; a string is taken as it is, so that a script can play a
// model that writes broken JSON.
func argumentsText(v any) (json.RawMessage, error) {
	if text, ok := v.(string); ok {
		return json.RawMessage(text), nil
	}
	if v == nil {
		return nil, nil
	}
	tree, err := jsonTree(v)
	if err != nil {
		return nil, err
	}
	return jsonvalue.Encode(tree)
}

// jsonTree is a value of a script as package jsonvalue takes it.
func jsonTree(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, float64:
		return v, nil
	case luau.Integer:
		return json.Number(strconv.FormatInt(int64(v), 10)), nil
	case luau.Exact:
		return json.Number(v), nil
	case []any:
		list := make([]any, len(v))
		for i := range v {
			item, err := jsonTree(v[i])
			if err != nil {
				return nil, err
			}
			list[i] = item
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			item, err := jsonTree(v[key])
			if err != nil {
				return nil, err
			}
			object[key] = item
		}
		return object, nil
	}
	return nil, fmt.Errorf("%s cannot be written as JSON", kind(v))
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case bool:
		return "a boolean"
	case float64, luau.Integer, luau.Exact:
		return "a number"
	case string:
		return "a string"
	case []any, map[string]any, map[any]any:
		return "a table"
	case *luau.Function:
		return "a function"
	}
	return "a value of another kind"
}

func wrong(format string, args ...any) error {
	return &models.Error{Code: models.CodeUpstream, Provider: name, Message: models.Clip(fmt.Sprintf(format, args...))}
}

// known are the codes that a script may raise as they are, and whether they pass.
var known = map[models.Code]bool{
	models.CodeUpstream: true, models.CodeRateLimited: true, models.CodeTimeout: true,
	models.CodeInvalidRequest: false, models.CodePermission: false, models.CodeNotFound: false, models.CodeTooLarge: false,
}

// upstream is the failure that an error table plays: what a provider with that status would be.
func upstream(fields map[string]any, message string) error {
	status, _ := fields["status"].(float64)
	code, _ := fields["code"].(string)
	e := wire.ErrorOf(name, int(status), nil, nil)
	if retryable, ok := known[models.Code(code)]; ok {
		e.Code = models.Code(code)
		if status == 0 {
			e.Retryable = retryable
		}
	} else if status == 0 {
		e.Code, e.Retryable = models.CodeUpstream, false
	}
	if text, ok := fields["message"].(string); ok {
		e.Message = models.Clip(text)
	} else if status == 0 {
		e.Message = models.Clip(message)
	}
	if seconds, ok := fields["retry_after"].(float64); ok && seconds > 0 && seconds < 1e6 {
		e.RetryAfter = time.Duration(seconds * float64(time.Second))
	}
	if retryable, ok := fields["retryable"].(bool); ok {
		e.Retryable = retryable
	}
	return e
}
