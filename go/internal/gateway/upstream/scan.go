package upstream

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// maxDepth leaves room for the message around a value that is as deep as values may be.
const maxDepth = jsonvalue.MaxDepth + 8

// members gives each member of a JSON object to take: its key, and the value's text. Both may be
// parts of text. It is false for what is no JSON object; take may have been called then.
func members(text []byte, take func(key, value []byte)) bool {
	i := space(text, 0)
	if i == len(text) || text[i] != '{' {
		return false
	}
	end := object(text, i, maxDepth, take)
	return end >= 0 && space(text, end) == len(text)
}

// elements is members for an array.
func elements(text []byte, take func(value []byte)) bool {
	i := space(text, 0)
	if i == len(text) || text[i] != '[' {
		return false
	}
	end := array(text, i, maxDepth, take)
	return end >= 0 && space(text, end) == len(text)
}

// valid says whether a text is one JSON value.
func valid(text []byte) bool {
	end := value(text, space(text, 0), maxDepth)
	return end >= 0 && space(text, end) == len(text) && utf8.Valid(text)
}

// first is the first byte of a value; 0 for none.
func first(text []byte) byte {
	if i := space(text, 0); i < len(text) {
		return text[i]
	}
	return 0
}

func space(t []byte, i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\n' || t[i] == '\t' || t[i] == '\r') {
		i++
	}
	return i
}

// value gives the place behind the value that begins at i, or -1 where there is none.
func value(t []byte, i, depth int) int {
	if i >= len(t) || depth == 0 {
		return -1
	}
	switch t[i] {
	case '{':
		return object(t, i, depth, nil)
	case '[':
		return array(t, i, depth, nil)
	case '"':
		return text(t, i)
	case 't':
		return word(t, i, "true")
	case 'f':
		return word(t, i, "false")
	case 'n':
		return word(t, i, "null")
	}
	return number(t, i)
}

func word(t []byte, i int, want string) int {
	if bytes.HasPrefix(t[i:], []byte(want)) {
		return i + len(want)
	}
	return -1
}

func object(t []byte, i, depth int, take func(key, value []byte)) int {
	i = space(t, i+1)
	if i < len(t) && t[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(t) || t[i] != '"' {
			return -1
		}
		end := text(t, i)
		if end < 0 {
			return -1
		}
		keyAt, keyEnd := i, end
		key := t[i+1 : end-1]
		if i = space(t, end); i >= len(t) || t[i] != ':' {
			return -1
		}
		i = space(t, i+1)
		if end = value(t, i, depth-1); end < 0 {
			return -1
		}
		if take != nil {
			if bytes.IndexByte(key, '\\') >= 0 {
				key = []byte(str(t[keyAt:keyEnd]))
			}
			take(key, t[i:end:end])
		}
		switch i = space(t, end); {
		case i >= len(t):
			return -1
		case t[i] == '}':
			return i + 1
		case t[i] != ',':
			return -1
		}
		i = space(t, i+1)
	}
}

func array(t []byte, i, depth int, take func(value []byte)) int {
	i = space(t, i+1)
	if i < len(t) && t[i] == ']' {
		return i + 1
	}
	for {
		end := value(t, i, depth-1)
		if end < 0 {
			return -1
		}
		if take != nil {
			take(t[i:end:end])
		}
		switch i = space(t, end); {
		case i >= len(t):
			return -1
		case t[i] == ']':
			return i + 1
		case t[i] != ',':
			return -1
		}
		i = space(t, i+1)
	}
}

func text(t []byte, i int) int {
	for i++; i < len(t); i++ {
		switch c := t[i]; {
		case c == '"':
			return i + 1
		case c < 0x20:
			return -1
		case c == '\\':
			if i = escape(t, i+1); i < 0 {
				return -1
			}
		}
	}
	return -1
}

// escape gives the last byte of the escape whose letter is at i.
func escape(t []byte, i int) int {
	switch {
	case i >= len(t):
		return -1
	case t[i] != 'u':
		if bytes.IndexByte([]byte(`"\/bfnrt`), t[i]) < 0 {
			return -1
		}
		return i
	case i+4 >= len(t):
		return -1
	}
	for _, c := range t[i+1 : i+5] {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return -1
		}
	}
	return i + 4
}

func number(t []byte, i int) int {
	if i < len(t) && t[i] == '-' {
		i++
	}
	from := i
	i = digits(t, i)
	if i == from || t[from] == '0' && i > from+1 {
		return -1
	}
	if i < len(t) && t[i] == '.' {
		from = i + 1
		if i = digits(t, from); i == from {
			return -1
		}
	}
	if i < len(t) && (t[i] == 'e' || t[i] == 'E') {
		if i++; i < len(t) && (t[i] == '+' || t[i] == '-') {
			i++
		}
		from = i
		if i = digits(t, from); i == from {
			return -1
		}
	}
	return i
}

func digits(t []byte, i int) int {
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	return i
}

// str is the text that a JSON string stands for; "" for other values.
func str(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it is a string
	return s
}

// quote appends a text as a JSON string.
func quote(dst []byte, s string) []byte {
	out, err := jsonvalue.Append(dst, s)
	if err != nil { // not UTF-8
		out, _ = jsonvalue.Append(dst, string(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD"))))
	}
	return out
}
