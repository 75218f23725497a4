package toolhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// readStrict decodes what a script wrote; an unknown key is an error. what names the function that it called.
func readStrict(text []byte, into any, what string) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return badRequest("%s: %s must be %s, got %s", what, fieldOf(wrong), wantedBy(wrong.Type), strings.TrimPrefix(wrong.Value, "number "))
	}
	return badRequest("%s: %s", what, strings.TrimPrefix(err.Error(), "json: "))
}

// fieldOf is where a value is, as the script wrote it.
func fieldOf(wrong *json.UnmarshalTypeError) string {
	name := strings.TrimPrefix(wrong.Field, "options.")
	if name == "" {
		return "it"
	}
	return name
}

// wantedBy says what fits a field, in a script's words.
func wantedBy(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wantedBy(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Float64, reflect.Float32:
		return "a number"
	case reflect.Slice:
		return fmt.Sprintf("a list, each of it %s", wantedBy(t.Elem()))
	case reflect.Struct, reflect.Map:
		return "a table"
	}
	return "a whole number"
}
