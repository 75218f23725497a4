package yamlmod

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// CodeYAML is the code of the error for a text that is no YAML or means nothing to a script.
const CodeYAML = "yaml"

// fail is an error at a node, which may be nil.
func (d *decoder) fail(code string, at *yaml.Node, format string, args ...any) error {
	e := &hostmod.TextError{Code: code, Function: d.function, Problem: fmt.Sprintf(format, args...)}
	if at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	return e
}

// syntax is an error of the library.
func (d *decoder) syntax(err error) error {
	e := &hostmod.TextError{Code: CodeYAML, Function: d.function, Problem: err.Error()}
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
	return e
}

// notUTF8 says where a text stops being UTF-8.
func (d *decoder) notUTF8(text []byte) error {
	e := &hostmod.TextError{Code: CodeYAML, Function: d.function, Problem: "the text is no UTF-8", Line: 1, Column: 1}
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
