package luau

import (
	"fmt"
	"strings"
)

// Subject is what a failed operation was about: the expression in the source whose value was not fit for
// it. Luau's own message, which a script can catch, does not name it.
type Subject struct {
	Kind  string   // "global", "local", "upvalue", "field", "method", "element", "result" or "literal"
	Expr  string   // as "json.stringify"
	Type  string   // of its value, as "nil"
	Owner string   // of a field or method, the expression in front, as "json"
	Key   string   // of a field, method or global, as "stringify"
	Near  string   // the owner's name, or the global, that Key looks like; empty when none does
	Names []string // the first names that the owner has, in order; empty for a global
	Count int      // how many there are
}

// String is one line about it for a person, as `json has no "stringify": it has decode, encode`.
func (s *Subject) String() string {
	if s.Type != "nil" {
		return fmt.Sprintf("%s is of type %s", s.Expr, s.Type)
	}
	switch s.Kind {
	case "global":
		return fmt.Sprintf("there is no global %q%s", s.Key, s.suggestion(""))
	case "field":
		return fmt.Sprintf("%s has no %q%s", s.Owner, s.Key, s.suggestion(s.Owner+"."))
	case "method":
		return fmt.Sprintf("%s has no method %q%s", s.Owner, s.Key, s.suggestion(s.Owner+":"))
	}
	return s.Expr + " is nil"
}

func (s *Subject) suggestion(prefix string) string {
	switch {
	case s.Near != "":
		return fmt.Sprintf("; did you mean %s%s?", prefix, s.Near)
	case len(s.Names) == 0:
		return ""
	case s.Count > len(s.Names):
		return "; it has " + strings.Join(s.Names, ", ") + " ..."
	}
	return "; it has " + strings.Join(s.Names, ", ")
}

// readSubject reads that part of an error record; nil when nothing is known.
func readSubject(v any) *Subject {
	parts, _ := v.([]any)
	if len(parts) != 8 {
		return nil
	}
	s := &Subject{}
	for i, to := range []*string{&s.Kind, &s.Expr, &s.Type, &s.Owner, &s.Key, &s.Near} {
		*to, _ = parts[i].(string)
	}
	names, _ := parts[6].([]any)
	for _, name := range names {
		if text, ok := name.(string); ok {
			s.Names = append(s.Names, text)
		}
	}
	count, _ := parts[7].(float64)
	s.Count = int(count)
	return s
}
