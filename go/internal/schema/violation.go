package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

const (
	mostViolations = 20
	mostMessage    = 300 // bytes
	mostPointer    = 500
)

// Violation is one thing that is wrong with a value.
type Violation struct {
	Pointer string // JSON pointer to the value; to where it should be, if it is missing
	Message string // as in "must be an integer, not a string"
	Keyword string // of the schema, as in "type"; empty where no keyword stands for it
}

// String is the message, with the pointer where the message does not name the value.
func (v Violation) String() string {
	if v.Pointer == "" || strings.Count(v.Pointer, "/") == 1 && (v.Keyword == "required" || v.Keyword == "additionalProperties") {
		return v.Message
	}
	return v.Pointer + ": " + v.Message
}

// DocumentError says which parts of a document are no JSON Schema.
type DocumentError struct{ Violations []Violation }

func (e *DocumentError) Error() string { return "not a JSON Schema: " + Summary(e.Violations) }

// Summary writes violations in one line.
func Summary(list []Violation) string {
	const most = 5
	var parts []string
	for _, v := range list[:min(len(list), most)] {
		parts = append(parts, v.String())
	}
	if len(list) > most {
		parts = append(parts, "and more")
	}
	return strings.Join(parts, "; ")
}

// fault is a violation before it is put into words.
type fault struct {
	tokens []string
	what   jsonschema.ErrorKind
	schema *jsonschema.Schema          // may be nil
	result *jsonschema.ValidationError // of the library; may be nil
}

// found collects faults.
type found struct{ list []fault }

func (f *found) full() bool { return len(f.list) > mostViolations }

func (f *found) add(tokens []string, s *jsonschema.Schema, what jsonschema.ErrorKind) {
	f.list = append(f.list, fault{tokens: tokens, what: what, schema: s})
}

// addResult takes the leaves of what the library found in the value at a place.
func (f *found) addResult(place []string, result *jsonschema.ValidationError, g *graph) {
	tokens := func(e *jsonschema.ValidationError) []string { return slices.Concat(place, e.InstanceLocation) }
	switch what := result.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range result.Causes {
			f.addResult(place, cause, g)
		}
		return
	case *kind.AnyOf, *kind.OneOf:
		if one := likely(result); one != nil {
			f.addResult(place, one, g)
			return
		}
	case *kind.Required:
		for _, name := range what.Missing {
			f.list = append(f.list, fault{tokens(result), &kind.Required{Missing: []string{name}}, g.schema(result), result})
		}
		return
	case *kind.AdditionalProperties:
		for _, name := range what.Properties {
			f.list = append(f.list, fault{tokens(result), &kind.AdditionalProperties{Properties: []string{name}}, g.schema(result), result})
		}
		return
	}
	f.list = append(f.list, fault{tokens(result), result.ErrorKind, g.schema(result), result})
}

func (g *graph) schema(result *jsonschema.ValidationError) *jsonschema.Schema {
	if g == nil {
		return nil
	}
	return g.at[result.SchemaURL]
}

// likely is the branch of a choice that was meant: the only one whose type is right, or else the only one
// whose constants are.
func likely(choice *jsonschema.ValidationError) *jsonschema.ValidationError {
	depth := len(choice.InstanceLocation)
	for _, wrong := range []func(*jsonschema.ValidationError, int) bool{wrongType, wrongValue, wrongConstant} {
		var one *jsonschema.ValidationError
		left := 0
		for _, branch := range choice.Causes {
			if !wrong(branch, depth) {
				one, left = branch, left+1
			}
		}
		if left == 1 {
			return one
		}
	}
	return nil
}

// unwrapped follows references.
func unwrapped(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) == 1 {
		if _, is := e.ErrorKind.(*kind.Reference); !is {
			break
		}
		e = e.Causes[0]
	}
	return e
}

// wrongType tells whether a branch says that the value itself is of another type.
func wrongType(e *jsonschema.ValidationError, depth int) bool {
	e = unwrapped(e)
	_, is := e.ErrorKind.(*kind.Type)
	return is && len(e.InstanceLocation) == depth
}

func wrongValue(e *jsonschema.ValidationError, depth int) bool {
	e = unwrapped(e)
	return isConstant(e) && len(e.InstanceLocation) == depth || wrongType(e, depth)
}

// wrongConstant tells the same of a property that tells branches apart.
func wrongConstant(e *jsonschema.ValidationError, depth int) bool {
	e = unwrapped(e)
	if _, is := e.ErrorKind.(*kind.Group); is && slices.ContainsFunc(e.Causes, isConstant) {
		return true
	}
	return isConstant(e) || wrongType(e, depth)
}

func isConstant(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.Const, *kind.Enum:
		return true
	}
	return false
}

func (f *fault) pointer() string {
	tokens := f.tokens
	switch f.what.(type) {
	case *kind.Required, *kind.AdditionalProperties:
		tokens = append(slices.Clip(tokens), f.named())
	}
	var out strings.Builder
	for _, token := range tokens {
		out.WriteByte('/')
		out.WriteString(jsonvalue.EscapePointer(clip(token, mostPointer)))
		if out.Len() > mostPointer {
			return clip(out.String(), mostPointer)
		}
	}
	return out.String()
}

// first is the fault that comes first by its place: the library goes through objects in any order.
func (f *found) first() *fault {
	first := &f.list[0]
	for i := range f.list {
		if f.list[i].compare(first) < 0 {
			first = &f.list[i]
		}
	}
	return first
}

func (f *fault) compare(other *fault) int {
	if order := slices.Compare(f.tokens, other.tokens); order != 0 {
		return order
	}
	if order := strings.Compare(keyword(f.what), keyword(other.what)); order != 0 {
		return order
	}
	return strings.Compare(f.named(), other.named())
}

// named is the property that a fault is about where its value has none.
func (f *fault) named() string {
	switch what := f.what.(type) {
	case *kind.Required:
		return what.Missing[0]
	case *kind.AdditionalProperties:
		return what.Properties[0]
	}
	return ""
}

// sorted puts the first faults into words.
func (f *found) sorted() []Violation {
	if f.full() {
		slices.SortStableFunc(f.list, func(a, b fault) int { return a.compare(&b) })
		f.list = f.list[:min(len(f.list), 5*mostViolations)]
	}
	list := make([]Violation, 0, len(f.list))
	for i := range f.list {
		one := &f.list[i]
		list = append(list, Violation{one.pointer(), clip(one.message(), mostMessage), keyword(one.what)})
	}
	slices.SortFunc(list, func(a, b Violation) int {
		return strings.Compare(a.Pointer+"\x00"+a.Keyword+"\x00"+a.Message, b.Pointer+"\x00"+b.Keyword+"\x00"+b.Message)
	})
	list = slices.Compact(list)
	return list[:min(len(list), mostViolations)]
}

func clip(text string, most int) string { return spelling.Clip(text, most) }
