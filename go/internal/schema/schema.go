// Package schema checks JSON values against JSON Schema and fills in defaults. It is a face of
// santhosh-tekuri/jsonschema for schemas and values of strangers: nothing is loaded from outside, and
// neither a schema nor a value can make it hang. Values are trees as of package jsonvalue.
package schema

import (
	"fmt"
	"net/url"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled schema. Goroutines may share it.
type Schema struct {
	root     *node
	fill     *filler // nil where there are no defaults
	graph    *graph
	document any
}

const (
	// base is the address of a document that names none itself. What a relative $ref makes of it is
	// cut off again in messages.
	base = "schema://document/"
	main = base + "schema.json"
)

// Compile reads a schema: an object or a bool, draft 2020-12 unless its $schema says otherwise. Formats
// are checked. Patterns are RE2's. The document is copied; name is for errors.
func Compile(doc any, name string) (*Schema, error) {
	s, err := compile(doc)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	return s, nil
}

func compile(doc any) (s *Schema, err error) {
	// The library gives up on a few malformed documents by a panic.
	defer func() {
		if cause := recover(); cause != nil {
			s, err = nil, fmt.Errorf("not a JSON Schema: %v", cause)
		}
	}()
	doc, err = copyDocument(doc)
	if err != nil {
		return nil, err
	}
	c := newCompiler()
	if err := c.AddResource(main, doc); err != nil {
		return nil, problem(err)
	}
	compiled, err := c.Compile(main)
	if err != nil {
		return nil, problem(err)
	}
	g, err := newGraph(compiled)
	if err != nil {
		return nil, err
	}
	if err := reachAnchors(c, g, doc); err != nil {
		return nil, err
	}
	s = &Schema{graph: g, root: g.plain(), document: doc}
	s.fill, err = g.filler()
	return s, err
}

// reachAnchors adds what only dynamic references lead to.
func reachAnchors(c *jsonschema.Compiler, g *graph, doc any) error {
	const most = 500
	if !g.dynamic {
		return nil
	}
	list := anchors(doc, "")
	if len(list) > most {
		return errComplex
	}
	for _, pointer := range list {
		// What is no schema, as within an enum, does not compile and is found by no reference.
		if found, err := c.Compile(main + "#" + (&url.URL{Path: pointer}).EscapedPath()); err == nil {
			if err := g.reach(found); err != nil {
				return err
			}
		}
	}
	return nil
}

func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(nothing{})
	c.UseRegexpEngine(compilePattern)
	return c
}

// nothing is a loader that loads nothing; the library has the known metaschemas itself.
type nothing struct{}

func (nothing) Load(string) (any, error) { return nil, errOutside }

// Validate gives what is wrong with a value, in the order of pointers; nothing where it is valid.
func (s *Schema) Validate(v any) []Violation {
	quick := run{graph: s.graph, units: mostUnits}
	if quick.check(s.root, v, nil) {
		return nil
	}
	full := run{graph: s.graph, units: mostUnits, found: &found{}}
	full.check(s.root, v, nil)
	return full.found.sorted()
}
