package luaudoc

import (
	"fmt"
	"strings"
)

type tokenKind int

const (
	endOfFile tokenKind = iota
	word                // a name or a keyword
	number
	text // any string
	symbol
)

type token struct {
	kind       tokenKind
	start, end int // bytes
	line, last int // of its first and its last byte
	lead       []comment
}

// comment is one comment before a token.
type comment struct {
	start, end int
	line, last int
	own        bool // nothing stands before it in its line
}

// lexer cuts a source into tokens. It fails by panic with a *Error, which readFile catches.
type lexer struct {
	chunk string
	src   string
	at    int
	line  int
	fresh bool // only white space since the beginning of the line
	depth int  // of strings in expressions in strings
}

func newLexer(source Source) *lexer {
	return &lexer{chunk: source.Chunk, src: source.Text, line: 1, fresh: true}
}

func (l *lexer) fail(line int, format string, args ...any) {
	panic(&Error{l.chunk, line, fmt.Sprintf(format, args...)})
}

// peek is a byte ahead; 0 behind the end.
func (l *lexer) peek(ahead int) byte {
	if l.at+ahead < len(l.src) {
		return l.src[l.at+ahead]
	}
	return 0
}

// skip moves on by n bytes and counts lines.
func (l *lexer) skip(n int) {
	end := min(l.at+n, len(l.src))
	l.line += strings.Count(l.src[l.at:end], "\n")
	l.at = end
}

// next is the next token, with the comments before it.
func (l *lexer) next() token {
	var lead []comment
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == '\n':
			l.skip(1)
			l.fresh = true
		case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			l.at++
		case c == '-' && l.peek(1) == '-':
			lead = append(lead, l.comment())
		default:
			t := l.token()
			t.lead = lead
			l.fresh = false
			return t
		}
	}
	return token{kind: endOfFile, start: l.at, end: l.at, line: l.line, last: l.line, lead: lead}
}

func (l *lexer) comment() comment {
	c := comment{start: l.at, line: l.line, own: l.fresh}
	l.at += 2
	if level := l.bracket(); level >= 0 {
		l.long(level, "comment")
		l.fresh = false
	} else if stop := strings.IndexByte(l.src[l.at:], '\n'); stop >= 0 {
		l.at += stop
	} else {
		l.at = len(l.src)
	}
	c.end, c.last = l.at, l.line
	return c
}

// bracket is the level of the long bracket that begins here; -1 where none does.
func (l *lexer) bracket() int {
	if l.peek(0) != '[' {
		return -1
	}
	level := 0
	for l.peek(1+level) == '=' {
		level++
	}
	if l.peek(1+level) != '[' {
		return -1
	}
	return level
}

// long skips a long string or comment from its opening bracket on.
func (l *lexer) long(level int, what string) {
	line := l.line
	closing := "]" + strings.Repeat("=", level) + "]"
	stop := strings.Index(l.src[l.at:], closing)
	if stop < 0 {
		l.fail(line, "the %s that begins here has no end: %s is missing", what, closing)
	}
	l.skip(stop + len(closing))
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// symbols are those of more than one byte, the longest first.
var symbols = [...]string{"...", "..=", "//=", "::", "->", "==", "~=", "<=", ">=", "..", "//", "+=", "-=", "*=", "/=", "%=", "^="}

func (l *lexer) token() token {
	t := token{start: l.at, line: l.line, kind: symbol}
	switch c := l.src[l.at]; {
	case isLetter(c):
		t.kind = word
		for isLetter(l.peek(0)) || isDigit(l.peek(0)) {
			l.at++
		}
	case isDigit(c) || c == '.' && isDigit(l.peek(1)):
		t.kind = number
		l.number()
	case c == '"' || c == '\'':
		t.kind = text
		l.quoted(c)
	case c == '`':
		t.kind = text
		l.interpolated()
	case l.bracket() >= 0:
		t.kind = text
		l.long(l.bracket(), "string")
	default:
		l.at += l.symbol()
	}
	t.end, t.last = l.at, l.line
	return t
}

func (l *lexer) symbol() int {
	for _, s := range symbols {
		if strings.HasPrefix(l.src[l.at:], s) {
			return len(s)
		}
	}
	return 1
}

func (l *lexer) number() {
	hex := l.peek(0) == '0' && l.peek(1)|0x20 == 'x'
	for c := l.peek(0); isLetter(c) || isDigit(c) || c == '.'; c = l.peek(0) {
		l.at++
		if next := l.peek(0); !hex && c|0x20 == 'e' && (next == '+' || next == '-') {
			l.at++
		}
	}
}

func (l *lexer) quoted(quote byte) {
	line := l.line
	l.at++
	for {
		switch c := l.peek(0); {
		case l.at >= len(l.src) || c == '\n':
			l.fail(line, "the string that begins here has no end in its line")
		case c == quote:
			l.at++
			return
		case c == '\\':
			l.escape()
		default:
			l.at++
		}
	}
}

// escape skips what a backslash begins: \z also the white space behind it, which may hold line ends.
func (l *lexer) escape() {
	wide := l.peek(1) == 'z'
	if l.peek(1) == '\r' && l.peek(2) == '\n' {
		l.at++
	}
	l.skip(2)
	for wide && strings.IndexByte(" \t\r\n\v\f", l.peek(0)) >= 0 && l.at < len(l.src) {
		l.skip(1)
	}
}

// maxNested is how deep anything may be nested.
const maxNested = 400

// interpolated skips `text {expression}` with what stands inside of it.
func (l *lexer) interpolated() {
	line := l.line
	if l.depth++; l.depth > maxNested {
		l.fail(line, "strings are nested too deeply")
	}
	l.at++
	for {
		switch c := l.peek(0); {
		case l.at >= len(l.src) || c == '\n':
			l.fail(line, "the string that begins here has no end in its line")
		case c == '`':
			l.at++
			l.depth--
			return
		case c == '\\':
			l.escape()
		case c == '{':
			l.at++
			l.expression(line)
		default:
			l.at++
		}
	}
}

// expression skips tokens up to the brace that ends an expression in a string.
func (l *lexer) expression(line int) {
	for open := 1; open > 0; {
		switch t := l.next(); {
		case t.kind == endOfFile:
			l.fail(line, "the string that begins here has no end")
		case t.kind == symbol && l.src[t.start] == '{':
			open++
		case t.kind == symbol && l.src[t.start] == '}':
			open--
		}
	}
}
