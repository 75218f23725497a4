package encodingmod

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// escape percent-encodes all but the unreserved characters of RFC 3986.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func encodeComponent(data []byte) (string, *fault) { return escape(string(data)), nil }

func decodeComponent(text []byte) (string, *fault) {
	out, err := url.PathUnescape(string(text))
	if err != nil {
		return "", escapeFault(text)
	}
	return out, nil
}

// escapeFault is at the first % that begins no escape.
func escapeFault(text []byte) *fault {
	for at := 0; at < len(text); at++ {
		if text[at] == '%' && (at+2 >= len(text) || !isHex(text[at+1]) || !isHex(text[at+2])) {
			return &fault{at, "% without two hex digits behind it"}
		}
	}
	return &fault{len(text), "a broken escape"}
}

// queryEncode: (fields: {[string]: Value | {Value}}) -> string, keys in bytewise order.
func (i *instance) queryEncode(c *luau.Call) error {
	fields, err := c.Map(0)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	name := c.Name()
	return hostmod.Compute(i.vm, c, c.Size() >= longData, func(_ context.Context, room *hostmod.Room) ([]any, error) {
		var out strings.Builder
		for _, field := range names {
			for _, v := range valuesOf(fields[field]) {
				text, ok := queryText(v)
				if !ok {
					return nil, &luau.ArgumentError{Function: name, Index: 1, Problem: fmt.Sprintf(
						"field %.60q must be a string, a number, a boolean or an array of these", field)}
				}
				if err := room.Take(6 * int64(len(field)+len(text)+2)); err != nil {
					return nil, err
				}
				if out.Len() > 0 {
					out.WriteByte('&')
				}
				out.WriteString(escape(field) + "=" + escape(text))
			}
		}
		return []any{out.String()}, nil
	})
}

// valuesOf is the values of one field. An empty table is an empty array, though nothing marks it as one.
func valuesOf(field any) []any {
	switch v := field.(type) {
	case []any:
		return v
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
	}
	return []any{field}
}

func queryText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return luau.FormatNumber(v), true
	case luau.Integer:
		return strconv.FormatInt(int64(v), 10), true
	case luau.Exact:
		return string(v), true
	}
	return "", false
}

// queryField is about what a field takes in Go and on its way to the script, beside its text.
const queryField = 200

// queryDecode: (query: string | buffer) -> {[string]: {string}}. A plus is a space, as in forms; a
// field without "=" is empty; a "?" in front is left out.
func (i *instance) queryDecode(c *luau.Call) error {
	query, err := c.Bytes(0)
	if err != nil {
		return err
	}
	name := c.Name()
	return hostmod.Compute(i.vm, c, len(query) >= longData, func(ctx context.Context, room *hostmod.Room) ([]any, error) {
		if err := room.Take(int64(len(query))); err != nil {
			return nil, err
		}
		at := 0
		if bytes.HasPrefix(query, []byte("?")) {
			at = 1
		}
		fields := map[string][]any{}
		for at < len(query) {
			end := len(query)
			if n := bytes.IndexByte(query[at:], '&'); n >= 0 {
				end = at + n
			}
			if end > at {
				if err := room.Take(queryField + 4*int64(end-at)); err != nil {
					return nil, err
				}
				key, value, broken := queryPair(query[at:end])
				if broken != nil {
					broken.at += at
					return nil, broken.in(name)
				}
				fields[key] = append(fields[key], value)
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			at = end + 1
		}
		return []any{lists(fields)}, nil
	})
}

func queryPair(field []byte) (key, value string, broken *fault) {
	name, text, _ := bytes.Cut(field, []byte("="))
	key, err := url.QueryUnescape(string(name))
	if err == nil {
		value, err = url.QueryUnescape(string(text))
	}
	if err != nil {
		return "", "", escapeFault(field)
	}
	return key, value, nil
}

func lists(fields map[string][]any) map[string]any {
	table := make(map[string]any, len(fields))
	for key, values := range fields {
		table[key] = values
	}
	return table
}
