package jsonmod

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// longText is from where a text is laid out away from the VM's goroutine.
const longText = 256 << 10

// pretty: (text: string | buffer, indent: (number | string)?) -> string
func (i *instance) pretty(c *luau.Call) error {
	text, err := c.Bytes(0)
	if err != nil {
		return err
	}
	indent, err := indentArgument(c, 1)
	if err != nil {
		return err
	}
	name := c.Name()
	return hostmod.Compute(i.vm, c, len(text) > longText, func(_ context.Context, room *hostmod.Room) ([]any, error) {
		if err := room.Take(int64(len(text))); err != nil {
			return nil, err
		}
		if !json.Valid(text) {
			return nil, &luau.Error{Code: "json", Message: name + ": argument 1 is no JSON"}
		}
		size := laidOut(text, len(indent))
		// The lines, and the text that the script is given.
		if err := room.Take(2 * size); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		out.Grow(int(size))
		err := json.Indent(&out, text, "", indent)
		return []any{out.String()}, err
	})
}

func indentArgument(c *luau.Call, i int) (string, error) {
	const most = 16
	switch c.Type(i) {
	case "nil":
		return "  ", nil
	case "number":
		if n, err := c.Int(i); err == nil && n >= 0 && n <= most {
			return strings.Repeat(" ", n), nil
		}
	case "string":
		if text, err := c.Text(i); err == nil && strings.Trim(text, " \t") == "" {
			return text, nil
		}
	}
	return "", c.Argument(i, "must be a number of spaces from 0 to 16 or a text of spaces and tabs")
}

// laidOut is at least how long a valid text gets: a text of brackets and commas gets long, as each line
// begins with the indent as often as it is deep.
func laidOut(text []byte, indent int) int64 {
	size, depth := int64(len(text)), 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			continue
		case ':':
			size++
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
		default:
			continue
		}
		size += 1 + int64(depth)*int64(indent)
	}
	return size
}
