package hostapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/units"
)

// ToolTest is a test of tools.
type ToolTest struct {
	Target string   // a file, a folder, or the name of a tool; "": all tools of the project
	Tool   string   // one of those; "": all
	Source string   // name of a [tools.script] whose configuration the tool has; "": its own
	Params []string // name=value; with JSON, one call in place of the examples
	JSON   string
	Record string // file that gets what the tools hear from the world; "": none
	Replay string // file that gives it back; "": none
	Told   io.Writer
	// Verbose shows what tools tell in examples that are well, too.
	Verbose bool
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
	Said    string // what the tool told meanwhile
}

// TestTools tests tools; false when a step failed. The project was opened with OpenTest.
func (p *Project) TestTools(ctx context.Context, t ToolTest) (bool, error) {
	set, err := p.testSet(&t)
	if err != nil {
		return false, err
	}
	if err := p.replaceForTest(set.tools, t.Source); err != nil {
		return false, err
	}
	tape, err := p.openTape(t, set.tools)
	if err != nil {
		return false, err
	}
	host, err := p.NewHost(ctx, HostOptions{InMemory: true, tape: tape})
	if err != nil {
		return false, err
	}
	defer host.Close()
	failed := 0
	for _, b := range set.broken {
		t.Check(Step{Heading: true, Text: fmt.Sprintf("Testing tool: %s (%s)", orWord(b.Name, "?"), p.Shown(b.File))})
		t.Check(Step{Failed: true, Text: b.Err.Error()})
		failed++
	}
	for _, tool := range set.tools {
		good, err := host.testTool(ctx, tool, t, set.many)
		if err != nil {
			return false, err
		}
		if !good {
			failed++
		}
	}
	if set.many {
		t.Check(Step{Heading: true, Text: fmt.Sprintf("%s, %d failed", units.Counted(set.size(), "tool"), failed)})
	}
	return failed == 0, tape.save(t.Check)
}

func orWord(text, word string) string {
	if text == "" {
		return word
	}
	return text
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

// testTool checks one tool, and calls it with the given arguments or with those of its examples. One among many that
// has no examples is not called: nobody asked for what it does.
func (h *Host) testTool(ctx context.Context, tool *tooldef.Tool, t ToolTest, many bool) (bool, error) {
	t.Check(Step{Heading: true, Text: fmt.Sprintf("Testing tool: %s (%s)", tool.Name, h.Project.Shown(tool.File))})
	t.Check(Step{Text: "Script loaded"})
	entry := "invoke"
	if tool.Dialect == tooldef.Execute {
		entry = "tool.execute"
	}
	if finding := tooldef.CheckEntry(tool); finding != nil {
		t.Check(Step{Failed: true, Text: h.Project.placeOf(*finding) + ": " + finding.Message})
		return false, nil
	}
	t.Check(Step{Text: entry + " defined"})
	document, _ := tool.Params.Document().(map[string]any)
	properties, _ := document["properties"].(map[string]any)
	t.Check(Step{Text: units.Counted(len(properties), "parameter") + " declared"})
	if err := h.Project.readyFor(tool, t.Source); err != nil {
		t.Check(Step{Failed: true, Text: err.Error()})
		return false, nil
	}
	switch {
	case len(t.Params) > 0 || t.JSON != "" || len(tool.Examples) == 0 && !many:
		return h.testOnce(ctx, tool, t, strings.TrimPrefix(entry, "tool."))
	case len(tool.Examples) == 0:
		t.Check(Step{Note: true, Text: "Not called: it has no examples; give arguments: " + h.Project.withArguments(tool)})
	}
	ok := true
	for i, example := range tool.Examples {
		ok = h.testExample(ctx, tool, t, i, example) && ok
	}
	return ok, nil
}

// testOnce calls a tool with the given arguments.
func (h *Host) testOnce(ctx context.Context, tool *tooldef.Tool, t ToolTest, entry string) (bool, error) {
	args, err := ParseParams(tool.Params.Document(), t.Params, t.JSON)
	if err != nil {
		return false, err
	}
	if problem := h.Project.withoutArguments(tool, t); problem != "" {
		t.Check(Step{Failed: true, Text: problem})
		return false, nil
	}
	return h.testCall(ctx, tool, t, entry, args), nil
}

// withoutArguments says why a tool cannot be called although nobody said with what; "" when it can.
func (p *Project) withoutArguments(tool *tooldef.Tool, t ToolTest) string {
	if len(t.Params) > 0 || t.JSON != "" {
		return ""
	}
	violations := tool.Params.Validate(tool.Params.Defaults(map[string]any{}))
	if len(violations) == 0 {
		return ""
	}
	return "Nothing to call it with: it has no examples, and without arguments: " + violations[0].Message +
		"\nwrite examples into the file, or give arguments: " + p.withArguments(tool)
}

func (h *Host) testCall(ctx context.Context, tool *tooldef.Tool, t ToolTest, entry string, args map[string]any) bool {
	shown, err := shownArgs(t, args)
	if err != nil {
		t.Check(Step{Failed: true, Text: err.Error()})
		return false
	}
	t.Check(Step{Text: fmt.Sprintf("Calling %s(%s)...", entry, h.Project.redact(shown))})
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
	var said memo
	answer, failed := h.Call(ctx, toolhost.Request{
		Tool: tool.Name, Value: args, Caller: toolhost.Caller{Name: "cli", Face: "cli", Session: fmt.Sprintf("example %s %d", tool.Name, i)},
		Sink: &teller{w: &said, redact: h.Project.redact},
	})
	whole := end(t.Check)
	problem := h.exampleProblem(example, answer, failed)
	if problem != "" {
		t.Check(Step{Failed: true, Text: fmt.Sprintf("Example %s (%s:%d): %s", name, h.Project.Shown(tool.File), example.Line, problem), Said: said.String()})
		return false
	}
	good := Step{Text: fmt.Sprintf("Example %s (%s)", name, units.ShortDuration(time.Since(began)))}
	if t.Verbose {
		good.Said = said.String()
	}
	t.Check(good)
	return whole
}

// maxSaid is how much of what a tool tells in an example is shown, in bytes.
const maxSaid = 64 << 10

// memo keeps the beginning of what is written.
type memo struct {
	mu   sync.Mutex
	text []byte
	more bool
}

// Write implements io.Writer.
func (m *memo) Write(text []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.text)+len(text) > maxSaid {
		m.more = true
	}
	if !m.more {
		m.text = append(m.text, text...)
	}
	return len(text), nil
}

func (m *memo) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.more {
		return string(m.text) + "... and more"
	}
	return strings.TrimSuffix(string(m.text), "\n")
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
