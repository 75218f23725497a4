package schema

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/message"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

// Kinds of fault that the library does not have.
type (
	tooCostly   struct{}
	hugeNumber  struct{}
	outOfBounds struct{ bound }
)

func (tooCostly) KeywordPath() []string                    { return nil }
func (tooCostly) LocalizedString(*message.Printer) string  { return "costs too much to check" }
func (hugeNumber) KeywordPath() []string                   { return nil }
func (hugeNumber) LocalizedString(*message.Printer) string { return "is a number with too many digits" }

func (o outOfBounds) KeywordPath() []string {
	name := map[float64]string{1: "maximum", -1: "minimum"}[o.sign]
	if o.strict {
		name = "exclusiveM" + name[1:]
	}
	return []string{name}
}

func (o outOfBounds) LocalizedString(*message.Printer) string {
	word := map[bool]map[float64]string{
		false: {1: "at most", -1: "at least"},
		true:  {1: "less than", -1: "more than"},
	}[o.strict][o.sign]
	return "must be " + word + " " + string(jsonvalue.AppendNumber(nil, o.limit))
}

func keyword(what jsonschema.ErrorKind) string {
	switch what.(type) {
	case *kind.Not:
		return "not"
	case *kind.FalseSchema:
		return ""
	}
	if path := what.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return ""
}

func (f *fault) message() string {
	switch what := f.what.(type) {
	case *kind.Required:
		return "missing required " + f.member() + ": " + what.Missing[0]
	case *kind.AdditionalProperties:
		return "unknown " + f.member() + ": " + what.Properties[0] + f.didYouMean(what.Properties[0])
	case *kind.Type:
		return "must be " + OneOfTypes(what.Want) + ", not " + withArticle(got(what))
	case *kind.Enum:
		return "must be one of " + values(what.Want)
	case *kind.Const:
		return "must be " + value(what.Want)
	case *kind.Format:
		if what.Want != "regex" { // of others, the library's reasons are no help
			return "must be a valid " + what.Want
		}
		return "must be a valid regex" + because(what.Err)
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.Not:
		return "must not be what the schema excludes"
	case *kind.AnyOf, *kind.OneOf:
		return f.choice()
	case *kind.Contains, *kind.MinContains, *kind.MaxContains, *kind.UniqueItems:
		return contains(what)
	case *kind.PropertyNames:
		return fmt.Sprintf("has a property with a name that is not allowed, %q%s", clip(what.Property, 100), f.reason())
	case *kind.DependentRequired:
		return "needs " + strings.Join(what.Missing, ", ") + " where there is " + what.Prop
	case *kind.Dependency:
		return "needs " + strings.Join(what.Missing, ", ") + " where there is " + what.Prop
	case *kind.RefCycle:
		return "cannot be checked: the schema applies itself to it without an end"
	case *kind.Pattern:
		return "must match the pattern " + what.Want
	case tooCostly, hugeNumber, outOfBounds:
		return f.what.LocalizedString(nil)
	case *kind.InvalidJsonValue:
		return fmt.Sprintf("is no JSON value but a Go %T", what.Value)
	}
	return size(f.what)
}

// member is how those who call a tool speak of what they give it.
func (f *fault) member() string {
	if len(f.tokens) == 0 {
		return "parameter"
	}
	return "property"
}

