// Package luaudoc reads the documentation of Luau modules from their source: the comment at the top,
// exported types, and what the value of the module holds, with signatures and the comments above them.
//
// It reads the whole grammar of Luau 0.745, and of definition files (.d.luau), but keeps no more of it
// than documentation needs. It runs nothing and checks no types: a value whose type is not written
// down has none here. Sources are hostile: every input ends in a Module or an Error.
package luaudoc

import (
	"fmt"
	"strings"
)

// Module is what a source says about itself.
type Module struct {
	Name    string // as require knows it
	Comment string // without comment marks; empty where there is none
	// Globals says that the source declares globals, so that nothing stands before the names of Values.
	Globals bool
	Types   []*Type
	// Values are the members of the table that the module returns. A module that returns a function has
	// one value, whose Name is empty.
	Values []*Value
}

// Kind is what a Value is.
type Kind int

// The kinds of values.
const (
	Constant  Kind = iota // anything else; Type says more where it is known
	Function              // has a Signature
	Namespace             // a table with Members
	Link                  // another module, named by Module
)

// Value is one public value.
type Value struct {
	Name      string // its key in the table that holds it
	Kind      Kind
	Comment   string
	Signature *Signature
	Type      string
	Module    string // as the source requires it
	Members   []*Value
}

// Signature is the type of a function.
type Signature struct {
	Generics string   // "<T, U>", or empty
	Params   []string // "name: type"
	Returns  string   // empty for none
	Method   bool     // the first parameter was self and is left out of Params
}

// Type is one exported type.
type Type struct {
	Name     string
	Generics string
	Comment  string
	Source   string // the declaration, with the comments inside of it
	Fields   []*Field
	Methods  []*Value // of a class whose type is that of its metatable
}

// Field is one field of a table type.
type Field struct {
	Name     string
	Comment  string
	Type     string
	Function bool
	source   string
}

// Error says where a source is not Luau.
type Error struct {
	Chunk   string // as Luau names it: "@" and a path, or "=" and a title
	Line    int
	Message string
}

// Error gives place and message.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: %s", strings.TrimPrefix(strings.TrimPrefix(e.Chunk, "="), "@"), e.Line, e.Message)
}

// Source is the text of a module.
type Source struct {
	Chunk string // its name for Luau: see Error
	Text  string
}

// Loader finds the module that name means in the source of that chunk.
type Loader func(chunk, name string) (Source, error)

// Parse reads a module. load is asked for the modules whose values and types it passes on; what cannot
// be loaded or read is shown as it stands. It may be nil.
func Parse(name string, source Source, load Loader) (*Module, error) {
	return parse(name, source, load, 0)
}

// maxLoads is how many modules may stand behind one another: a passes on what b passes on from c.
const maxLoads = 8

func parse(name string, source Source, load Loader, loads int) (*Module, error) {
	file, err := readFile(source)
	if err != nil {
		return nil, err
	}
	if loads >= maxLoads {
		load = nil
	}
	r := &resolver{file: file, load: load, loads: loads, modules: map[string]*Module{}, left: maxValues}
	return r.module(name), nil
}
