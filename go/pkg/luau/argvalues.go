package luau

import (
	"encoding/binary"
	"math"
	"reflect"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// Number gives argument i, from 0.
func (c *Call) Number(i int) (float64, error) {
	if a := c.arg(i); len(a) >= 9 && a[0] == capi.TagNumber {
		return math.Float64frombits(binary.LittleEndian.Uint64(a[1:])), nil
	}
	return 0, c.wrongType(i, "a number")
}

// Int gives argument i, from 0, which must be a whole number that a Go int holds.
func (c *Call) Int(i int) (int, error) {
	if a := c.arg(i); len(a) >= 9 && a[0] == capi.TagInteger {
		return int(binary.LittleEndian.Uint64(a[1:])), nil
	}
	if c.tagOf(i) != capi.TagNumber {
		return 0, c.wrongType(i, "a whole number")
	}
	n, err := c.Number(i)
	if err != nil {
		return 0, err
	}
	if n != math.Trunc(n) || n < -maxExact || n > maxExact {
		return 0, c.Argument(i, "must be a whole number, got "+FormatNumber(n))
	}
	return int(n), nil
}

// Bool gives argument i, from 0.
func (c *Call) Bool(i int) (bool, error) {
	switch c.tagOf(i) {
	case capi.TagTrue:
		return true, nil
	case capi.TagFalse:
		return false, nil
	}
	return false, c.wrongType(i, "a boolean")
}

// view gives the bytes of a text argument without a copy.
func (c *Call) view(i int, tag byte) ([]byte, bool) {
	a := c.arg(i)
	if len(a) < 5 || a[0] != tag {
		return nil, false
	}
	n := int(binary.LittleEndian.Uint32(a[1:]))
	if len(a)-5 < n {
		return nil, false
	}
	return a[5 : 5+n], true
}

// Text gives argument i, from 0: a string, any bytes.
func (c *Call) Text(i int) (string, error) {
	if b, ok := c.view(i, capi.TagString); ok {
		return string(b), nil
	}
	return "", c.wrongType(i, "a string")
}

// Bytes gives argument i, from 0: a string or a buffer, copied.
func (c *Call) Bytes(i int) ([]byte, error) {
	b, ok := c.view(i, capi.TagString)
	if !ok {
		b, ok = c.view(i, capi.TagBuffer)
	}
	if !ok {
		return nil, c.wrongType(i, "a string or a buffer")
	}
	return append(make([]byte, 0, len(b)), b...), nil
}

// Value gives argument i, from 0, converted as [Values.All] does; nil when there are fewer.
func (c *Call) Value(i int) (any, error) {
	a := c.arg(i)
	if len(a) == 0 {
		return nil, nil
	}
	d := decoder{state: c.state, data: a, taken: &c.taken}
	v, err := d.value(0)
	if err != nil {
		return nil, under(c.fn.Name, err)
	}
	return v, nil
}

// Map gives argument i, from 0: a table with string keys only; an empty table is an empty map.
func (c *Call) Map(i int) (map[string]any, error) {
	if t := c.tagOf(i); t != capi.TagTable && t != capi.TagNumbers {
		return nil, c.wrongType(i, "a table")
	}
	v, err := c.Value(i)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case []any:
		if len(v) == 0 {
			return map[string]any{}, nil
		}
	}
	return nil, c.Argument(i, "must be a table with string keys only")
}

// List gives argument i, from 0: an array; an empty table is an empty one. Holes and nulls are nil.
func (c *Call) List(i int) ([]any, error) {
	if t := c.tagOf(i); t != capi.TagTable && t != capi.TagNumbers {
		return nil, c.wrongType(i, "an array")
	}
	v, err := c.Value(i)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []any:
		return v, nil
	case map[string]any:
		if len(v) == 0 {
			return []any{}, nil
		}
	}
	return nil, c.Argument(i, "must be an array")
}

// Function gives argument i, from 0.
func (c *Call) Function(i int) (*Function, error) {
	if c.Type(i) != "function" {
		return nil, c.wrongType(i, "a function")
	}
	v, err := c.Value(i)
	if err != nil {
		return nil, err
	}
	return v.(*Function), nil
}

// Bind scans argument i, from 0, into what p points to, as [Values.Scan] does: mostly a struct, for
// a table of named options. A missing or nil argument is an error; see BindOpt.
func (c *Call) Bind(i int, p any) error {
	to := reflect.ValueOf(p)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fail(CodeInvalid, "Bind needs a pointer, got %T", p)
	}
	return c.bind(i, to.Elem())
}

func (c *Call) bind(i int, to reflect.Value) error {
	if c.IsNil(i) {
		return c.wrongType(i, article(to.Type()))
	}
	v, err := c.Value(i)
	if err != nil {
		return err
	}
	err = assign(to, v)
	if e, ok := err.(*Error); ok {
		problem := e.Message
		if e.path != "" {
			problem = ": " + problem
		}
		return c.Argument(i, problem)
	}
	return err
}

// opt reads an argument that may be missing or nil: then it is the default.
func opt[T any](c *Call, i int, missing T, read func(int) (T, error)) (T, error) {
	if c.IsNil(i) {
		return missing, nil
	}
	return read(i)
}

// NumberOpt is Number for an argument that may be missing or nil: then it is missing.
func (c *Call) NumberOpt(i int, missing float64) (float64, error) {
	return opt(c, i, missing, c.Number)
}

// IntOpt is Int for an argument that may be missing or nil.
func (c *Call) IntOpt(i, missing int) (int, error) { return opt(c, i, missing, c.Int) }

// BoolOpt is Bool for an argument that may be missing or nil.
func (c *Call) BoolOpt(i int, missing bool) (bool, error) { return opt(c, i, missing, c.Bool) }

// TextOpt is Text for an argument that may be missing or nil.
func (c *Call) TextOpt(i int, missing string) (string, error) { return opt(c, i, missing, c.Text) }

// BytesOpt is Bytes for an argument that may be missing or nil: then it is nil.
func (c *Call) BytesOpt(i int) ([]byte, error) { return opt(c, i, nil, c.Bytes) }

// MapOpt is Map for an argument that may be missing or nil: then it is nil.
func (c *Call) MapOpt(i int) (map[string]any, error) { return opt(c, i, nil, c.Map) }

// ListOpt is List for an argument that may be missing or nil: then it is nil.
func (c *Call) ListOpt(i int) ([]any, error) { return opt(c, i, nil, c.List) }

// FunctionOpt is Function for an argument that may be missing or nil: then it is nil.
func (c *Call) FunctionOpt(i int) (*Function, error) { return opt(c, i, nil, c.Function) }

// BindOpt is Bind for an argument that may be missing or nil: then p keeps what it has.
func (c *Call) BindOpt(i int, p any) error {
	if c.IsNil(i) {
		return nil
	}
	return c.Bind(i, p)
}
