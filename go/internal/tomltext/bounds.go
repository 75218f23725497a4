// Package tomltext looks at TOML before the parser does: what would keep that busy for ever, or end the
// process, is refused.
package tomltext

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// BoundsError says which bound a text breaks. Line is 0 where it is all of the text.
type BoundsError struct {
	Problem      string
	Line, Column int // from 1
}

func (e *BoundsError) Error() string { return e.Problem }

// The bounds of a text. The parser calls itself for each level and looks through all parts of a key
// for each, so that without bounds a text of brackets would end the process.
const (
	maxText  = 4 << 20
	maxDepth = 100    // of arrays and inline tables, and of the parts of a key: both together stay under 200
	maxKeys  = 20_000 // behind one header, and different headers: the parser looks through all of them for each
)

func limited(line, column int, format string, args ...any) *BoundsError {
	return &BoundsError{fmt.Sprintf(format, args...), line, column}
}

// CheckBounds reads over the text: strings and comments are skipped, brackets, the dots of a key, keys and
// headers are counted. It may refuse what the parser would take, but nothing that hurts gets by.
func CheckBounds(text []byte) *BoundsError {
	if len(text) > maxText {
		return limited(0, 0, "a text of %d bytes: the limit is %d", len(text), maxText)
	}
	depth, dots, keys := 0, 0, 0
	headers := map[string]bool{}
	for at := 0; at < len(text); {
		switch text[at] {
		case '#':
			at += lineEnd(text[at:])
			continue
		case '"', '\'':
			at += stringEnd(text[at:])
			continue
		case '[', '{':
			if depth == 0 && startsLine(text, at) {
				headers[string(text[at:at+lineEnd(text[at:])])] = true
				keys = 0
			}
			depth, dots = depth+1, 0
		case ']', '}':
			depth, dots = max(0, depth-1), 0
		case '\n', ',':
			dots = 0
		case '=':
			dots = 0
			keys++
		case '.':
			dots++
		}
		if depth > maxDepth || dots >= maxDepth {
			line, column := position(text, at)
			return limited(line, column, "nesting deeper than %d", maxDepth)
		}
		if keys > maxKeys || len(headers) > maxKeys {
			line, column := position(text, at)
			return limited(line, column, "more than %d keys in one table, or tables", maxKeys)
		}
		at++
	}
	return nil
}

func startsLine(text []byte, at int) bool {
	before := text[:at]
	return len(bytes.TrimSpace(before[bytes.LastIndexByte(before, '\n')+1:])) == 0
}

func lineEnd(text []byte) int {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// stringEnd is the length of the string at the start of the text. One that does not end is over at its
// line: the parser says what is wrong with it.
func stringEnd(text []byte) int {
	quote, escapes := text[:1], text[0] == '"'
	triple := bytes.Repeat(quote, 3)
	if bytes.HasPrefix(text, triple) {
		quote = triple
	}
	for at := len(quote); at < len(text); at++ {
		switch {
		case text[at] == '\\' && escapes:
			at++
		case bytes.HasPrefix(text[at:], quote):
			return at + len(quote)
		case text[at] == '\n' && len(quote) == 1:
			return at
		}
	}
	return len(text)
}

// position of a byte as line and column, both from 1; the column counts characters.
func position(text []byte, at int) (line, column int) {
	before := text[:min(at, len(text))]
	last := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[last:]) + 1
}
