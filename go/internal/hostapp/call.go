package hostapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// MaxArguments is how many bytes the arguments of a call may have.
const MaxArguments = 4 << 20

// ToolCall is a call from the command line.
type ToolCall struct {
	Name     string
	Params   []string // name=value
	JSON     string   // an object
	Session  string
	Approval string
	Told     io.Writer // gets what the tool tells meanwhile; nil: nobody
}

// Result is what a tool gave.
type Result struct {
	Text string // JSON, indented
}

// CallTool calls a tool as a person at the command line does.
func (h *Host) CallTool(ctx context.Context, c ToolCall) (*Result, error) {
	t, there := h.Find(c.Name)
	if !there {
		return nil, h.noTool(c.Name)
	}
	if err := h.Project.readyFor(t, ""); err != nil {
		return nil, err
	}
	args, err := ParseParams(t.Params.Document(), c.Params, c.JSON)
	if err != nil {
		return nil, err
	}
	result, err := h.call(ctx, c, args)
	var failed *toolhost.Error
	if errors.As(err, &failed) {
		return nil, h.shownError(c.Name, failed)
	}
	return result, err
}

func (h *Host) call(ctx context.Context, c ToolCall, args map[string]any) (*Result, error) {
	req := toolhost.Request{
		Tool: c.Name, Value: args, Approval: c.Approval,
		Caller: toolhost.Caller{Name: "cli", Face: "cli", Session: c.Session},
	}
	if c.Told != nil {
		req.Sink = &teller{w: c.Told, redact: h.Project.redact}
	}
	answer, failed := h.Call(ctx, req)
	if failed != nil {
		return nil, failed
	}
	value, err := jsonvalue.Decode(answer.JSON, jsonvalue.Options{})
	if err != nil {
		return nil, err
	}
	text, err := jsonvalue.Indent(value)
	return &Result{Text: string(text)}, err
}

// noTool is about a name that no tool has.
func (h *Host) noTool(name string) error {
	if broken := h.Project.brokenNamed(name); len(broken) > 0 {
		return broken[0].Err
	}
	var names []string
	for _, t := range h.Tools() {
		names = append(names, t.Name)
	}
	text := fmt.Sprintf("there is no tool %q", name)
	switch near := nearest(name, names); {
	case near != "":
		text += "; did you mean " + near + "?"
	case len(h.Project.Broken()) > 0:
		text += "; these definitions are broken:" + h.Project.brokenLines()
	case len(names) == 0:
		text += ", nor any other: `luau tool init " + "NAME` writes one"
	default:
		text += "; `luau tool list` shows those that there are"
	}
	return &usageError{text}
}

// brokenNamed is what would be the tool of a name; a definition without one has that of its file.
func (p *Project) brokenNamed(name string) (list []tooldef.Broken) {
	for _, b := range p.Broken() {
		file := filepath.Base(filepath.FromSlash(b.File))
		configured := p.Config().Path(p.Config().Tools.Scripts[name].Path)
		if b.Name == name || configured != "" && configured == p.absolute(b.File) || b.Name == "" && strings.TrimSuffix(file, filepath.Ext(file)) == name {
			list = append(list, b)
		}
	}
	return list
}

// brokenLines are the first definitions that are broken, a line each.
func (p *Project) brokenLines() (text string) {
	const most = 5
	for i, b := range p.Broken() {
		if i == most {
			return text + fmt.Sprintf("\n... and %d more: `luau tool list`", len(p.Broken())-most)
		}
		text += "\n" + p.redact(b.Err.Error())
	}
	return text
}

// teller shows a person what a tool tells while it runs: tabs as they are, later lines indented, and nothing that a
// terminal would obey.
type teller struct {
	w      io.Writer
	redact func(string) string
}

func (t *teller) line(text string) error {
	_, err := fmt.Fprintln(t.w, visible.Message(t.redact(text)))
	return err
}

// Console implements toolhost.Console.
func (*teller) Console() {}

// Emit implements toolhost.Sink. Of a piece that is a text alone the text is shown.
func (t *teller) Emit(_ context.Context, chunk []byte) error {
	text := string(chunk)
	if value, err := jsonvalue.Decode(chunk, jsonvalue.Options{}); err == nil {
		if object, _ := value.(map[string]any); len(object) == 1 {
			if piece, ok := object["text"].(string); ok {
				text = piece
			}
		}
	}
	return t.line("emit: " + text)
}

// Progress implements toolhost.Sink.
func (t *teller) Progress(_ context.Context, done, total float64, text string) error {
	of := ""
	if total > 0 {
		of = fmt.Sprintf(" of %g", total)
	}
	return t.line(strings.TrimSpace(fmt.Sprintf("progress: %g%s %s", done, of, text)))
}

// Log implements toolhost.Sink.
func (t *teller) Log(_ context.Context, level slog.Level, message string, _ map[string]any) error {
	return t.line(strings.ToLower(level.String()) + ": " + message)
}
