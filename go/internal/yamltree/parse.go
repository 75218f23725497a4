package yamltree

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Parse gives the documents of a text one after the other. It changes `%YAML 1.2` in the text to what the
// library takes. An error of the text is an *Error.
func Parse(text []byte, each func(document *yaml.Node) error) error {
	if !utf8.Valid(text) {
		return notUTF8(text)
	}
	acceptVersions(text)
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return syntax(text, err)
	}
	for {
		var node yaml.Node
		if err := loader.Load(&node); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return syntax(text, err)
		}
		if err := each(&node); err != nil {
			return err
		}
	}
}

// Footprint is about what the nodes of a text take: each but the first has one of these before it.
func Footprint(text []byte) int64 {
	n := 4 * int64(len(text))
	for _, b := range text {
		switch b {
		case '\n', ':', ',', '[', '{', '-', '?':
			n += NodeSize
		}
	}
	return n
}

// syntax is an error of the library.
func syntax(text []byte, err error) error {
	e := &Error{Problem: err.Error()}
	var many *yaml.LoadErrors
	var one *yaml.LoadError
	if errors.As(err, &many) && len(many.Errors) > 0 {
		one = many.Errors[0]
	}
	if one != nil || errors.As(err, &one) {
		e.Problem, e.Line, e.Column = one.Message, one.Mark.Line, one.Mark.Column
		if e.Line > 0 && e.Column == 0 {
			e.Column = 1
		}
	}
	if column := tabAt(text, e); column > 0 {
		e.Problem, e.Column = "there is a tab, where YAML wants spaces", column
	}
	return e
}

// tabAt is the column of the tab that an error is about; 0 where it is about something else. The library has several
// names for what a tab leads to, and counts columns in its own way.
func tabAt(text []byte, e *Error) int {
	line := lineOf(text, e.Line)
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	first := 1 + bytes.IndexByte(indent, '\t')
	if first == 0 {
		first = 1 + utf8.RuneCount(line[:max(0, bytes.IndexByte(line, '\t'))])
	}
	switch {
	case !bytes.ContainsRune(line, '\t'):
	case strings.Contains(e.Problem, "tab character"):
		return first
	case strings.Contains(e.Problem, "cannot start any token") && e.Column <= len(line) && line[e.Column-1] == '\t':
		return first
	}
	return 0
}

func lineOf(text []byte, line int) []byte {
	for ; line > 1; line-- {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	text, _, _ = bytes.Cut(text, []byte("\n"))
	return text
}

// notUTF8 says where a text stops being UTF-8.
func notUTF8(text []byte) error {
	e := &Error{Problem: "the text is no UTF-8", Line: 1, Column: 1}
	for len(text) > 0 {
		char, width := utf8.DecodeRune(text)
		switch {
		case char == utf8.RuneError && width == 1:
			return e
		case char == '\n':
			e.Line, e.Column = e.Line+1, 1
		default:
			e.Column++
		}
		text = text[width:]
	}
	return e
}
