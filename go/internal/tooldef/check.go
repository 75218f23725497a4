package tooldef

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Severity is how much a finding matters.
type Severity int

// The severities.
const (
	Note    Severity = iota // could be better
	Warning                 // will probably fail, or grants too much
	Failure                 // does not work
)

// String is the severity's name in lower case.
func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// Finding is one thing that is wrong with a tool, or might be.
type Finding struct {
	Severity Severity
	Tool     string // name of the tool; "" when unknown
	File     string
	Line     int // 0 when unknown
	Message  string
	Grant    *Grant // what would grant what the script needs; nil is nothing
}

// Grant is one entry of a permission.
type Grant struct {
	Key     string // as in [tools.policy.<name>]: "net"
	Value   string // "" when the script does not say what, or it is too much: a person has to
	Outside bool   // a folder that is not below the configuration's
}

// Known is what is known of a project beside its tools. A nil list of names is not known: nothing is said of such
// names.
type Known struct {
	Models  []string
	Tools   []string    // beside those of the set
	Granted Permissions // to every tool
	// Resolver is as in Options; nil: nothing is said of what scripts require.
	Resolver func(chunk string) (engine.Resolver, error)
}

// Check gives the errors of a set and what is to be said about its tools, by file and line.
func (s *Set) Check(known Known) []Finding {
	if known.Tools != nil {
		known.Tools = slices.Concat(known.Tools, s.names())
	}
	modules := modules{resolverOf: known.Resolver, seen: map[string]*moduleInfo{}}
	var list []Finding
	for _, b := range s.broken {
		list = append(list, Finding{Severity: Failure, Tool: b.Name, File: b.File, Line: b.Line, Message: messageOf(b.Err)})
	}
	for _, tool := range s.tools {
		if !tool.Stale {
			list = append(list, s.check(tool, known)...)
			list = append(list, unknownNames(tool, known)...)
			list = append(list, modules.check(tool)...)
		}
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list
}

// names are those of the tools of a set, and of what would be tools.
func (s *Set) names() (names []string) {
	for _, tool := range s.tools {
		names = append(names, tool.Name)
	}
	for _, b := range s.broken {
		if b.Name != "" {
			names = append(names, b.Name)
		}
	}
	return names
}

// unknownNames are models and tools that a tool means to use and that do not exist.
func unknownNames(t *Tool, known Known) []Finding {
	c := checker{tool: t}
	look := func(where, what string, names, among []string) {
		for _, name := range names {
			if among == nil || len(c.list) >= maxErrors || name == "*" || slices.Contains(among, name) {
				continue
			}
			hint := ""
			if near := spelling.Nearest(name, among); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			c.add(Warning, t.File, t.Line, "%s names %q, and there is no such %s%s", where, clip(name), what, hint)
		}
	}
	granted := t.Permissions
	if t.Agent != nil {
		look("agent.model", "model", []string{t.Agent.Model}, known.Models)
		look("agent.tools", "tool", t.Agent.Tools, known.Tools)
		ofAgent := func(name string) bool { return name == t.Agent.Model || slices.Contains(t.Agent.Tools, name) }
		granted.Models = slices.DeleteFunc(slices.Clone(granted.Models), ofAgent)
		granted.Tools = slices.DeleteFunc(slices.Clone(granted.Tools), ofAgent)
	}
	look("permissions.models", "model", granted.Models, known.Models)
	look("permissions.tools", "tool", granted.Tools, known.Tools)
	return c.list
}

// messageOf is an error without its place, where that is the finding's.
func messageOf(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.Hint == "" {
		return e.Problem
	}
	return e.Problem + "; " + e.Hint
}

// check looks at a tool without running it. What a script reaches is read from its tokens: a name that is made at
// run time cannot be seen.
func (s *Set) check(t *Tool, known Known) []Finding {
	c := newChecker(t)
	c.folder, c.known, c.list = s.root, known, slices.Clone(t.findings)
	c.texts()
	c.entry()
	c.defaults()
	c.examples()
	if t.Agent == nil { // else what it reaches stands in its file
		c.permissions()
	}
	return c.list
}

type checker struct {
	tool   *Tool
	known  Known
	names  *names
	script string
	folder string // of the configuration, absolute
	list   []Finding
}

func newChecker(t *Tool) *checker {
	return &checker{tool: t, names: scan(t.Chunk, t.Source), script: strings.TrimPrefix(t.Chunk, "@"), folder: "/"}
}

func (c *checker) add(severity Severity, file string, line int, format string, args ...any) *Finding {
	c.list = append(c.list, Finding{Severity: severity, Tool: c.tool.Name, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
	return &c.list[len(c.list)-1]
}

// texts are what a model chooses a tool by.
func (c *checker) texts() {
	if strings.TrimSpace(c.tool.Description) == "" {
		severity := Warning
		if c.tool.Dialect == Execute { // whose scripts have to have one
			severity = Failure
		}
		c.add(severity, c.tool.File, c.tool.Line, "the tool has no description: a model chooses tools by it")
	}
	doc, _ := c.tool.Params.Document().(map[string]any)
	properties, _ := doc["properties"].(map[string]any)
	for _, name := range sortedKeys(properties) {
		property, ok := properties[name].(map[string]any)
		if text, _ := property["description"].(string); ok && property["$ref"] == nil && strings.TrimSpace(text) == "" {
			c.add(Note, c.tool.File, c.tool.Line, "the parameter %q has no description", clip(name))
		}
	}
}

// CheckEntry says why an invocation would not find the function of a tool; nil when it would, as far as that can be
// seen without running it.
func CheckEntry(t *Tool) *Finding {
	c := newChecker(t)
	if c.entry(); len(c.list) == 0 {
		return nil
	}
	return &c.list[0]
}

// entry looks for the function that an invocation calls. That of a Lua tool was there when it was read.
func (c *checker) entry() {
	if c.tool.Dialect != Invoke {
		if c.names.method > 0 {
			c.add(Failure, c.script, c.names.method, "write tool.execute with a dot: with a colon the parameters are self, and the first name gets the context")
		}
		return
	}
	if _, err := luau.Compile(c.tool.Chunk, c.tool.Source, luau.CompileOptions{}); err != nil {
		c.add(Failure, c.tool.File, c.tool.Line, "the script does not compile: %s", err)
		return
	}
	local, global := c.names.entry()
	switch {
	case global:
	case local > 0:
		c.add(Failure, c.script, local, "invoke is a local: leave the word local out, so that the host finds it")
	default:
		c.add(Failure, c.tool.File, c.tool.Line, "the script defines no function invoke(ctx, args)")
	}
}

// entry looks for what defines invoke: the line of a local, and whether there is a global.
func (n *names) entry() (local int, global bool) {
	depth, hidden := 0, false // a local of the top level hides the global from there on
	for i, t := range n.tokens {
		depth += n.opens(i)
		if n.globalByText(i) {
			return 0, true
		}
		if t.Text != "invoke" || n.is(i-1, ".") && !n.is(i-2, "_G") || n.is(i-1, ":") {
			continue
		}
		switch function, assigned := n.is(i-1, "function"), n.is(i+1, "="); {
		case n.is(i-1, "local"), function && n.is(i-2, "local"):
			local, hidden = t.Line, hidden || depth <= 1 && function || depth == 0
		case (function || assigned) && (!hidden || n.is(i-2, "_G")):
			return 0, true
		}
	}
	return local, false
}

// globalByText says whether the global invoke is set by its name as a text: _G["invoke"] = ..., rawset(_G, "invoke", ...).
func (n *names) globalByText(i int) bool {
	if n.tokens[i].Kind != luaudoc.TokenText {
		return false
	}
	text, _ := n.tokens[i].Quoted()
	return text == "invoke" && (n.is(i-1, "[") && n.is(i-2, "_G") && n.is(i+2, "=") || n.is(i-2, "_G") && n.is(i-4, "rawset"))
}

// opens is how many blocks a token opens: below 0 it ends one.
func (n *names) opens(i int) int {
	switch n.tokens[i].Text {
	case "if":
		if !n.inExpression(i) {
			return 1
		}
	case "function", "do", "repeat":
		return 1
	case "end", "until":
		return -1
	}
	return 0
}

// defaults have to be what they stand for.
func (c *checker) defaults() {
	for _, v := range c.tool.Params.Validate(c.tool.Params.Defaults(map[string]any{})) {
		if v.Keyword != "required" && v.Pointer != "" { // what a call leaves out is no fault of a default
			c.add(Failure, c.tool.File, c.tool.Line, "a default does not fit its schema: %s", v.String())
		}
	}
}

// examples are calls that have to be possible.
func (c *checker) examples() {
	for i, e := range c.tool.Examples {
		label := fmt.Sprintf("example %d", i+1)
		if e.Name != "" {
			label += fmt.Sprintf(" (%s)", clip(e.Name))
		}
		if wrong := c.tool.Params.Validate(c.tool.Params.Defaults(e.Args)); len(wrong) > 0 && e.Error == "" {
			c.add(Failure, c.tool.File, e.Line, "the arguments of %s do not fit params: %s", label, schema.Summary(wrong))
		}
		if e.Any || e.Error != "" || c.tool.Result == nil {
			continue
		}
		if wrong := c.tool.Result.Validate(e.Want); len(wrong) > 0 {
			c.add(Failure, c.tool.File, e.Line, "the result of %s does not fit the schema: %s", label, schema.Summary(wrong))
		}
	}
}
