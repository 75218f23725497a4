package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	mostSchemaValues = 100_000 // values in one document
	mostSchemas      = 10_000  // objects and bools among them: the library compares each schema with all others
	mostSchemaDepth  = 200
	mostDigits       = 1000 // of a number that no float64 holds
)

var errOutside = errors.New("outside of this document")

// copyDocument takes a tree that nobody else changes, within bounds.
func copyDocument(doc any) (any, error) {
	return (&copier{mostSchemaValues, mostSchemas}).copy(doc, mostSchemaDepth)
}

// copier counts what is left of the bounds.
type copier struct{ values, schemas int }

func (c *copier) count(v any) error {
	c.values--
	switch v.(type) {
	case map[string]any, bool:
		c.schemas--
	}
	if c.values < 0 {
		return fmt.Errorf("more than %d values", mostSchemaValues)
	}
	if c.schemas < 0 {
		return fmt.Errorf("more than %d objects", mostSchemas)
	}
	return nil
}

func (c *copier) copy(v any, depth int) (any, error) {
	if err := c.count(v); err != nil {
		return nil, err
	}
	if depth == 0 {
		return nil, fmt.Errorf("nested more than %d deep", mostSchemaDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			value, err := c.copy(item, depth-1)
			if err != nil {
				return nil, err
			}
			object[name] = value
		}
		return object, nil
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			value, err := c.copy(item, depth-1)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	case nil, bool, string, float64:
		return v, nil
	case int:
		return float64(v), nil
	case json.Number:
		if !reasonable(v) {
			return nil, fmt.Errorf("a number that is too long or has an exponent: %.40s", string(v))
		}
		return v, nil
	}
	return nil, fmt.Errorf("a Go %T is no JSON value", v)
}

// reasonable tells whether the library may have a number: it computes with all digits that an exponent
// stands for.
func reasonable(n json.Number) bool {
	digits := strings.TrimPrefix(string(n), "-")
	return digits != "" && len(digits) <= mostDigits && strings.Trim(digits, "0123456789.") == "" && strings.Count(digits, ".") <= 1
}

// problem says in our words why the library compiles no schema.
func problem(err error) error {
	var (
		invalid *jsonschema.SchemaValidationError
		pattern *jsonschema.InvalidRegexError
		load    *jsonschema.LoadURLError
		pointer *jsonschema.JSONPointerNotFoundError
		anchor  *jsonschema.AnchorNotFoundError
		result  *jsonschema.ValidationError
	)
	switch {
	case errors.As(err, &invalid) && errors.As(invalid.Err, &result):
		list := &found{}
		list.addResult(nil, result, nil)
		return &DocumentError{Violations: list.sorted()}
	case errors.As(err, &pattern):
		return fmt.Errorf("%s: %w", fragment(pattern.URL), pattern.Err)
	case errors.As(err, &load) && errors.Is(load.Err, errOutside):
		return fmt.Errorf("%q is outside of this document, and nothing is loaded from elsewhere: put it under $defs", strings.TrimPrefix(load.URL, base))
	case errors.As(err, &pointer):
		return fmt.Errorf("$ref %q leads nowhere", fragment(pointer.URL))
	case errors.As(err, &anchor):
		return fmt.Errorf("$ref %q leads nowhere", fragment(anchor.Reference))
	}
	return errors.New(clip(strings.ReplaceAll(err.Error(), main, ""), mostMessage))
}

// fragment is the part of an address within the document.
func fragment(address string) string {
	if rest, ours := strings.CutPrefix(address, main); ours {
		return rest
	}
	return strings.TrimPrefix(address, base)
}
