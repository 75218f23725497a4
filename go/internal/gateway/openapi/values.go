package openapi

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// primitive is a value of JSON as a parameter writes it.
func primitive(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return string(jsonvalue.AppendNumber(nil, v)), true
	case json.Number:
		return string(v), true
	}
	return "", false
}

// pair is one part of an array or an object.
type pair struct{ key, value string }

// flat is a value as styles other than deepObject see it: a text, or a flat list of texts.
type flat struct {
	text   string
	parts  []pair
	list   bool // parts of an array
	object bool
}

// flatten refuses what is nested: those styles have no form for it. Nulls in it are left out, as RFC 6570 does.
func flatten(v any) (flat, error) {
	if text, ok := primitive(v); ok {
		return flat{text: text}, nil
	}
	switch v := v.(type) {
	case []any:
		f := flat{list: true}
		for i, item := range v {
			if item == nil {
				continue
			}
			text, ok := primitive(item)
			if !ok {
				return f, fmt.Errorf("item %d is %s, and this parameter takes texts, numbers and booleans", i+1, article(item))
			}
			f.parts = append(f.parts, pair{value: text})
		}
		return f, nil
	case map[string]any:
		f := flat{object: true}
		for _, key := range sortedKeys(v) {
			if v[key] == nil {
				continue
			}
			text, ok := primitive(v[key])
			if !ok {
				return f, fmt.Errorf("field %q is %s, and this parameter takes texts, numbers and booleans", key, article(v[key]))
			}
			f.parts = append(f.parts, pair{key, text})
		}
		return f, nil
	}
	return flat{}, fmt.Errorf("a Go %T is no JSON value", v)
}

func article(v any) string {
	if _, ok := v.([]any); ok {
		return "an array"
	}
	return "an object"
}

func (f flat) empty() bool { return (f.list || f.object) && len(f.parts) == 0 }

// join writes the parts with a separator; objects alternate keys and values, or pair them.
func (f flat) join(separator, equals string, escape func(string) string) string {
	if !f.list && !f.object {
		return escape(f.text)
	}
	var out strings.Builder
	for i, part := range f.parts {
		if i > 0 {
			out.WriteString(separator)
		}
		if f.object {
			out.WriteString(escape(part.key))
			out.WriteString(equals)
		}
		out.WriteString(escape(part.value))
	}
	return out.String()
}

// deep writes the parts of a nested value as a[b][0]=c.
func deep(name string, v any, depth int, add func(name, value string)) error {
	const most = 20
	if depth > most {
		return fmt.Errorf("it is nested more than %d deep", most)
	}
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		for i, item := range v {
			if err := deep(name+"["+strconv.Itoa(i)+"]", item, depth+1, add); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if err := deep(name+"["+key+"]", v[key], depth+1, add); err != nil {
				return err
			}
		}
		return nil
	}
	text, ok := primitive(v)
	if !ok {
		return fmt.Errorf("a Go %T is no JSON value", v)
	}
	add(name, text)
	return nil
}

const (
	upperHex = "0123456789ABCDEF"
	// reserved are what RFC 3986 reserves and a query can hold without changing its meaning: & + and # would.
	reserved = ":/?@!$'()*,;=[]"
)

func isUnreserved(c byte) bool {
	return isWord(c) || c == '-' || c == '.' || c == '~'
}

// escape writes each byte as %XX but for those that are unreserved, and others where they are allowed.
func escape(text, allowed string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		if isUnreserved(c) || strings.IndexByte(allowed, c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(upperHex[c>>4])
		out.WriteByte(upperHex[c&15])
	}
	return out.String()
}

func escapeAll(text string) string { return escape(text, "") }

// escapeReserved leaves reserved characters and what is already escaped, as RFC 6570's {+name} does.
func escapeReserved(text string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '%')
		if at < 0 || at+2 >= len(text) {
			break
		}
		out.WriteString(escape(text[:at], reserved))
		if isHex(text[at+1]) && isHex(text[at+2]) {
			out.WriteString(text[at : at+3])
			text = text[at+3:]
			continue
		}
		out.WriteString("%25")
		text = text[at+1:]
	}
	out.WriteString(escape(text, reserved))
	return out.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// unescape reads %XX; what is malformed stays.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
			value, _ := strconv.ParseUint(text[i+1:i+3], 16, 8)
			out.WriteByte(byte(value))
			i += 2
			continue
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
