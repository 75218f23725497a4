package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// raised is a call that failed, as scripts see it.
type raised struct {
	failed   *toolhost.Error
	callable *catalog.Callable
	args     []byte // that were sent
}

// Error is what the source said; else it names the function.
func (e *raised) Error() string {
	switch e.failed.Code {
	case toolhost.Upstream:
		return e.failed.Message
	case toolhost.BadRequest:
		return e.callable.FullName() + ": " + e.wrongArgument()
	}
	return e.callable.FullName() + ": " + e.failed.Error()
}

// Unwrap gives the pipeline's error.
func (e *raised) Unwrap() error { return e.failed }

// ErrorCode is the code as scripts see it.
func (e *raised) ErrorCode() string { return e.failed.ErrorCode() }

// ErrorFields is what scripts see beside code and message.
func (e *raised) ErrorFields() map[string]any {
	fields := e.failed.ErrorFields()
	if data, ok := e.failed.Data.(map[string]any); ok && e.failed.Code == toolhost.Upstream {
		maps.Copy(fields, data)
		delete(fields, "message")
		delete(fields, "code")
	}
	fields["server"], fields["tool"] = e.callable.Scope.Name, e.callable.Name
	if fields["retryable"] == nil {
		fields["retryable"] = e.failed.Code == toolhost.RateLimited || e.failed.Code == toolhost.Busy
	}
	return fields
}

// wrongArgument says what is wrong with the arguments in the names that the script used.
func (e *raised) wrongArgument() string {
	text := e.failed.Message
	parent, last := "", e.failed.Path
	if at := strings.LastIndexByte(last, '/'); at >= 0 {
		parent, last = last[:at], last[at+1:]
	}
	if last != "" && strings.HasSuffix(text, ": "+last) { // "missing required parameter: city" names it
		if field := luauPath(e.callable, parent); field != "" {
			text = field + ": " + text
		}
	} else if field := luauPath(e.callable, e.failed.Path); field != "" && !strings.Contains(text, "'") {
		text = field + " " + text
	}
	return text + e.misspelt()
}

// luauPath is a JSON pointer into the arguments as a script writes it: "list[1].name".
func luauPath(c *catalog.Callable, pointer string) string {
	if c.Scope.Kind == catalog.OpenAPI {
		pointer = strings.TrimPrefix(pointer, "/"+paramsKey)
	}
	if pointer == "" {
		return ""
	}
	var path strings.Builder
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = unescaped.Replace(token)
		i, err := strconv.Atoi(token)
		switch {
		case err == nil:
			fmt.Fprintf(&path, "[%d]", i+1)
		case !catalog.IsIdent(token):
			fmt.Fprintf(&path, "[%s]", catalog.Quote(token))
		case path.Len() > 0:
			path.WriteString("." + token)
		default:
			path.WriteString(token)
		}
	}
	return path.String()
}

// misspelt names a field that was sent, that there is not, and that may have meant another.
func (e *raised) misspelt() string {
	tree, _ := jsonvalue.Decode(e.args, jsonvalue.Options{})
	sent, _ := tree.(map[string]any)
	if e.callable.Scope.Kind == catalog.OpenAPI {
		sent, _ = sent[paramsKey].(map[string]any)
	}
	properties, _ := e.callable.Params["properties"].(map[string]any)
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(properties)), func(name string) bool {
		_, given := sent[name] // is not what another name was meant to be
		return given
	})
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if _, there := properties[name]; there {
			continue
		}
		if near := spelling.Nearest(name, known); near != "" && !strings.Contains(e.failed.Message, near+"?") {
			return fmt.Sprintf(" (%s was given: did you mean %s?)", spelling.Clip(name, 60), near)
		}
	}
	return ""
}
