package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hukilau/hukilau/go/internal/units"
)

// Action is what becomes of a call.
type Action string

// The actions.
const (
	Allow   Action = "allow"
	Approve Action = "approve" // an operator is asked
	Deny    Action = "deny"
)

// Annotation is what a tool says of itself, or does not say.
type Annotation string

// The annotations that a rule can ask for. What a tool does not say counts as MCP has it: it may destroy, and it
// may reach the open world.
const (
	Destructive Annotation = "destructive"
	ReadOnly    Annotation = "read_only"
	NotReadOnly Annotation = "not_read_only"
	OpenWorld   Annotation = "open_world"
)

// Rule is one of [[gateway.policy]]: the first one with an action that fits a call decides.
type Rule struct {
	Match      []Pattern // of "source.function"; empty is all
	Annotation Annotation
	Args       map[string]Condition // by JSON pointer
	Action     Action               // "": it only bounds the rate, and later rules decide
	Rate       units.Rate
	Reason     string // for whoever is refused
	Line       int    // in the file
}

func readRule(t *table) Rule {
	line, _ := t.reader.places.find(t.path)
	r := Rule{
		Match:      t.patterns("match", true),
		Annotation: Annotation(t.oneOf("annotation", string(Destructive), string(ReadOnly), string(NotReadOnly), string(OpenWorld))),
		Args:       readConditions(t.section("args")),
		Action:     Action(t.oneOf("action", string(Allow), string(Approve), string(Deny))),
		Rate:       t.rate("rate"), Reason: t.string("reason"), Line: line,
	}
	for _, p := range r.Match {
		if p != "" && !strings.ContainsAny(string(p), ".*") {
			t.fail("match", t.reader.redacted(fmt.Sprintf(`has %.60q, which fits nothing: write source.function, as "github.delete_*"`, p)))
		}
	}
	if !t.has("match") && !t.has("annotation") && len(r.Args) == 0 {
		t.reader.fail(t.path, `needs match, annotation or args: which calls it is about; match = "*" is all`)
	}
	if !t.has("action") && !t.has("rate") {
		t.reader.fail(t.path, "needs action: one of allow, approve, deny")
	}
	if t.has("rate") && r.Action == Deny {
		t.fail("rate", "has no meaning where the action is deny")
	}
	t.end()
	return r
}

func readConditions(t *table) map[string]Condition {
	list := map[string]Condition{}
	for _, pointer := range sortedNames(t.values) {
		if problem := pointerProblem(pointer); problem != "" {
			t.fail(pointer, problem)
		}
		if _, is := t.values[pointer].(map[string]any); !is {
			t.fail(pointer, "must be a table, as { equals = 1 }; known are equals, matches, in, max")
			continue
		}
		list[pointer] = readCondition(t.section(pointer))
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// pointerProblem says what is wrong with a JSON pointer.
func pointerProblem(pointer string) string {
	if !strings.HasPrefix(pointer, "/") {
		return `must be a JSON pointer to an argument, as "/amount" or "/issue/labels/0"`
	}
	for _, rest := range strings.Split(pointer, "~")[1:] {
		if rest == "" || rest[0] != '0' && rest[0] != '1' {
			return `has a "~" that is neither ~0, for itself, nor ~1, for "/"`
		}
	}
	return ""
}

// mostPattern is the longest expression; the time that one takes grows with it.
const mostPattern = 4096

func readCondition(t *table) Condition {
	c := Condition{Equals: t.any("equals"), In: t.list("in")}
	if text := t.string("matches"); t.has("matches") {
		c.Matches = t.expression("matches", text)
	}
	c.Max, c.MaxIsSaid = value[float64](t, "max", "a number")
	if len(t.values) == 0 {
		t.reader.fail(t.path, "needs a condition: one of equals, matches, in, max")
	}
	t.end()
	return c
}

// expression fits a text from end to end.
func (t *table) expression(key, text string) *regexp.Regexp {
	if len(text) > mostPattern {
		t.fail(key, fmt.Sprintf("is longer than %d bytes", mostPattern))
		return nil
	}
	if _, err := regexp.Compile(text); err != nil { // as it stands: "a)|(b" would be right with brackets around it
		t.fail(key, t.reader.redacted("is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
		return nil
	}
	whole, err := regexp.Compile(`(?s)\A(?:` + text + `)\z`)
	if err != nil {
		t.fail(key, `is not complete in itself: end \Q with \E`)
	}
	return whole
}
