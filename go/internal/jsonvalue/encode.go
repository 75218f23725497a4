package jsonvalue

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Encode writes a tree in one line: keys in bytewise order, numbers as JavaScript writes them, nothing
// escaped that need not be. Go's whole numbers are taken too. What has no JSON form is a *ValueError.
func Encode(v any) ([]byte, error) {
	return Append(make([]byte, 0, 128), v)
}

// Append is Encode behind what dst holds. Where it fails, dst is returned as it was.
func Append(dst []byte, v any) ([]byte, error) {
	return encode(dst, v, encoder{})
}

// Indent is Encode with a line for each element and two spaces for each level.
func Indent(v any) ([]byte, error) {
	return encode(nil, v, encoder{lines: true})
}

func encode(dst []byte, v any, e encoder) ([]byte, error) {
	e.out = dst
	if err := e.value(v); err != nil {
		return dst, err
	}
	return e.out, nil
}

type encoder struct {
	out   []byte
	depth int
	lines bool
}

func (e *encoder) value(v any) *ValueError {
	switch v := v.(type) {
	case nil:
		e.out = append(e.out, "null"...)
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case string:
		return e.string(v)
	case float64:
		return e.number(v)
	case map[string]any:
		return e.object(v)
	case []any:
		return e.array(v)
	case json.Number:
		return e.exact(string(v))
	case int:
		e.out = strconv.AppendInt(e.out, int64(v), 10)
	case int64:
		e.out = strconv.AppendInt(e.out, v, 10)
	case uint64:
		e.out = strconv.AppendUint(e.out, v, 10)
	default:
		return &ValueError{Problem: fmt.Sprintf("a Go %T", v)}
	}
	return nil
}

func (e *encoder) number(n float64) *ValueError {
	switch {
	case math.IsNaN(n):
		return &ValueError{Problem: "NaN is no JSON number"}
	case math.IsInf(n, 0):
		return &ValueError{Problem: "infinity is no JSON number"}
	}
	e.out = AppendNumber(e.out, n)
	return nil
}

// AppendNumber writes a finite number as JavaScript does, but for minus zero, which keeps its sign.
func AppendNumber(dst []byte, n float64) []byte {
	size := math.Abs(n)
	if size < 1e15 && n == math.Trunc(n) && (n != 0 || !math.Signbit(n)) {
		return strconv.AppendInt(dst, int64(n), 10)
	}
	if size >= 1e-6 && size < 1e21 || size == 0 {
		return strconv.AppendFloat(dst, n, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, n, 'e', -1, 64)
	// Go writes two digits of an exponent at least: e-07.
	if end := len(dst); dst[end-4] == 'e' && dst[end-2] == '0' {
		dst[end-2] = dst[end-1]
		dst = dst[:end-1]
	}
	return dst
}

// exact writes the digits of a json.Number as they are.
func (e *encoder) exact(digits string) *ValueError {
	d := decoder{data: []byte(digits)}
	if len(digits) > 0 && digits[0] == '-' {
		d.at++
	}
	if _, err := d.scanNumber(); err != nil || d.at != len(digits) {
		return &ValueError{Problem: fmt.Sprintf("a json.Number that is no number: %.40q", digits)}
	}
	e.out = append(e.out, digits...)
	return nil
}

func (e *encoder) enter(open byte) *ValueError {
	if e.depth++; e.depth > MaxDepth {
		return &ValueError{Problem: "nested too deep, or within itself"}
	}
	e.out = append(e.out, open)
	return nil
}

func (e *encoder) leave(empty bool, end byte) {
	e.depth--
	if !empty {
		e.line()
	}
	e.out = append(e.out, end)
}

// line begins a line, where there are lines.
func (e *encoder) line() {
	if !e.lines {
		return
	}
	e.out = append(e.out, '\n')
	for range e.depth {
		e.out = append(e.out, "  "...)
	}
}

func (e *encoder) array(list []any) *ValueError {
	if err := e.enter('['); err != nil {
		return err
	}
	for i, v := range list {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.line()
		if err := e.value(v); err != nil {
			err.Pointer = "/" + strconv.Itoa(i) + err.Pointer
			return err
		}
	}
	e.leave(len(list) == 0, ']')
	return nil
}

func (e *encoder) object(object map[string]any) *ValueError {
	if err := e.enter('{'); err != nil {
		return err
	}
	var room [16]string
	keys := room[:0]
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for i, key := range keys {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.line()
		if err := e.member(key, object[key]); err != nil {
			err.Pointer = AppendPointer("", shorten(key)) + err.Pointer
			return err
		}
	}
	e.leave(len(object) == 0, '}')
	return nil
}

func (e *encoder) member(key string, v any) *ValueError {
	if err := e.string(key); err != nil {
		return &ValueError{Problem: "a key that is not UTF-8"}
	}
	e.out = append(e.out, ':')
	if e.lines {
		e.out = append(e.out, ' ')
	}
	return e.value(v)
}

const hexDigits = "0123456789abcdef"

func (e *encoder) string(s string) *ValueError {
	out := append(e.out, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				return &ValueError{Problem: "a string that is not UTF-8"}
			}
			i += size
			continue
		}
		out = append(out, s[done:i]...)
		out = appendEscape(out, c)
		i++
		done = i
	}
	out = append(out, s[done:]...)
	e.out = append(out, '"')
	return nil
}

func appendEscape(out []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(out, '\\', c)
	case '\b':
		return append(out, `\b`...)
	case '\f':
		return append(out, `\f`...)
	case '\n':
		return append(out, `\n`...)
	case '\r':
		return append(out, `\r`...)
	case '\t':
		return append(out, `\t`...)
	}
	return append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
