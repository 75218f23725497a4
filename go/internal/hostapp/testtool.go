package hostapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/units"
)

// ToolTest is a test of the tools of one file.
type ToolTest struct {
	File   string
	Tool   string   // one of the file; "": all
	Source string   // name of a [tools.script] whose configuration the tool has; "": its own
	Params []string // name=value; with JSON, one call in place of the examples
	JSON   string
	Record string // file that gets what the tools hear from the world; "": none
	Replay string // file that gives it back; "": none
	Told   io.Writer
	// Check is told of each step, as it is done.
	Check func(Step)
}

// Step is one line of a test.
type Step struct {
	Heading bool // it names a tool
	Failed  bool
	Note    bool // it is neither well nor failed
	Text    string
	Result  string // of the last call, JSON
}

// TestTools tests the tools of a file; false when a step failed. The project was opened with that file.
func (p *Project) TestTools(ctx context.Context, t ToolTest) (bool, error) {
	path, err := filepath.Abs(t.File)
	if err != nil {
		return false, err
	}
	tools, broken := p.ofFile(path)
	if err := p.replaceForTest(tools, t.Source); err != nil {
		return false, err
	}
	tape, err := p.openTape(t, tools)
	if err != nil {
		return false, err
	}
	host, err := p.NewHost(ctx, HostOptions{InMemory: true, tape: tape})
	if err != nil {
		return false, err
	}
	defer host.Close()
	ok, found := true, false
	for _, b := range broken {
		if t.Tool == "" || b.Name == t.Tool {
			t.Check(Step{Heading: true, Text: fmt.Sprintf("Testing tool: %s (%s)", orWord(b.Name, "?"), p.Shown(b.File))})
			t.Check(Step{Failed: true, Text: b.Err.Error()})
			ok, found = false, true
		}
	}
	for _, tool := range tools {
		if t.Tool == "" || tool.Name == t.Tool {
			found = true
			good, err := host.testTool(ctx, tool, t)
			if err != nil {
				return false, err
			}
			ok = ok && good
		}
	}
	if !found {
		return false, noSuchTest(t, tools)
	}
	return ok, tape.save(t.Check)
}

func orWord(text, word string) string {
	if text == "" {
		return word
	}
	return text
}

func noSuchTest(t ToolTest, tools []*tooldef.Tool) error {
	if t.Tool == "" || len(tools) == 0 {
		return fmt.Errorf("%s defines no tool: a YAML file needs `name` and `lua`, a Lua file a global `tool`", t.File)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return &usageError{fmt.Sprintf("%s has no tool %q; it has %s", t.File, t.Tool, strings.Join(names, ", "))}
}

// ofFile are the tools and the broken definitions of one file.
func (p *Project) ofFile(path string) (tools []*tooldef.Tool, broken []tooldef.Broken) {
	is := func(file string) bool {
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.Folder, filepath.FromSlash(file))
		}
		return file == path
	}
	for _, t := range p.Set().Tools() {
		if is(t.File) {
			tools = append(tools, t)
		}
	}
	for _, b := range p.Set().Errors() {
		if is(b.File) {
			broken = append(broken, b)
		}
	}
	return tools, broken
}

// replaceForTest gives tools the configuration of a [tools.script], where one is named. Who tests a tool need not
// ask for its approval, nor wait for its rate.
func (p *Project) replaceForTest(tools []*tooldef.Tool, source string) error {
	script, known := p.Config().Tools.Scripts[source]
	if source != "" && !known {
		return &usageError{fmt.Sprintf("--source %s: there is no [tools.script.%s] in the configuration", source, source)}
	}
	for _, t := range tools {
		changed := *t
		changed.Approve, changed.Rate = false, tooldef.Rate{}
		if known {
			changed.Config = tooldef.Script{Config: script.Config}.ConfigOf(t)
		}
		if script.Timeout > 0 {
			changed.Timeout = script.Timeout
		}
		p.replaced = append(p.replaced, &changed)
	}
	return nil
}

// testTool checks one tool, and calls it with the given arguments or with those of its examples.
func (h *Host) testTool(ctx context.Context, tool *tooldef.Tool, t ToolTest) (bool, error) {
	t.Check(Step{Heading: true, Text: fmt.Sprintf("Testing tool: %s (%s)", tool.Name, h.Project.Shown(tool.File))})
	t.Check(Step{Text: "Script loaded"})
	entry := "invoke"
	if tool.Dialect == tooldef.Execute {
		entry = "tool.execute"
	}
	t.Check(Step{Text: entry + " defined"})
	document, _ := tool.Params.Document().(map[string]any)
	properties, _ := document["properties"].(map[string]any)
	t.Check(Step{Text: Counted(len(properties), "parameter") + " declared"})
	if len(t.Params) > 0 || t.JSON != "" || len(tool.Examples) == 0 {
		args, err := ParseParams(tool.Params.Document(), t.Params, t.JSON)
		if err != nil {
			return false, err
		}
		if problem := withoutArguments(tool, t); problem != "" {
			t.Check(Step{Failed: true, Text: problem})
			return false, nil
		}
		return h.testCall(ctx, tool, t, strings.TrimPrefix(entry, "tool."), args), nil
	}
	ok := true
	for i, example := range tool.Examples {
		ok = h.testExample(ctx, tool, t, i, example) && ok
	}
	return ok, nil
}

