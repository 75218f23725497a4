package typecheck

import (
	"fmt"
	"slices"
	"strings"
)

func unknownFunction(f *Finding, r raw, req Request) {
	f.Kind, f.Severity = UnknownFunction, severity(r)
	f.Message = fmt.Sprintf("function '%s' does not exist", r.Name)
	if r.Path != r.Name {
		f.Message = about(r, f.Message)
	} else {
		r.AllNames = false // there are too many globals to be listed
	}
	f.Hint = meant(r)
	if hint := otherwise(r, req); hint != "" {
		f.Hint = hint
	}
}

func unknownGlobal(f *Finding, r raw, req Request) {
	r.AllNames = false
	f.Kind, f.Message, f.Hint = UnknownVariable, fmt.Sprintf("'%s' does not exist", r.Name), meant(r)
	if hint := otherwise(r, req); hint != "" {
		f.Hint = hint
	}
}

// What other Luas and Luaus have, and scripts here have not.
var elsewhere = map[string]string{
	"io":         "scripts have no io library",
	"load":       "code cannot be made while a script runs",
	"loadstring": "code cannot be made while a script runs",
	"loadfile":   "code comes from modules: require",
	"dofile":     "code comes from modules: require",
	"console":    "print(...) writes to the log",
	"null":       "nil is the value for nothing",
	"wait":       "local async = require(\"async\"), then async.sleep",
	"task":       "local async = require(\"async\"), then async.spawn",
}

// otherwise is a hint for a global that is known not to exist.
func otherwise(r raw, req Request) string {
	if r.Path != r.Name && r.Path != "" {
		return ""
	}
	if slices.Contains(req.Modules.Names, r.Name) {
		return fmt.Sprintf("it is a module: local %s = require(%q)", r.Name, r.Name)
	}
	hint := elsewhere[r.Name]
	if strings.Contains(hint, "require") && !slices.Contains(req.Modules.Names, "async") {
		return ""
	}
	return hint
}

func unknownField(f *Finding, r raw, _ Request) {
	f.Kind, f.Severity = UnknownField, severityOfArgument(r)
	name := r.Field
	if name == "" {
		name = r.Name
	}
	f.Message, f.Hint = about(r, fmt.Sprintf("field '%s' does not exist", name)), meant(r)
}

func extraField(f *Finding, r raw, _ Request) {
	f.Kind, f.Severity = UnknownField, severityOfArgument(r)
	f.Message = about(r, fmt.Sprintf("%s not exist", fieldsDo(r)))
	f.Hint = takes(r)
}

// maybeMissing is a field that not all of several types have.
func maybeMissing(f *Finding, r raw, _ Request) {
	f.Kind, f.Message = UnknownField, about(r, fmt.Sprintf("not every value it may be has a field '%s'", r.Name))
	f.Hint = "it may be " + typed(r.Given)
}

func missingField(f *Finding, r raw, _ Request) {
	f.Kind, f.Severity = MissingField, severityOfArgument(r)
	is := "is"
	if len(r.Names) > 1 {
		is = "are"
	}
	f.Message = about(r, fmt.Sprintf("%s %s missing", fieldList(r), is))
	f.Hint = takes(r)
}

func takes(r raw) string {
	switch {
	case r.Wanted == "":
		return ""
	case r.Path == "":
		return "wanted is " + typed(r.Wanted)
	}
	return "it takes " + typed(r.Wanted)
}

func fieldsDo(r raw) string {
	if len(r.Names) > 1 {
		return fieldList(r) + " do"
	}
	return fieldList(r) + " does"
}

// fieldList is "field 'a'" or "fields 'a', 'b'", each with the path to it.
func fieldList(r raw) string {
	const most = 10
	var names []string
	for _, name := range r.Names[:min(len(r.Names), most)] {
		if r.Field != "" {
			name = r.Field + "." + name
		}
		names = append(names, "'"+name+"'")
	}
	if len(r.Names) > most {
		names = append(names, "...")
	}
	if len(names) == 1 {
		return "field " + names[0]
	}
	return "fields " + strings.Join(names, ", ")
}

// what is the field, or the argument, that a mismatch is about.
func what(r raw) string {
	switch {
	case r.Field != "":
		return fmt.Sprintf("field '%s' wants", r.Field)
	case r.Path != "":
		return "the argument wants"
	}
	return "wanted is"
}

func typeMismatch(f *Finding, r raw, _ Request) {
	f.Kind = TypeMismatch
	f.Message = about(r, fmt.Sprintf("%s %s, got %s", what(r), typed(r.Wanted), typed(r.Given)))
	if name := nearText(r); name != "" {
		f.Hint = fmt.Sprintf("did you mean %s?", name)
	} else if len(r.Names) > 0 && len(r.Names) < 4 && r.Path != "" {
		f.Hint = fmt.Sprintf("give a table: { %s = ... }", strings.Join(r.Names, " = ..., "))
	}
}

