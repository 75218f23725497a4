package toolhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// What a script hands over is read by hand: what is wrong is told in its own words.

func badRequest(format string, args ...any) error {
	return &luau.Error{Code: luau.CodeArgument, Message: fmt.Sprintf(format, args...)}
}

// field takes the value of a key. Its error follows the key's name: "must be a string, got number".
type field func(value any) error

type fields map[string]field

// complete is an error that names its field already.
type complete struct{ error }

// read gives each field its value; a key that there is no field for is an error. what is what a key is called, as
// "option"; inside is what stands before keys in errors, as "memory.".
func (known fields) read(what, inside string, table map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		take, ok := known[key]
		if !ok {
			return complete{errors.New(unknown(what, inside+key, inside, known))}
		}
		if table[key] == nil { // a JSON null is as good as none
			continue
		}
		if err := take(table[key]); err != nil {
			if whole := (complete{}); errors.As(err, &whole) {
				return whole
			}
			return complete{fmt.Errorf("%s%s %w", inside, key, err)}
		}
	}
	return nil
}

// unknown says that there is no such key, and which there are.
func unknown(what, key, inside string, known fields) string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, inside+name)
	}
	slices.Sort(names)
	hint := ""
	if near := spelling.Nearest(key, names); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Sprintf("there is no %s %q%s; there are %s", what, shortened(key), hint, strings.Join(names, ", "))
}

// decoded is a JSON text of the prelude as a table. A script may have made the text itself.
func decoded(where string, text []byte) (map[string]any, error) {
	value, err := jsonvalue.Decode(text, jsonvalue.Options{})
	if err != nil {
		return nil, notJSON(where, err)
	}
	table, ok := value.(map[string]any)
	if !ok {
		return nil, badRequest("%s: what is given must be a table, got %s", where, typeName(value))
	}
	return table, nil
}

// typeName is what typeof says of a value.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "nil"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64, json.Number:
		return "number"
	}
	return "table"
}

func must(wanted string, value any) error {
	return fmt.Errorf("must be %s, got %s", wanted, typeName(value))
}

// fit is about a number that is of the right type.
func fit(wanted string, value any) error {
	if number, ok := value.(float64); ok {
		return fmt.Errorf("must be %s, got %s", wanted, luau.Format(number))
	}
	return fmt.Errorf("must be %s, got %s", wanted, shortened(fmt.Sprint(value)))
}

func textField(to *string) field {
	return func(value any) error {
		text, ok := value.(string)
		if !ok {
			return must("a string", value)
		}
		*to = text
		return nil
	}
}

// numberField takes a number that fits.
func numberField(to **float64, wanted string, fits func(float64) bool) field {
	return func(value any) error {
		number, ok := value.(float64)
		if !ok && typeName(value) != "number" {
			return must(wanted, value)
		}
		if !ok || !fits(number) {
			return fit(wanted, value)
		}
		*to = &number
		return nil
	}
}

// wholeField takes a whole number within bounds.
func wholeField(to **int, least, most int) field {
	wanted := fmt.Sprintf("a whole number from %d to %d", least, most)
	return func(value any) error {
		number, ok := value.(float64)
		switch {
		case !ok && typeName(value) != "number":
			return must(wanted, value)
		case !ok || number != math.Trunc(number) || number < float64(least) || number > float64(most):
			return fit(wanted, value)
		}
		whole := int(number)
		*to = &whole
		return nil
	}
}

// seedField takes each whole number that an int64 is.
func seedField(to **int64) field {
	return func(value any) error {
		var whole int64
		var err error
		switch number := value.(type) {
		case float64:
			if whole = int64(number); number != math.Trunc(number) || math.Abs(number) >= 1<<63 {
				err = errors.New("not whole")
			}
		case json.Number:
			whole, err = number.Int64()
		default:
			return must("a whole number", value)
		}
		if err != nil {
			return fit("a whole number", value)
		}
		*to = &whole
		return nil
	}
}

// listOf is a value as a list; an empty table of a script is one.
func listOf(value any) ([]any, bool) {
	if table, ok := value.(map[string]any); ok && len(table) == 0 {
		return nil, true
	}
	list, ok := value.([]any)
	return list, ok
}

// textsField takes a list of texts and, where one alone will do, one.
func textsField(to *[]string, oneWillDo bool) field {
	wanted := "a list of strings"
	if oneWillDo {
		wanted = "a string or a list of strings"
	}
	return func(value any) error {
		if text, ok := value.(string); ok && oneWillDo {
			*to = []string{text}
			return nil
		}
		list, ok := listOf(value)
		if !ok {
			return must(wanted, value)
		}
		for i, item := range list {
			text, ok := item.(string)
			if !ok {
				return fmt.Errorf("must be %s; item %d is a %s", wanted, i+1, typeName(item))
			}
			*to = append(*to, text)
		}
		return nil
	}
}
