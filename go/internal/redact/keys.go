package redact

import (
	"bytes"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// Keys gives a JSON text with a mark in place of each value whose key's name says that it is secret, nested ones
// too. Booleans, null and empty texts stay: they tell nothing. It looks through the text once and does not parse
// it, so that one which was cut off is as well; what is cut off within a secret is replaced to its end. The text
// itself comes back where there is no secret in it.
func Keys(text []byte) []byte {
	var out []byte
	copied := 0 // bytes of text that out has
	for at := 0; ; {
		open := bytes.IndexByte(text[at:], '"')
		if open < 0 {
			break
		}
		open += at
		at = stringEnd(text, open)
		colon := skipSpace(text, at)
		if colon == len(text) || text[colon] != ':' || !secretKey(text[open+1:at-1]) {
			continue
		}
		from := skipSpace(text, colon+1)
		at = valueEnd(text, from)
		if tellsNothing(text[from:at]) {
			continue
		}
		out = append(append(out, text[copied:from]...), `"`+Mark+`"`...)
		copied = at
	}
	if copied == 0 {
		return text
	}
	return append(out, text[copied:]...)
}

// HasKeys says whether Keys would replace anything.
func HasKeys(text []byte) bool {
	shown := Keys(text)
	return len(shown) > 0 && &shown[0] != &text[0]
}

// secretKey is secretName for a key as JSON writes it.
func secretKey(key []byte) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return secretName(key)
	}
	name, err := jsonvalue.Decode([]byte(`"`+string(key)+`"`), jsonvalue.Options{})
	text, ok := name.(string)
	return err == nil && ok && secretName(text)
}

// stringEnd is behind the string that begins at a quote.
func stringEnd(text []byte, open int) int {
	for at := open + 1; ; {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			return len(text)
		}
		quote += at
		before := quote
		for text[before-1] == '\\' { // the opening quote ends this
			before--
		}
		if at = quote + 1; (quote-before)%2 == 0 {
			return at
		}
	}
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// valueEnd is behind the value that begins at a place.
func valueEnd(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = stringEnd(text, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		default:
			at = plainEnd(text, at)
		}
		if depth <= 0 {
			break
		}
	}
	return min(at, len(text))
}

// plainEnd is behind numbers, words, and what is between values.
func plainEnd(text []byte, at int) int {
	if end := bytes.IndexAny(text[at:], `"{}[],`+" \n\t\r"); end > 0 {
		return at + end
	} else if end == 0 {
		return at + 1
	}
	return len(text)
}

func tellsNothing(value []byte) bool {
	if len(value) == 0 {
		return true
	}
	switch value[0] {
	case 't', 'f', 'n':
		return true
	}
	return string(value) == `""`
}
