package yamlmod

import (
	"errors"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/internal/yamltree"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// CodeYAML is the code of the error for a text that is no YAML or means nothing to a script.
const CodeYAML = "yaml"

// fail is an error at a node, which may be nil.
func (d *decoder) fail(code string, at *yaml.Node, problem string) error {
	e := &hostmod.TextError{Code: code, Function: d.function, Problem: problem}
	if at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	return e
}

// told is an error of a text as scripts see it.
func (d *decoder) told(err error) error {
	var e *yamltree.Error
	if !errors.As(err, &e) {
		return err
	}
	code := CodeYAML
	if e.Limit {
		code = codeLimit
	}
	return &hostmod.TextError{Code: code, Function: d.function, Problem: e.Problem, Line: e.Line, Column: e.Column}
}
