package tomlmod

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// encode writes a table. take counts the bytes that it needs.
func encode(table map[string]any, take func(int64) error) (string, error) {
	if err := prepare(table, "", take); err != nil {
		return "", err
	}
	var out strings.Builder
	if err := toml.NewEncoder(&out).Encode(table); err != nil {
		return "", &luau.Error{Code: CodeTOML, Message: "toml.encode: " + err.Error()}
	}
	return out.String(), nil
}

// prepare makes whole numbers of a table integers, as TOML knows them apart, and fails for what TOML
// cannot say.
func prepare(v any, path string, take func(int64) error) error {
	// The header of a table is its path; the text is copied as it grows.
	if err := take(100 + 4*int64(len(path))); err != nil {
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if !utf8.ValidString(key) {
				return cannot("a key that is no UTF-8", path)
			}
			at := path + "." + key
			if err := prepare(value, at, take); err != nil {
				return err
			}
			v[key] = number(value)
		}
	case []any:
		for i, value := range v {
			if err := prepare(value, path+"["+strconv.Itoa(i+1)+"]", take); err != nil {
				return err
			}
			v[i] = number(value)
		}
	case string:
		if !utf8.ValidString(v) {
			return cannot("a text that is no UTF-8", path)
		}
		return take(6 * int64(len(v)))
	case bool, float64, luau.Integer:
	case nil:
		return cannot("null, which TOML has not,", path)
	case luau.Exact:
		return cannot("an integer of more than 64 bits", path)
	case map[any]any:
		return cannot("a table with keys that are no texts", path)
	case []byte:
		return cannot("a buffer", path)
	default:
		return cannot("a function or userdata", path)
	}
	return nil
}

func number(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 && !(v == 0 && math.Signbit(v)) {
			return int64(v)
		}
	case luau.Integer:
		return int64(v)
	}
	return v
}

func cannot(what, path string) error {
	return &luau.Error{Code: CodeTOML, Message: "toml.encode: cannot encode " + what + " at $" + path}
}
