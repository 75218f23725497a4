package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/typecheck"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Finding is something that the type checker has to say about a script.
type Finding struct {
	Line, Column int
	Message      string
	Fatal        bool // the call cannot work
}

// Checker looks at a script before it runs.
type Checker interface {
	Check(ctx context.Context, script string, c *catalog.Catalog) ([]Finding, error)
}

// scriptChunk is the name of scripts in errors.
const scriptChunk = "=script"

// ready compiles and checks a script. The warnings are for whoever wrote it.
func (g *Gateway) ready(ctx context.Context, source string, mustSay bool) (script *sdkmod.Script, warnings []string, err error) {
	if len(source) > g.options.MaxScript {
		return nil, nil, &toolhost.Error{Code: toolhost.TooLarge, Message: fmt.Sprintf("the script has %d bytes; at most %d are allowed", len(source), g.options.MaxScript)}
	}
	code, err := engine.Compile(scriptChunk, source)
	if err != nil {
		return nil, nil, notCompiled(err)
	}
	if warnings, err = g.check(ctx, source); err != nil {
		return nil, nil, err
	}
	return &sdkmod.Script{Chunk: scriptChunk, Code: code, MustSay: mustSay}, warnings, nil
}

func notCompiled(err error) error {
	failed := &toolhost.Error{Code: toolhost.ToolError, Message: err.Error(), Detail: "compile"}
	var where *luau.Error
	if errors.As(err, &where) && where.Line > 0 {
		failed.Message = fmt.Sprintf("script:%d: %s", where.Line, where.Message)
	}
	return failed
}

