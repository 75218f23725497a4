package luautype

import (
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// DefinitionsFile is the file of Stubs that declares sdk and what is around it.
const DefinitionsFile = "sdk.d.luau"

// Stubs are files for editors and for checks of scripts. "sdk.d.luau" declares sdk and the globals of the sources.
// "<source>.luau" is a module for each source with its types by their short names and its functions with their docs;
// a script that requires it calls them through sdk.
func Stubs(c *catalog.Catalog, o DefinitionOptions) map[string]string {
	files := map[string]string{DefinitionsFile: "-- Written by `luau gateway generate`: changes are lost.\n\n" + Definitions(c, o)}
	for _, s := range c.Sources() {
		name := s.Ident + ".luau"
		if s.Ident == "sdk" || s.Ident == "init" {
			name = s.Ident + "_source.luau"
		}
		files[name] = s.Memo(stubKey{}, func() any { return stub(s) }).(string)
	}
	return files
}

type stubKey struct{}

func stub(s *catalog.Scope) string {
	l := newLibrary(namesOf(s, ""))
	var refs []*named
	var functions strings.Builder
	for _, f := range s.Callables {
		t := l.types(f)
		refs = append(refs, t.refs...)
		functions.WriteString("\n" + comment(describe(f.Function)))
		explain(&functions, "", t.params, f.Params, 0)
		if t.body != nil {
			explainBody(&functions, t, f.Function)
		}
		functions.WriteString("function source." + f.Ident + t.arguments() + ": " + inline(t.result) + "\n")
		functions.WriteString("\treturn functions." + f.Ident + "(" + t.names() + ")\nend\n")
	}
	var b strings.Builder
	b.WriteString("--!strict\n" + comment(firstOf(s.Description, s.Title, s.Name)))
	b.WriteString("-- Written by `luau gateway generate`: changes are lost.\n\n")
	for _, t := range l.closure(refs, maxStubTypes) {
		b.WriteString("export type " + t.name + " = ")
		if t.of == nil {
			b.WriteString("any\n\n")
			continue
		}
		b.WriteString(block(t.of) + "\n\n")
	}
	b.WriteString("local functions = (sdk :: any)." + s.Ident + "\nlocal source = {}\n")
	b.WriteString(functions.String())
	b.WriteString("\nreturn source\n")
	return b.String()
}

const maxStubTypes = 100_000

// names are the arguments of a call.
func (t callable) names() string {
	switch {
	case t.params != nil && t.body != nil:
		return "params, body"
	case t.params != nil:
		return "params"
	case t.body != nil:
		return "body"
	}
	return ""
}
