package config

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// plainJSON gives JSON as editors write it without comments and trailing commas: spaces stand in their place, so that
// each byte stays where it is. Package hujson does the same by recursion, and deep enough brackets end the process in it.
func plainJSON(text []byte) []byte {
	out := bytes.Clone(text)
	if bytes.HasPrefix(out, byteOrderMark) {
		blank(out[:len(byteOrderMark)])
	}
	comma := -1    // the last one, if nothing but space came behind it
	value := false // a comma may follow
	for at := 0; at < len(out); {
		switch c := out[at]; {
		case c == '/':
			if n := commentEnd(out[at:]); n > 0 {
				blank(out[at : at+n])
				at += n
				continue
			}
			return out // the reader says what is wrong
		case c == ',' && value:
			comma, value = at, false
		case c == ']' || c == '}':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma, value = -1, true
		case c == '"':
			at += jsonStringEnd(out[at:])
			comma, value = -1, true
			continue
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma, value = -1, c != '[' && c != '{' && c != ':' && c != ','
		}
		at++
	}
	return out
}

// blank writes spaces over a text; its lines stay.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// commentEnd is the length of the comment at the start of a text; 0 where there is none, or one without an end.
func commentEnd(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			return n
		}
		return len(text)
	case bytes.HasPrefix(text, []byte("/*")):
		if n := bytes.Index(text[2:], []byte("*/")); n >= 0 {
			return n + 4
		}
	}
	return 0
}

// jsonStringEnd is the length of the string at the start of a text.
func jsonStringEnd(text []byte) int {
	for at := 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

// parseJSON makes a tree of JSON and notes where its keys are.
func (r *reader) parseJSON(data []byte) map[string]any {
	whole := func(line, column int, problem string) map[string]any {
		r.errors = append(r.errors, &Error{File: r.options.Name, Line: line, Column: column, Problem: problem})
		return nil
	}
	if len(data) > mostText {
		return whole(0, 0, "the file has more than "+strconv.Itoa(mostText)+" bytes")
	}
	data = plainJSON(data)
	v, err := jsonvalue.Decode(data, jsonvalue.Options{MaxDepth: mostDepth})
	if syntax, is := err.(*jsonvalue.SyntaxError); is {
		return whole(syntax.Line, syntax.Column, syntax.Problem)
	} else if err != nil {
		return whole(0, 0, err.Error())
	}
	tree, is := v.(map[string]any)
	if !is {
		return whole(1, 1, "must be an object, not "+nameOf(v))
	}
	r.places = findJSONPlaces(data)
	return tree
}

// mostDepth is how deep a file is nested at most: none of those that clients write comes near it.
const mostDepth = 50

// findJSONPlaces reads a text that is known to be right.
func findJSONPlaces(data []byte) places {
	f := jsonFinder{places: places{data, map[string]int{}}, tokens: json.NewDecoder(bytes.NewReader(data))}
	f.tokens.UseNumber()
	f.value(nil)
	return f.places
}

type jsonFinder struct {
	places places
	tokens *json.Decoder
}

// start is where the next token begins.
func (f *jsonFinder) start() int {
	at := int(f.tokens.InputOffset())
	for at < len(f.places.data) && bytes.IndexByte([]byte(" \t\r\n,:"), f.places.data[at]) >= 0 {
		at++
	}
	return at
}

func (f *jsonFinder) value(path []string) {
	f.places.note(path, f.start()) // where its key has none
	token, err := f.tokens.Token()
	inside := func(name string) []string { return append(path[:len(path):len(path)], name) }
	switch {
	case err != nil:
	case token == json.Delim('{'):
		for f.tokens.More() {
			at := f.start()
			key, err := f.tokens.Token()
			name, is := key.(string)
			if err != nil || !is {
				return
			}
			f.places.note(inside(name), at)
			f.value(inside(name))
		}
		_, _ = f.tokens.Token() // the bracket
	case token == json.Delim('['):
		for i := 0; f.tokens.More(); i++ {
			f.value(inside(strconv.Itoa(i)))
		}
		_, _ = f.tokens.Token()
	}
}
