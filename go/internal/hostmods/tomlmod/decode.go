package tomlmod

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/hukilau/hukilau/go/internal/tomltext"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// CodeTOML is the code of the error for a text that is no TOML.
const CodeTOML = "toml"

func failed(code, problem string, line, column int) error {
	return &hostmod.TextError{Code: code, Function: "toml.decode", Problem: problem, Line: line, Column: column}
}

// decode reads a text. take counts the bytes that it needs. The bounds come before what is inside of
// them: their errors say more.
func decode(text []byte, take func(int64) error) (map[string]any, error) {
	if err := take(2 * int64(len(text))); err != nil {
		return nil, err
	}
	if err := tomltext.CheckBounds(text); err != nil {
		return nil, failed(string(luau.CodeLimit), err.Problem, err.Line, err.Column)
	}
	if err := take(footprint(text)); err != nil {
		return nil, err
	}
	var table map[string]any
	err := toml.Unmarshal(text, &table)
	var place *toml.DecodeError
	if errors.As(err, &place) {
		line, column := place.Position()
		return nil, failed(CodeTOML, strings.TrimPrefix(place.Error(), "toml: "), line, column)
	}
	if err != nil {
		return nil, failed(CodeTOML, strings.TrimPrefix(err.Error(), "toml: "), 0, 0)
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
