package module

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// kinds of token besides the punctuation, which stands for itself.
const (
	tokenEnd    = 'E'
	tokenString = 'S'
	tokenWord   = 'W'
)

type configToken struct {
	kind byte
	text string // of a string its meaning
	at   int    // offset
}

func (t configToken) isScalar() bool {
	return t.kind == tokenString || t.kind == tokenWord && (t.text == "true" || t.text == "false")
}

// String names the token in an error.
func (t configToken) String() string {
	switch t.kind {
	case tokenEnd:
		return "end of file"
	case tokenWord:
		return quoteName(t.text)
	case tokenString:
		return quoteName(t.text)
	}
	return fmt.Sprintf("%q", string(rune(t.kind)))
}

type configLexer struct {
	text []byte
	at   int
}

// next returns the next token; a message says why there is none.
func (l *configLexer) next() (configToken, string) {
	l.skip()
	t := configToken{kind: tokenEnd, at: l.at}
	if l.at >= len(l.text) {
		return t, ""
	}
	c := l.text[l.at]
	switch c {
	case '{', '}', '[', ']', ',', ':':
		l.at++
		t.kind = c
		return t, ""
	case '"', '\'':
		var message string
		t.kind = tokenString
		t.text, message = l.quoted(&t)
		return t, message
	}
	if word := l.word(); word != "" {
		t.kind, t.text = tokenWord, word
		return t, ""
	}
	if bytes.HasPrefix(l.text[l.at:], []byte("/*")) || bytes.HasPrefix(l.text[l.at:], []byte("--")) {
		return t, "a comment starts with //"
	}
	r, _ := utf8.DecodeRune(l.text[l.at:])
	if r == utf8.RuneError {
		return t, fmt.Sprintf("unexpected byte 0x%02x", c)
	}
	return t, fmt.Sprintf("unexpected %q", r)
}

// skip passes over blanks and comments.
func (l *configLexer) skip() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case strings.IndexByte(" \t\r\n\v\f", rest[0]) >= 0:
			l.at++
		case bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		default:
			return
		}
	}
}

func (l *configLexer) word() string {
	start := l.at
	for l.at < len(l.text) {
		c := l.text[l.at]
		isLetter := 'a' <= c|0x20 && c|0x20 <= 'z'
		isNumber := '0' <= c && c <= '9' || c == '_' || c == '.' || c == '+'
		isMinus := c == '-' && l.at+1 < len(l.text) && l.text[l.at+1] != '-'
		if !isLetter && !isNumber && !isMinus {
			break
		}
		l.at++
	}
	return string(l.text[start:l.at])
}

// quoted reads a string in either kind of quotes, with JSON's escapes. On a
// mistake the token's place is that of the mistake.
func (l *configLexer) quoted(t *configToken) (string, string) {
	quote := l.text[l.at]
	l.at++
	var b strings.Builder
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case c == quote:
			l.at++
			return b.String(), ""
		case c == '\n' || c == '\r':
			return "", "the string does not end in its line"
		case c < ' ' && c != '\t' || c == 0x7f:
			t.at = l.at
			return "", fmt.Sprintf("the string has the control character 0x%02x", c)
		case c == '\\':
			t.at = l.at
			r, ok := l.escape()
			if !ok {
				return "", `unknown escape; a backslash itself is written \\`
			}
			if r < ' ' && r != '\t' || r == 0x7f {
				return "", fmt.Sprintf("the string has the control character 0x%02x", r)
			}
			b.WriteRune(r)
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	return "", "the string does not end in its line"
}

// escape reads a backslash and what belongs to it.
func (l *configLexer) escape() (rune, bool) {
	rest := l.text[l.at:]
	if len(rest) < 2 {
		return 0, false
	}
	const plain = `"'\/`
	if strings.IndexByte(plain, rest[1]) >= 0 {
		l.at += 2
		return rune(rest[1]), true
	}
	if at := strings.IndexByte("bfnrt", rest[1]); at >= 0 {
		l.at += 2
		return rune("\b\f\n\r\t"[at]), true
	}
	r, ok := hexEscape(rest)
	if !ok {
		return 0, false
	}
	l.at += 6
	if utf16.IsSurrogate(r) {
		second, ok := hexEscape(rest[6:])
		if r = utf16.DecodeRune(r, second); !ok || r == utf8.RuneError {
			return 0, false
		}
		l.at += 6
	}
	return r, true
}

// hexEscape reads \u and four digits.
func hexEscape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// position turns an offset into a line and a column, counted in characters.
func position(text []byte, at int) (line, column int) {
	before := text[:at]
	line = bytes.Count(before, []byte("\n")) + 1
	start := bytes.LastIndexByte(before, '\n') + 1
	return line, utf8.RuneCount(bytes.TrimPrefix(before[start:], utf8Mark)) + 1
}