// check asks the type checker. What cannot work is an error, and nothing has run.
func (g *Gateway) check(ctx context.Context, source string) (warnings []string, err error) {
	if g.options.Checker == nil || g.options.Check == config.CheckOff {
		return nil, nil
	}
	findings, err := g.options.Checker.Check(ctx, source, g.Catalog())
	if err != nil {
		if !errors.Is(err, typecheck.ErrAbsent) && ctx.Err() == nil { // that was told once
			g.options.Logger.Warn("a script was not checked", "error", err.Error())
		}
		return nil, nil
	}
	var fatal []string
	for _, f := range findings {
		text := fmt.Sprintf("script:%d:%d: %s", f.Line, f.Column, spelling.Clip(f.Message, maxFinding))
		if f.Fatal && g.options.Check == config.CheckError {
			fatal = append(fatal, text)
		} else {
			warnings = append(warnings, text)
		}
	}
	if len(fatal) > 0 {
		return nil, &toolhost.Error{
			Code: toolhost.ToolError, Detail: "type_check",
			Message: "nothing has run, as the script has " + counted(len(fatal), "error") + ":\n" + strings.Join(few(fatal), "\n"),
		}
	}
	return warnings, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// told is what a model gets of a script that has run.
type told struct {
	Result   json.RawMessage `json:"result"`
	Logs     []string        `json:"logs"`
	Files    []string        `json:"files_touched"`
	Warnings []string        `json:"warnings,omitempty"`
}

// listsAll finds a loop over all sources.
var listsAll = regexp.MustCompile(`\bin\s+(?:pairs\s*\(\s*)?sdk\b`)

// named is the text that names the sources of a script; "" where it may use any.
func named(source string) string {
	if listsAll.MatchString(source) {
		return ""
	}
	return source
}

// execute runs a script for a model. limit is 0 where it may take as long as the tool.
func (g *Gateway) execute(ctx context.Context, source string, limit time.Duration, mustSay bool) (*told, error) {
	g.awaitSources(ctx, named(source))
	script, warnings, err := g.ready(ctx, source, mustSay)
	if err != nil && g.awaitSources(ctx, "") { // it may name one that was not known yet, or nearly so
		script, warnings, err = g.ready(ctx, source, mustSay)
	}
	if err != nil {
		return nil, err
	}
	o, err := g.runScript(ctx, script, limit)
	if err != nil {
		return nil, withLogs(withHint(err, source), o)
	}
	t := &told{Result: o.result, Logs: o.lines, Files: few(o.files), Warnings: few(warnings)}
	if t.Logs == nil {
		t.Logs = []string{}
	}
	if t.Files == nil {
		t.Files = []string{}
	}
	t.Logs = g.shortLogs(t.Logs)
	return t, g.shorten(ctx, t)
}

// shadowed finds a local variable that has the name of the function result.
var shadowed = regexp.MustCompile(`\blocal\s+(?:function\s+)?(?:[\w\s,:?]*[\s,])?result\b`)

// withHint adds what to do next to an error of a script.
func withHint(err error, source string) error {
	var failed *toolhost.Error
	if errors.As(err, &failed) && strings.Contains(failed.Message, "attempt to call") && shadowed.MatchString(source) {
		failed.Message += "\nA local variable named result hides the function result(): give the variable another name."
	}
	return err
}

// withLogs adds what a script had printed before it failed.
func withLogs(err error, o *outcome) error {
	var failed *toolhost.Error
	if o == nil || len(o.lines) == 0 || !errors.As(err, &failed) {
		return err
	}
	shown := o.lines[max(len(o.lines)-lastLines, 0):]
	failed.Message += "\nlogs:\n" + spelling.Clip(strings.Join(shown, "\n"), maxLogs)
	return err
}

// Bounds of what is told of a script's output.
const (
	lastLines  = 20   // with an error
	maxLogs    = 4000 // characters with an error
	maxFinding = 1000 // bytes of what the type checker says
	maxFew     = 50   // files, errors and warnings of the type checker
	perLine    = 3    // characters that a line takes beside its own
)

// few keeps a list from filling a model's context.
func few(list []string) []string {
	if len(list) <= maxFew {
		return list
	}
	return append(slices.Clone(list[:maxFew]), fmt.Sprintf("... %d more ...", len(list)-maxFew))
}

// shortLogs keeps logs within the size of a result: their beginning and their end.
func (g *Gateway) shortLogs(lines []string) []string {
	size := 0
	for i, line := range lines {
		if size += utf8.RuneCountInString(line) + perLine; size > g.options.MaxResult/2 {
			left := len(lines) - i
			end := max(len(lines)-lastLines, i)
			short := append(append([]string{}, lines[:i]...), fmt.Sprintf("... %s more ...", counted(left-(len(lines)-end), "line")))
			for _, last := range lines[end:] {
				short = append(short, spelling.Clip(last, 200))
			}
			return short
		}
	}
	return lines
}

// shorten keeps a long result for later, and tells what it is in its place.
func (g *Gateway) shorten(ctx context.Context, t *told) error {
	if len(t.Result) <= g.options.MaxResult || utf8.RuneCount(t.Result) <= g.options.MaxResult {
		return nil
	}
	calling, _ := toolhost.CallingOf(ctx)
	size := utf8.RuneCount(t.Result)
	handle := g.sessions.keep(clientOf(calling.Caller()), t.Result)
	about := map[string]any{"characters": float64(size), "shape": shapeOf(calling, t.Result)}
	if handle == "" {
		about["note"] = "the result is too long to be kept: return less of it"
	} else {
		about["handle"] = handle
		about["note"] = fmt.Sprintf("the result is too long to be shown whole. It is kept: in a script, read_result(%q) gives it, and read_result(%q, path, {from, to}) a part of it, as read_result(%q, \"items\", {1, 20})", handle, handle, handle)
	}
	text, err := jsonvalue.Encode(about)
	t.Result = text
	return err
}

// shapeOf sums a result up. Its tree shares the bound of all large values: many scripts may end at once.
func shapeOf(calling toolhost.Calling, text []byte) string {
	room, free := calling.Room()
	defer free()
	tree, err := jsonvalue.Decode(text, jsonvalue.Options{Room: room})
	if err != nil {
		return "unknown"
	}
	return luautype.Shape(tree)
}