func (f *fault) didYouMean(name string) string {
	if f.schema == nil {
		return ""
	}
	known := make([]string, 0, len(f.schema.Properties))
	for other := range f.schema.Properties {
		known = append(known, other)
	}
	slices.Sort(known)
	if near := spelling.Nearest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

func withArticle(kind string) string {
	switch kind {
	case "null":
		return kind
	case "array", "integer", "object":
		return "an " + kind
	}
	return "a " + kind
}

// OneOfTypes are types in words: "a number or null".
func OneOfTypes(want []string) string {
	parts := make([]string, len(want))
	for i, name := range want {
		parts[i] = withArticle(name)
	}
	slices.SortStableFunc(parts, func(a, b string) int {
		switch { // "a string or null"
		case a == "null":
			return 1
		case b == "null":
			return -1
		}
		return 0
	})
	return orList(parts)
}

func orList(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " or " + parts[len(parts)-1]
}

func got(what *kind.Type) string {
	if what.Got == "number" && slices.Contains(what.Want, "integer") {
		return "number with a fraction"
	}
	return what.Got
}

func nameOf(v any) string {
	switch kindOf(v) {
	case kindNull:
		return "null"
	case kindBool:
		return "boolean"
	case kindString:
		return "string"
	case kindArray:
		return "array"
	case kindObject:
		return "object"
	}
	return "number"
}

// value writes a plain word as it is, all else as JSON.
func value(v any) string {
	if s, is := v.(string); is && s != "" && !strings.ContainsAny(s, " ,\"\n\t\r") && s != "null" && s != "true" && s != "false" {
		return clip(s, 100)
	}
	text, err := jsonvalue.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return clip(string(text), 100)
}

func values(list []any) string {
	const most = 20
	var parts []string
	for _, v := range list[:min(len(list), most)] {
		parts = append(parts, value(v))
	}
	if len(list) > most {
		parts = append(parts, "...")
	}
	return strings.Join(parts, ", ")
}

// reason is the first thing that the library says below a fault.
func (f *fault) reason() string {
	list := &found{}
	if f.result != nil {
		for _, cause := range f.result.Causes {
			list.addResult(f.place(), cause, nil)
		}
	}
	if len(list.list) == 0 {
		return ""
	}
	return ": " + list.first().message()
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + clip(err.Error(), 150)
}

// place is where the value is that the library was given.
func (f *fault) place() []string {
	return f.tokens[:len(f.tokens)-len(f.result.InstanceLocation)]
}

func (f *fault) branches() []*jsonschema.ValidationError {
	if f.result == nil {
		return nil
	}
	return f.result.Causes
}

// choice says what the branches of anyOf and oneOf ask for.
func (f *fault) choice() string {
	if one, is := f.what.(*kind.OneOf); is && len(one.Subschemas) == 2 {
		return fmt.Sprintf("must fit one of the forms only, but fits forms %d and %d", one.Subschemas[0]+1, one.Subschemas[1]+1)
	}
	var types, others []string
	for _, branch := range f.branches() {
		list := &found{}
		list.addResult(f.place(), branch, nil)
		if len(list.list) == 0 {
			continue
		}
		first := list.first()
		if wrong, is := first.what.(*kind.Type); is && len(first.tokens) == len(f.tokens) {
			types = append(types, wrong.Want...)
			continue
		}
		if what := clip(first.message(), 80); !slices.Contains(others, what) {
			others = append(others, what)
		}
	}
	if len(others) == 0 && len(types) > 0 {
		slices.Sort(types)
		return "must be " + OneOfTypes(slices.Compact(types)) + ", not " + withArticle(f.got())
	}
	return fmt.Sprintf("fits none of the %d forms that are allowed: %s", len(f.branches()), strings.Join(others[:min(len(others), 3)], "; or "))
}

// got is the type that the branches of a choice saw.
func (f *fault) got() string {
	for _, branch := range f.branches() {
		if wrong, is := unwrapped(branch).ErrorKind.(*kind.Type); is {
			return wrong.Got
		}
	}
	return "value"
}

func contains(what jsonschema.ErrorKind) string {
	switch what := what.(type) {
	case *kind.MinContains:
		return fmt.Sprintf("must have at least %d items of the kind asked for, has %d", what.Want, len(what.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("must have at most %d items of the kind asked for, has %d", what.Want, len(what.Got))
	case *kind.UniqueItems:
		return fmt.Sprintf("must have no two equal items, but items %d and %d are equal", what.Duplicates[0], what.Duplicates[1])
	}
	return "must have an item of the kind asked for"
}

func size(what jsonschema.ErrorKind) string {
	most := func(how string, n int, unit string) string {
		return fmt.Sprintf("must have %s %s", how, plural(n, unit))
	}
	switch what := what.(type) {
	case *kind.MinLength:
		return most("at least", what.Want, "character")
	case *kind.MaxLength:
		return most("at most", what.Want, "character")
	case *kind.MinItems:
		return most("at least", what.Want, "item")
	case *kind.MaxItems:
		return most("at most", what.Want, "item")
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %s more than allowed", plural(what.Count, "item"))
	case *kind.MinProperties:
		return most("at least", what.Want, "propertie")
	case *kind.MaxProperties:
		return most("at most", what.Want, "propertie")
	case *kind.Minimum:
		return "must be at least " + rational(what.Want)
	case *kind.Maximum:
		return "must be at most " + rational(what.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + rational(what.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + rational(what.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + rational(what.Want)
	}
	return "does not fit the schema: " + strings.Join(what.KeywordPath(), "/")
}

// plural writes a count; "propertie" is the stem of properties.
func plural(n int, unit string) string {
	switch {
	case n != 1:
		unit += "s"
	case unit == "propertie":
		unit = "property"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

func rational(n *big.Rat) string {
	f, exact := n.Float64()
	if n.IsInt() && !exact {
		return clip(n.Num().String(), 40)
	}
	return string(jsonvalue.AppendNumber(nil, f))
}