// nearText is the wanted text that a given one looks like: `"open"` for `"opn"`.
func nearText(r raw) string {
	if !strings.HasPrefix(r.Given, `"`) {
		return ""
	}
	options := strings.FieldsFunc(r.Wanted, func(c rune) bool { return strings.ContainsRune(" |()?", c) })
	options = slices.DeleteFunc(options, func(s string) bool { return !strings.HasPrefix(s, `"`) })
	return near(r.Given, options)
}

func maybeNil(f *Finding, r raw, _ Request) {
	f.Kind = MaybeNil
	switch {
	case r.Wanted != "":
		f.Message = about(r, fmt.Sprintf("%s %s, got %s, which may be nil", what(r), typed(r.Wanted), typed(r.Given)))
	case r.Path != "":
		f.Message = fmt.Sprintf("%s may be nil: it is %s", r.Path, typed(r.Given))
		if !strings.Contains(r.Path, "(") {
			f.Hint = fmt.Sprintf("look first: if %s then", r.Path)
		}
	default:
		f.Message = "this may be nil: it is " + typed(r.Given)
	}
}

func argumentCount(f *Finding, r raw, _ Request) {
	f.Kind = ArgumentCount
	name := r.Path
	if name == "" {
		name = r.Name
	}
	if name == "" {
		name = "the function"
	}
	f.Message = fmt.Sprintf("%s takes %s, got %s", name, counted(r.Wanted, "argument"), given(r.Given))
}

func counted(number, noun string) string {
	if most, found := strings.CutPrefix(number, "0 to "); found {
		number = "at most " + most
	}
	if number == "1" || strings.HasSuffix(number, " 1") && !strings.Contains(number, "to") {
		return number + " " + noun
	}
	return number + " " + noun + "s"
}

func given(number string) string {
	if number == "0" {
		return "none"
	}
	return number
}

func valueCount(f *Finding, r raw, _ Request) {
	f.Kind, f.Message = ArgumentCount, fmt.Sprintf("wanted is %s, got %s", counted(r.Wanted, "value"), given(r.Given))
}

func notAFunction(f *Finding, r raw, _ Request) {
	f.Kind = NotAFunction
	name := r.Path
	if name == "" {
		name = "this"
	}
	f.Message = fmt.Sprintf("%s is not a function here: it is %s", name, typed(r.Given))
	if r.Wanted == "" {
		return
	}
	f.Hint = fmt.Sprintf("the local %s of line %s hides the function: give the local another name", r.Path, r.Wanted)
	if r.Given == "string" || r.Given == "number" || r.Given == "boolean" || strings.HasPrefix(r.Given, "{") {
		f.Severity = Error // the call can only fail
	}
}

func newGlobal(f *Finding, r raw, _ Request) {
	f.Kind = NewGlobal
	f.Message, f.Hint = fmt.Sprintf("'%s' is no local variable", r.Name), fmt.Sprintf("write local %s", r.Name)
}

func newField(f *Finding, r raw, _ Request) {
	f.Kind, f.Message = NewField, about(r, fmt.Sprintf("field '%s' is not part of %s", r.Name, typed(r.Given)))
	if name := near(r.Name, r.Names); name != "" {
		f.Hint = fmt.Sprintf("did you mean '%s'?", name)
	}
}

func unknownType(f *Finding, r raw, _ Request) {
	f.Kind, f.Message = UnknownType, fmt.Sprintf("type '%s' does not exist", r.Name)
	r.Names = []string{"number", "string", "boolean", "any", "thread", "buffer", "unknown", "never", "vector"}
	f.Hint = meant(r)
}

func unknownModule(f *Finding, r raw, req Request) {
	f.Kind, f.Message = UnknownModule, fmt.Sprintf("module '%s' was not found", r.Name)
	if r.Name == "" {
		f.Message = "require takes the name of a module as it is written, in quotes"
	}
	if name := near(r.Name, req.Modules.Names); name != "" && name != r.Name {
		f.Hint = fmt.Sprintf("did you mean '%s'?", name)
	} else if r.Message != "" {
		f.Message += ": " + clip(oneLine(r.Message), longestText)
	}
}

func moduleCycle(f *Finding, r raw, _ Request) {
	f.Kind, f.Message = UnknownModule, "modules require each other: "+clip(strings.Join(r.Names, " -> "), longestText)
}

func compare(f *Finding, r raw, _ Request) {
	f.Kind, f.Message = TypeMismatch, fmt.Sprintf("%s and %s are never equal", typed(r.Wanted), typed(r.Given))
	if name := nearText(r); name != "" {
		f.Hint = fmt.Sprintf("did you mean %s?", name)
	}
}

func methodCall(hint string) func(*Finding, raw, Request) {
	return func(f *Finding, r raw, _ Request) {
		f.Kind, f.Message, f.Hint = MethodCall, about(r, "the call passes the wrong first argument"), hint
	}
}

func noReturn(f *Finding, _ raw, _ Request) {
	f.Kind, f.Message = Other, "not every way through this function returns a value"
}

func tooComplex(f *Finding, r raw, _ Request) {
	f.Kind, f.Message = TooComplex, about(r, "this is too complex to be type-checked")
}
