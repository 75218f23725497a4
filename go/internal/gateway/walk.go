package gateway

import (
	"encoding/json"
)

// A result that was kept is read where it stands: a tree of it would take up to a hundred times its memory, and a
// script may ask for parts of it again and again. What is kept is JSON, as we wrote it.

// behind is the place behind the value that begins at i.
func behind(text []byte, i int) int {
	switch {
	case i >= len(text):
		return i
	case text[i] == '"':
		return behindString(text, i)
	case text[i] != '{' && text[i] != '[':
		for i < len(text) && text[i] != ',' && text[i] != ']' && text[i] != '}' && !isSpace(text[i]) {
			i++
		}
		return i
	}
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = behindString(text, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

func behindString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// next is the first place from i on that is neither space nor what stands between values.
func next(text []byte, i int) int {
	for i < len(text) && (isSpace(text[i]) || text[i] == ',' || text[i] == ':') {
		i++
	}
	return i
}

// kind is the first character of a value: '{', '[', '"' or that of another one.
func kind(text []byte) byte {
	if i := next(text, 0); i < len(text) {
		return text[i]
	}
	return 'n'
}

// items gives the values of an array to take, with where they begin and end in text, until it has enough.
func items(text []byte, take func(from, to int) bool) {
	for i := next(text, next(text, 0)+1); i < len(text) && text[i] != ']'; {
		end := behind(text, i)
		if !take(i, end) || end == i {
			return
		}
		i = next(text, end)
	}
}

// fields gives the members of an object to take.
func fields(text []byte, take func(name string, value []byte)) {
	for i := next(text, next(text, 0)+1); i < len(text) && text[i] == '"'; {
		end := behindString(text, i)
		var name string
		if json.Unmarshal(text[i:end], &name) != nil {
			return
		}
		i = next(text, end)
		end = behind(text, i)
		take(name, text[i:end])
		i = next(text, end)
	}
}
