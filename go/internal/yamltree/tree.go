// Package yamltree reads YAML with the core schema of YAML 1.2, as JSON needs it: NO, on, y and dates are
// texts. Syntax is the work of the library, with the places of its nodes; what they mean, and what a hostile text
// may cost, is decided here.
package yamltree

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// The bounds of what a text means.
const (
	maxDepth   = 200
	maxAliased = 16 << 20 // bytes of values that aliases repeat: a text of 1 KiB could mean gigabytes
)

// NodeSize is about what a value takes as a node and in Go.
const NodeSize = 250

// Error says what is wrong with a text and where.
type Error struct {
	Problem      string
	Line, Column int  // from 1; 0 when unknown
	Limit        bool // it means too much, and may be fine otherwise
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

func fail(at *yaml.Node, format string, args ...any) error {
	return &Error{Problem: fmt.Sprintf(format, args...), Line: at.Line, Column: at.Column}
}

func limit(at *yaml.Node, format string, args ...any) error {
	return &Error{Problem: fmt.Sprintf(format, args...), Line: at.Line, Column: at.Column, Limit: true}
}

// Options say what trees are made. The zero value gives nil, bool, string, float64, int64, json.Number for
// integers beyond 64 bits, []any and map[string]any.
type Options struct {
	// JSON gives numbers as trees of JSON have them: float64, and json.Number where that would lose digits.
	// Infinities and NaN are errors then.
	JSON bool
	// Null is what a null in a list is. nil is nil.
	Null any
	// Check is called for each node; its error ends the work. nil checks nothing.
	Check func() error
	// Charge is told of the bytes that aliases repeat; its error ends the work. nil takes all.
	Charge func(bytes int64) error
}

// Value is what a node means.
func Value(node *yaml.Node, o Options) (any, error) {
	r := reader{Options: o, open: map[*yaml.Node]bool{}}
	return r.value(node, 0)
}

// reader turns one document into a tree.
type reader struct {
	Options
	open    map[*yaml.Node]bool // collections that are being read
	aliases int                 // how many aliases are being followed
	aliased int64
}

func (r *reader) value(node *yaml.Node, depth int) (any, error) {
	if r.Check != nil {
		if err := r.Check(); err != nil {
			return nil, err
		}
	}
	if depth > maxDepth {
		return nil, limit(node, "nesting deeper than %d", maxDepth)
	}
	if err := r.count(node); err != nil {
		return nil, err
	}
	switch node.Kind {
	case yaml.DocumentNode:
		if len(node.Content) == 0 {
			return nil, nil
		}
		return r.value(node.Content[0], depth)
	case yaml.AliasNode:
		return r.alias(node, depth)
	case yaml.ScalarNode:
		return r.scalar(node)
	}
	r.open[node] = true
	defer delete(r.open, node)
	if tag := node.ShortTag(); node.Style&yaml.TaggedStyle != 0 && tag != "!!map" && tag != "!!seq" && tag != "!" {
		return nil, fail(node, "the tag %.60q is not of the core schema", tag)
	}
	if node.Kind == yaml.SequenceNode {
		return r.sequence(node, depth)
	}
	return r.mapping(node, depth)
}

// count bounds what aliases repeat.
func (r *reader) count(node *yaml.Node) error {
	if r.aliases == 0 {
		return nil
	}
	size := NodeSize + 3*int64(len(node.Value))
	if r.aliased += size; r.aliased > maxAliased {
		return limit(node, "the aliases of the text repeat more than %d MiB", maxAliased>>20)
	}
	if r.Charge == nil {
		return nil
	}
	return r.Charge(size)
}

func (r *reader) alias(node *yaml.Node, depth int) (any, error) {
	if r.open[node.Alias] {
		return nil, fail(node, "the alias *%.60s is inside of what it repeats", node.Value)
	}
	r.aliases++
	defer func() { r.aliases-- }()
	return r.value(node.Alias, depth)
}

func (r *reader) sequence(node *yaml.Node, depth int) (any, error) {
	list := make([]any, len(node.Content))
	for i, item := range node.Content {
		value, err := r.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		if value == nil {
			value = r.Null
		}
		list[i] = value
	}
	return list, nil
}
