package luautype

import (
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// callable is the types of one function.
type callable struct {
	params     *node // nil: there is no such argument
	body       *node
	result     *node
	paramsNeed bool
	bodyNeed   bool
	refs       []*named
}

// types converts the schemas of a function.
func (l *library) types(f *catalog.Callable) callable {
	var t callable
	convert := func(schema any, label string, exact bool) *node {
		c := converter{lib: l, place: place{root: schema, label: label, defs: f.Defs}, exact: exact}
		n := c.convert(schema, at{})
		t.refs = append(t.refs, c.refs...)
		return n
	}
	if f.Params != nil && takesParams(f.Params) {
		t.params = convert(f.Params, f.Ident+"_params", false)
		t.paramsNeed = f.ParamsRequired() || t.params.kind == reference
	}
	if f.Body != nil {
		t.body, t.bodyNeed = convert(f.Body, f.Ident+"_body", false), f.BodyRequired
	}
	switch {
	case f.NoResult:
		t.result = plainly("nil")
	case f.Result == nil:
		t.result = anything()
	default:
		t.result = convert(f.Result, f.Ident+"_result", true)
	}
	return t
}

// takesParams says whether there is anything that a table of arguments could hold.
func takesParams(s map[string]any) bool {
	for _, word := range []string{"$ref", "anyOf", "oneOf", "allOf", "patternProperties"} {
		if s[word] != nil {
			return true
		}
	}
	properties, described := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if len(properties) > 0 || len(required) > 0 {
		return true
	}
	switch rest := s["additionalProperties"].(type) {
	case nil:
		return !described
	case bool:
		return rest
	}
	return true
}

// arguments writes the parameters of a function, with their parentheses.
func (t callable) arguments() string {
	var list []string
	add := func(name string, n *node, need bool) {
		if n == nil {
			return
		}
		text := inline(n)
		if !need {
			text = inline(maybe(n))
			if n.is("any") && n.note == "" {
				text = "any?"
			}
		}
		list = append(list, name+": "+text)
	}
	add("params", t.params, t.paramsNeed)
	add("body", t.body, t.bodyNeed)
	return "(" + strings.Join(list, ", ") + ")"
}

// Signature is the head of a function, on one line: `function sdk.petstore.create_pet(body: NewPet): Pet end`.
func Signature(f *catalog.Callable) string {
	return f.Scope.Memo(signatureOf{f}, func() any {
		return head(f, docLibrary(f).types(f))
	}).(string)
}

type signatureOf struct{ f *catalog.Callable }

func head(f *catalog.Callable, t callable) string {
	return "function sdk." + f.FullName() + t.arguments() + ": " + inline(t.result) + " end"
}

// docLibrary names types as docs show them: short, and unique within one function.
func docLibrary(f *catalog.Callable) *library {
	return newLibrary(f.Scope.Memo(identify("names", f.Defs), func() any {
		n := newNames("")
		n.reserve(f.Defs)
		return n
	}).(*names))
}
