package hostapp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/redact"
)

// shownArgs are the arguments of a test as a person reads them, {title: "a", count: 2}, without secrets: in the order
// of the command line, then in that of the JSON text.
func shownArgs(t ToolTest, args map[string]any) (string, error) {
	var names []string
	for _, pair := range t.Params {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	given, texts, err := members(t.JSON)
	if err != nil {
		return "", err
	}
	object, done := []byte("{"), map[string]bool{}
	for i, name := range append(names, given...) {
		value, there := args[name]
		if !there || done[name] {
			continue
		}
		if done[name] = true; len(done) > 1 {
			object = append(object, ',')
		}
		if object, err = jsonvalue.Append(object, name); err != nil {
			return "", err
		}
		object = append(object, ':')
		if i >= len(names) {
			object = append(object, texts[i-len(names)]...) // in its own order
		} else if object, err = jsonvalue.Append(object, value); err != nil {
			return "", err
		}
	}
	return readable(redact.Keys(append(object, '}')))
}

// members are the keys of a JSON object in their order, with the texts of the values.
func members(object string) (names []string, texts []json.RawMessage, err error) {
	if object == "" {
		return nil, nil, nil
	}
	d := json.NewDecoder(strings.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var text json.RawMessage
		if err := d.Decode(&text); err != nil {
			return nil, nil, err
		}
		names, texts = append(names, fmt.Sprint(key)), append(texts, text)
	}
	return names, texts, nil
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// readable writes a JSON text with spaces, and keys without quotes where they are words.
func readable(text []byte) (string, error) {
	var out strings.Builder
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		object bool
		n      int // keys and values so far
	}
	levels := []level{{}}
	for {
		token, err := d.Token()
		if err != nil {
			break // the end: it was JSON
		}
		here := &levels[len(levels)-1]
		bracket, isBracket := token.(json.Delim)
		if isBracket && (bracket == '}' || bracket == ']') {
			levels = levels[:len(levels)-1]
			out.WriteRune(rune(bracket))
			continue
		}
		isKey := here.object && here.n%2 == 0
		switch {
		case here.object && !isKey:
			out.WriteString(": ")
		case here.n > 0:
			out.WriteString(", ")
		}
		here.n++
		if isBracket {
			levels = append(levels, level{object: bracket == '{'})
			out.WriteRune(rune(bracket))
			continue
		}
		if name, ok := token.(string); isKey && ok && plainKey.MatchString(name) {
			out.WriteString(name)
			continue
		}
		written, err := jsonvalue.Encode(any(token))
		if err != nil {
			return "", err
		}
		out.Write(written)
	}
	return out.String(), nil
}
