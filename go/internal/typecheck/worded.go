package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/visible"
)

const (
	// mostFindings is how many findings one script is told.
	mostFindings = 50
	// longestType is how much of a type stands in a message.
	longestType = 120
	longestText = 200
	longestName = 100
)

// worded makes findings of what the checker found.
func worded(found []raw, req Request) []Finding {
	if slices.ContainsFunc(found, func(r raw) bool { return r.Kind == "syntax" }) {
		return syntax(found, req)
	}
	var list []Finding
	for i, r := range found {
		if repeated(found, i) {
			continue
		}
		f := Finding{Line: r.Line, Column: r.Column, EndLine: r.EndLine, EndColumn: r.EndColumn, Severity: Warning}
		word(&f, r, req)
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	list = slices.Compact(list)
	return list[:min(len(list), mostFindings)]
}

// syntax is what is wrong with a script that the checker cannot parse: nothing, where the engine can, which is newer.
// Types were not looked at then.
func syntax(found []raw, req Request) []Finding {
	err := compiles(req.Source)
	if err == nil {
		return nil
	}
	f := Finding{Line: max(1, err.Line), Column: 1, Severity: Error, Kind: Syntax, Message: oneLine(err.Message)}
	f.EndLine, f.EndColumn = f.Line, f.Column
	for _, r := range found {
		if r.Kind == "syntax" && r.Line == f.Line {
			f.Column, f.EndLine, f.EndColumn = r.Column, r.EndLine, r.EndColumn
			break
		}
	}
	return []Finding{f}
}

// repeated says whether another finding says the same better: a field that is missing since it is misspelled, one too
// many that is known to be unknown, a table that does not fit since a field does not.
func repeated(found []raw, i int) bool {
	r := found[i]
	for j, other := range found {
		inside := other.Line > r.Line || other.Line == r.Line && other.Column >= r.Column
		if i == j || other.Path != r.Path || !inside || other.Line > r.EndLine {
			continue
		}
		within := other.Field != "" && parent(other.Field) == r.Field
		switch {
		case r.Kind == "missing_field" && other.Kind == "unknown_field" && within:
			if len(r.Names) == 1 && near(other.Name, r.Names) == r.Names[0] {
				return true
			}
		case r.Kind == "extra_field" && other.Kind == "unknown_field" && within:
			if slices.Contains(r.Names, other.Name) {
				return true
			}
		case r.Kind == "type_mismatch" && within, r.Kind == "type_mismatch" && other.Kind == "missing_field" && other.Field == r.Field:
			return true
		}
	}
	return false
}

func parent(field string) string {
	at := strings.LastIndexAny(field, ".]")
	if at < 0 {
		return ""
	}
	if field[at] == ']' {
		at++
	}
	return field[:at]
}

// word fills in what a finding says.
func word(f *Finding, r raw, req Request) {
	r.Path, r.Field, r.Name = clip(r.Path, longestName), clip(r.Field, longestName), clip(r.Name, longestName)
	if say, ok := words[r.Kind]; ok {
		say(f, r, req)
	} else {
		f.Kind, f.Message = Other, about(r, clip(oneLine(r.Message), longestText))
	}
	f.Message, f.Hint = visible.Line(oneLine(f.Message)), visible.Line(oneLine(f.Hint))
}

// words are what fills in each kind of the checker's.
var words = map[string]func(*Finding, raw, Request){
	"unknown_function": unknownFunction,
	"unknown_global":   unknownGlobal,
	"unknown_field":    unknownField,
	"extra_field":      extraField,
	"maybe_missing":    maybeMissing,
	"missing_field":    missingField,
	"type_mismatch":    typeMismatch,
	"maybe_nil":        maybeNil,
	"argument_count":   argumentCount,
	"value_count":      valueCount,
	"not_a_function":   notAFunction,
	"new_global":       newGlobal,
	"new_field":        newField,
	"unknown_type":     unknownType,
	"unknown_module":   unknownModule,
	"module_cycle":     moduleCycle,
	"compare":          compare,
	"dot":              methodCall("call it with a dot, not with a colon"),
	"colon":            methodCall("call it with a colon, not with a dot"),
	"no_return":        noReturn,
	"too_complex":      tooComplex,
}

// about puts what a message is about before it.
func about(r raw, message string) string {
	if r.Path == "" {
		return message
	}
	return r.Path + ": " + message
}

func severity(r raw) Severity {
	if r.Declared {
		return Error
	}
	return Warning
}

// severityOfArgument is that of a table which lacks a field, or has one too many. Only a function that is declared needs
// the table as it is declared: a list of results of different types, or a variable that gets one after the other, is of
// the first one's type for the checker, and works all the same.
func severityOfArgument(r raw) Severity {
	if r.Path == "" || generic[r.Path] {
		return Warning
	}
	return severity(r)
}

// generic are the functions of Luau that take values of whatever type the first one is.
var generic = map[string]bool{
	"table.insert": true, "table.find": true, "table.move": true, "table.create": true, "table.concat": true, "table.pack": true,
	"rawset": true, "rawequal": true, "setmetatable": true, "select": true, "assert": true, "pcall": true, "xpcall": true,
}

func near(name string, names []string) string { return spelling.Nearest(name, names) }

// meant is a hint at the name that was meant, or at those that there are.
func meant(r raw) string {
	if name := near(r.Name, r.Names); name != "" {
		return fmt.Sprintf("did you mean '%s'?", name)
	}
	const few = 8
	if !r.AllNames || len(r.Names) == 0 || len(r.Names) > few {
		return ""
	}
	return "there is " + strings.Join(r.Names, ", ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func clip(text string, most int) string { return spelling.Clip(text, most) }

// typed is a type as a message has it.
func typed(text string) string {
	if cut, _, found := strings.Cut(text, "... *TRUNCATED*"); found {
		text = cut + "..."
	}
	return clip(oneLine(text), longestType)
}
