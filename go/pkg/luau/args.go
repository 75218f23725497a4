package luau

import (
	"encoding/binary"
	"math"

	"github.com/hukilau/hukilau/go/internal/capi"
)

var tagNames = map[byte]string{
	capi.TagNil: "nil", capi.TagFalse: "boolean", capi.TagTrue: "boolean", capi.TagNumber: "number",
	capi.TagInteger: "integer", capi.TagString: "string", capi.TagVector: "vector",
	capi.TagBuffer: "buffer", capi.TagTable: "table", capi.TagNumbers: "table", capi.TagNull: "null",
	capi.TagExact: "exact number",
}

// step gives the position after the flat value at pos, or for a table after its head, and how many
// values stand inside; -1 when the data is cut short.
func step(data []byte, pos int) (next, inside int) {
	if pos < 0 || pos >= len(data) {
		return -1, 0
	}
	tag := data[pos]
	pos++
	size := func(at int) int {
		if len(data)-at < 4 {
			return math.MaxInt32
		}
		return int(binary.LittleEndian.Uint32(data[at:]))
	}
	switch tag {
	case capi.TagNil, capi.TagFalse, capi.TagTrue, capi.TagNull:
	case capi.TagNumber, capi.TagInteger:
		pos += 8
	case capi.TagVector:
		pos += 12
	case capi.TagRef:
		pos += 9
	case capi.TagString, capi.TagBuffer, capi.TagExact:
		pos += 4 + size(pos)
	case capi.TagNumbers:
		pos += 4 + 8*size(pos)
	case capi.TagTable:
		inside = size(pos+1) + 2*size(pos+5)
		pos += 9
	default:
		return -1, 0
	}
	if pos > len(data) {
		return -1, 0
	}
	return pos, inside
}

// skip gives the position after the flat value at pos, or -1.
func skip(data []byte, pos int) int {
	for pending := 1; pending > 0 && pos >= 0; pending-- {
		next, inside := step(data, pos)
		pos, pending = next, pending+inside
	}
	return pos
}

// arg gives the flat value of argument i, from 0; nil when there are fewer.
func (c *Call) arg(i int) []byte {
	if i >= c.n {
		return nil
	}
	if i == 0 {
		return c.args
	}
	from := min(i, c.known)
	pos := 0
	if from > 0 {
		pos = int(c.offsets[from])
	}
	for ; from < i; from++ {
		pos = skip(c.args, pos)
		if pos < 0 {
			return nil
		}
		if from+1 < len(c.offsets) {
			c.offsets[from+1] = uint32(pos)
			c.known = from + 1
		}
	}
	return c.args[pos:]
}

func (c *Call) tagOf(i int) byte {
	if a := c.arg(i); len(a) > 0 {
		return a[0]
	}
	return capi.TagNil
}

// Type names the type of argument i, from 0: "nil" when there are fewer.
func (c *Call) Type(i int) string {
	a := c.arg(i)
	if len(a) == 0 {
		return "nil"
	}
	if a[0] == capi.TagRef && len(a) > 1 {
		switch a[1] {
		case capi.RefFunction:
			return "function"
		case capi.RefThread:
			return "thread"
		}
		return "userdata"
	}
	return tagNames[a[0]]
}

// IsNil says whether argument i, from 0, is nil or missing.
func (c *Call) IsNil(i int) bool { return c.tagOf(i) == capi.TagNil }

// Argument makes the error for argument i, from 0.
func (c *Call) Argument(i int, problem string) error {
	return &ArgumentError{Function: c.fn.Name, Index: i + 1, Problem: problem}
}

func (c *Call) wrongType(i int, want string) error {
	got := c.Type(i)
	if i >= c.n {
		got = "no value"
	}
	return c.Argument(i, "must be "+want+", got "+got)
}

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
	n, err := c.Number(i)
	if err != nil {
		return 0, err
	}
	if n != math.Trunc(n) || n < -maxExact || n > maxExact {
		return 0, c.Argument(i, "must be a whole number")
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

// Value gives argument i, from 0, converted as Values.All does; nil when there are fewer.
func (c *Call) Value(i int) (any, error) {
	a := c.arg(i)
	if len(a) == 0 {
		return nil, nil
	}
	d := decoder{state: c.state, data: a, taken: &c.taken}
	v, err := d.value(0)
	if err != nil {
		return nil, at(c.fn.Name, err)
	}
	return v, nil
}

// Map gives argument i, from 0: a table with string keys only; an empty table is an empty map.
func (c *Call) Map(i int) (map[string]any, error) {
	if t := c.tagOf(i); t == capi.TagTable || t == capi.TagNumbers {
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
	return nil, c.wrongType(i, "a table")
}

// Function gives argument i, from 0.
func (c *Call) Function(i int) (*Function, error) {
	v, err := c.Value(i)
	if err != nil {
		return nil, err
	}
	if f, ok := v.(*Function); ok {
		return f, nil
	}
	return nil, c.wrongType(i, "a function")
}
