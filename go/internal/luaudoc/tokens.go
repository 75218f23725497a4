package luaudoc

import "strings"

// TokenKind is what a Token is.
type TokenKind int

// The kinds of tokens. Keywords are words.
const (
	TokenWord TokenKind = iota
	TokenNumber
	TokenText
	TokenSymbol
)

// Token is one token of a source, for those who look for names without a syntax tree.
type Token struct {
	Kind TokenKind
	Text string // as it is written, with quotes
	Line int    // of its first byte, from 1
}

// Tokens are those of a source, without comments. An expression inside of an interpolated string is part of
// the string. The error is an *Error.
func Tokens(source Source) (list []Token, err error) {
	defer func() {
		if failed := recover(); failed != nil {
			e, ours := failed.(*Error)
			if !ours {
				panic(failed)
			}
			err = e
		}
	}()
	l := newLexer(source)
	for {
		t := l.next()
		if t.kind == endOfFile {
			return list, nil
		}
		list = append(list, Token{Kind: TokenKind(t.kind - word), Text: source.Text[t.start:t.end], Line: t.line})
	}
}

// Quoted is the content of a text that is written in one piece and without escapes; false for another.
func (t Token) Quoted() (string, bool) {
	if t.Kind != TokenText || strings.ContainsRune(t.Text, '\\') {
		return "", false
	}
	switch t.Text[0] {
	case '"', '\'':
		return t.Text[1 : len(t.Text)-1], true
	case '[':
		level := strings.IndexByte(t.Text[1:], '[') + 2
		return strings.TrimPrefix(t.Text[level:len(t.Text)-level], "\n"), true
	}
	inside := t.Text[1 : len(t.Text)-1]
	return inside, !strings.ContainsRune(inside, '{')
}
