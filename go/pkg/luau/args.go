package luau

import (
	"encoding/binary"
	"math"

	"github.com/hukilau/hukilau/go/internal/capi"
)

var tagNames = map[byte]string{
	capi.TagNil: "nil", capi.TagFalse: "boolean", capi.TagTrue: "boolean", capi.TagNumber: "number",
	capi.TagInteger: "integer", capi.TagString: "string", capi.TagVector: "vector",
	capi.TagBuffer: "buffer", capi.TagTable: "table", capi.TagNumbers: "table", capi.TagNull: "nil",
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

// IsNil says whether argument i, from 0, is nil, a JSON null, or missing.
func (c *Call) IsNil(i int) bool {
	tag := c.tagOf(i)
	return tag == capi.TagNil || tag == capi.TagNull
}

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
