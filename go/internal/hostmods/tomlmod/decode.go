package tomlmod

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// CodeTOML is the code of the error for a text that is no TOML.
const CodeTOML = "toml"

// Error is what a script sees for a text that is not taken.
type Error struct {
	Code         string
	Problem      string
	Line, Column int // from 1; 0 when unknown
}

// Error says where and what.
func (e *Error) Error() string {
	if e.Line == 0 {
		return "toml.decode: " + e.Problem
	}
	return fmt.Sprintf("toml.decode: line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// ErrorCode is the code as scripts see it.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorFields is what scripts see beside code and message.
func (e *Error) ErrorFields() map[string]any {
	if e.Line == 0 {
		return nil
	}
	return map[string]any{"line": e.Line, "column": e.Column}
}

func decode(text string) (map[string]any, error) {
	if err := checkBounds(text); err != nil {
		return nil, err
	}
	var table map[string]any
	err := toml.Unmarshal([]byte(text), &table)
	var place *toml.DecodeError
	if errors.As(err, &place) {
		line, column := place.Position()
		return nil, &Error{Code: CodeTOML, Problem: strings.TrimPrefix(place.Error(), "toml: "), Line: line, Column: column}
	}
	if err != nil {
		return nil, &Error{Code: CodeTOML, Problem: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	if table == nil {
		table = map[string]any{}
	}
	return plain(table).(map[string]any), nil
}

// plain makes of what the library gives what crosses to scripts.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = plain(value)
		}
	case []any:
		for i, value := range v {
			v[i] = plain(value)
		}
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case fmt.Stringer: // a local date or time
		return v.String()
	}
	return v
}
