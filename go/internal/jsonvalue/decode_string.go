package jsonvalue

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string; the caller has seen its quote.
func (d *decoder) string() (string, *SyntaxError) {
	start := d.at + 1
	for i := start; i < len(d.data); i++ {
		switch c := d.data[i]; {
		case c == '"':
			d.at = i + 1
			return d.part(start, i), nil
		case c == '\\':
			return d.escaped(start, i)
		case c < ' ':
			return "", d.fail(i, "a control character in a string: write it as an escape")
		}
	}
	return "", d.fail(len(d.data), "unexpected end of text, expected '\"'")
}

func (d *decoder) part(start, end int) string {
	if d.text != "" {
		return d.text[start:end]
	}
	return string(d.data[start:end])
}

// escaped goes on with a string whose first escape is at i.
func (d *decoder) escaped(start, i int) (string, *SyntaxError) {
	out := append(make([]byte, 0, i-start+16), d.data[start:i]...)
	for i < len(d.data) {
		switch c := d.data[i]; {
		case c == '"':
			d.at = i + 1
			return string(out), nil
		case c < ' ':
			return "", d.fail(i, "a control character in a string: write it as an escape")
		case c != '\\':
			out = append(out, c)
			i++
		default:
			var err *SyntaxError
			if out, i, err = d.escape(out, i); err != nil {
				return "", err
			}
		}
	}
	return "", d.fail(len(d.data), "unexpected end of text, expected '\"'")
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (d *decoder) escape(out []byte, i int) ([]byte, int, *SyntaxError) {
	if i+1 >= len(d.data) {
		return nil, 0, d.fail(len(d.data), "unexpected end of text, expected an escape")
	}
	c := d.data[i+1]
	if plain := escapes[c]; plain != 0 {
		return append(out, plain), i + 2, nil
	}
	if c != 'u' {
		return nil, 0, d.fail(i, "an escape that JSON does not have")
	}
	unit, ok := d.hex(i)
	if !ok {
		return nil, 0, d.fail(i, "\\u without four hexadecimal digits")
	}
	if !utf16.IsSurrogate(unit) {
		return utf8.AppendRune(out, unit), i + 6, nil
	}
	if second, ok := d.hex(i + 6); ok {
		if r := utf16.DecodeRune(unit, second); r != utf8.RuneError {
			return utf8.AppendRune(out, r), i + 12, nil
		}
	}
	return nil, 0, d.fail(i, "a lone surrogate")
}

// hex reads \uXXXX.
func (d *decoder) hex(i int) (rune, bool) {
	if i+6 > len(d.data) || d.data[i] != '\\' || d.data[i+1] != 'u' {
		return 0, false
	}
	for _, c := range d.data[i+2 : i+6] {
		if c == '_' || c == '+' || c == '-' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(d.data[i+2:i+6]), 16, 32)
	return rune(n), err == nil
}