// Counted is a number of things in words.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// withoutArguments says why a tool cannot be called although nobody said with what; "" when it can.
func withoutArguments(tool *tooldef.Tool, t ToolTest) string {
	if len(t.Params) > 0 || t.JSON != "" {
		return ""
	}
	violations := tool.Params.Validate(tool.Params.Defaults(map[string]any{}))
	if len(violations) == 0 {
		return ""
	}
	return "Nothing to call it with: it has no examples, and without arguments: " + violations[0].Message +
		"\ngive arguments, as --param name=value, or write examples into the file"
}

func (h *Host) testCall(ctx context.Context, tool *tooldef.Tool, t ToolTest, entry string, args map[string]any) bool {
	shown, err := jsonvalue.Encode(args)
	if err != nil {
		t.Check(Step{Failed: true, Text: err.Error()})
		return false
	}
	t.Check(Step{Text: fmt.Sprintf("Calling %s(%s)...", entry, h.Project.redact(string(shown)))})
	ctx, end, err := h.tape.begin(ctx, tool.Name, "", args)
	if err != nil {
		t.Check(Step{Failed: true, Text: err.Error()})
		return false
	}
	began := time.Now()
	result, err := h.call(ctx, ToolCall{Name: tool.Name, Told: t.Told}, args)
	whole := end(t.Check)
	if err != nil {
		t.Check(Step{Failed: true, Text: h.failureText(err)})
		return false
	}
	t.Check(Step{Text: "Returned result in " + units.ShortDuration(time.Since(began)), Result: result.Text})
	return whole
}

// failureText is the error of a call with its code, and with the traceback where it is a script's.
func (h *Host) failureText(err error) string {
	var failed *toolhost.Error
	if !errors.As(err, &failed) {
		return err.Error()
	}
	text := fmt.Sprintf("%s: %s", failed.Code, h.Project.redact(placed(failed.Path, failed.Message)))
	if script := toolhost.ScriptError(failed); script != nil {
		h.Project.showPlaces(script)
		text += strings.TrimRight("\n"+script.Traceback(), "\n")
	}
	return text
}

func (h *Host) testExample(ctx context.Context, tool *tooldef.Tool, t ToolTest, i int, example tooldef.Example) bool {
	name := example.Name
	if name == "" {
		name = fmt.Sprint(i + 1)
	}
	args, _ := copied(example.Args).(map[string]any)
	ctx, end, err := h.tape.begin(ctx, tool.Name, name, args)
	if err != nil {
		t.Check(Step{Failed: true, Text: fmt.Sprintf("Example %s (%s:%d): %s", name, h.Project.Shown(tool.File), example.Line, err)})
		return false
	}
	began := time.Now()
	answer, failed := h.Call(ctx, toolhost.Request{
		Tool: tool.Name, Value: args, Caller: toolhost.Caller{Name: "cli", Face: "cli", Session: fmt.Sprintf("example %s %d", tool.Name, i)},
	})
	whole := end(t.Check)
	problem := h.exampleProblem(example, answer, failed)
	if problem != "" {
		t.Check(Step{Failed: true, Text: fmt.Sprintf("Example %s (%s:%d): %s", name, h.Project.Shown(tool.File), example.Line, problem)})
		return false
	}
	t.Check(Step{Text: fmt.Sprintf("Example %s (%s)", name, units.ShortDuration(time.Since(began)))})
	return whole
}

// exampleProblem says what is not as the example says; "" when all is.
func (h *Host) exampleProblem(example tooldef.Example, answer *toolhost.Answer, failed *toolhost.Error) string {
	switch {
	case failed != nil && example.Error == "":
		return h.failureText(failed)
	case failed != nil && string(failed.Code) != example.Error && failed.Detail != example.Error:
		return fmt.Sprintf("the error must be %s, got %s", example.Error, h.failureText(failed))
	case failed != nil:
		return ""
	case example.Error != "":
		return fmt.Sprintf("the error must be %s, got the result %s", example.Error, answer.JSON)
	case example.Any:
		return ""
	}
	got, err := jsonvalue.Decode(answer.JSON, jsonvalue.Options{})
	if err != nil {
		return err.Error()
	}
	if reflect.DeepEqual(got, example.Want) {
		return ""
	}
	want, err := jsonvalue.Encode(example.Want)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("the result must be %s, got %s", want, answer.JSON)
}

// copied is a tree of its own: a call may change its arguments.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		made := make(map[string]any, len(v))
		for name, item := range v {
			made[name] = copied(item)
		}
		return made
	case []any:
		made := make([]any, len(v))
		for i, item := range v {
			made[i] = copied(item)
		}
		return made
	}
	return v
}
