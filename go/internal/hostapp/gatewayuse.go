package hostapp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// CheckFace says whether a word is a face of the gateway.
func CheckFace(face string) error {
	switch config.Face(face) {
	case "", config.SDKFace, config.ProxyFace, config.BothFaces:
		return nil
	}
	return &usageError{fmt.Sprintf("--face must be sdk, proxy or both, not %q", face)}
}

// awaitTime is how long a command waits for sources.
const awaitTime = 30 * time.Second

// AwaitSources waits for the sources of the gateway, as commands do that are about all of them.
func (h *Host) AwaitSources(ctx context.Context) *gateway.Gateway {
	g := h.Gateway()
	ctx, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	g.Await(ctx)
	return g
}

// GatewayCall is a call of one of the gateway's tools from the command line.
type GatewayCall struct {
	Tool string
	Args map[string]any
	Told io.Writer // gets what is told meanwhile; nil: nobody
}

// CallGateway calls one of the gateway's tools, and gives its result as JSON.
func (h *Host) CallGateway(ctx context.Context, c GatewayCall) ([]byte, error) {
	req := toolhost.Request{Tool: c.Tool, Value: c.Args, Inner: true, Caller: toolhost.Caller{Name: "cli", Face: "cli"}, SameApproval: true}
	if c.Args == nil {
		req.Value = map[string]any{}
	}
	if c.Told != nil {
		req.Sink = &teller{w: c.Told, redact: h.Project.redact}
	}
	answer, failed := h.Call(ctx, req)
	if failed != nil {
		return nil, h.shownGatewayError(failed)
	}
	return answer.JSON, nil
}

// shownGatewayError is how a call failed, as a person reads it.
func (h *Host) shownGatewayError(failed *toolhost.Error) error {
	text := errors.New(h.Project.redact(failed.Error()))
	if failed.Code == toolhost.NeedsApproval && failed.Detail == "pending" {
		return app.WithHint(text, "to approve it: luau approvals approve "+failed.ID+"\nthen run it again, with the same arguments of this call")
	}
	return text
}

// CallFunction calls a function of a source with the values of flags.
func (h *Host) CallFunction(ctx context.Context, name string, params []string, object string, told io.Writer) (*Result, error) {
	f, err := h.AwaitSources(ctx).Catalog().Find(name)
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	schema := map[string]any{"type": "object"}
	if f.Params != nil {
		schema = f.Params
	}
	args, err := ParseParams(schema, params, object)
	if err != nil {
		return nil, err
	}
	text, err := gateway.Arguments(f, args)
	if err != nil {
		return nil, err
	}
	tree, err := jsonvalue.Decode(text, jsonvalue.Options{})
	if err != nil {
		return nil, err
	}
	table, _ := tree.(map[string]any)
	answer, err := h.CallGateway(ctx, GatewayCall{Tool: gateway.InnerName(f), Args: table, Told: told})
	if err != nil {
		return nil, err
	}
	value, err := gateway.Shown(f, answer)
	if err != nil {
		return nil, err
	}
	if text, ok := value.(string); ok {
		return &Result{Text: text}, nil
	}
	shown, err := jsonvalue.Indent(value)
	return &Result{Text: string(shown)}, err
}

// DryRun makes the calls of ctx a rehearsal with these answers; calls gives those that would have been made.
func DryRun(ctx context.Context, answers map[string]any) (inner context.Context, calls func() []gateway.DryCall) {
	inner = gateway.WithFakes(ctx, answers)
	return inner, func() []gateway.DryCall { return gateway.DryCalls(inner) }
}

// ReadFakes reads a file of answers for a dry run: an object of "source.function" to what each call gives, or a list of
// them for one call after the other.
func ReadFakes(name string) (map[string]any, error) {
	text, err := readWhole(name, MaxArguments)
	if err != nil {
		return nil, fmt.Errorf("the answers %s: %w", name, withoutPath(err))
	}
	tree, err := jsonvalue.Decode(text, jsonvalue.Options{})
	if err != nil {
		return nil, fmt.Errorf("the answers %s: %w", name, err)
	}
	fakes, ok := tree.(map[string]any)
	if !ok {
		return nil, &usageError{fmt.Sprintf("the answers %s: they must be an object, as {\"github.list_issues\": [...]}", name)}
	}
	return fakes, nil
}

// Generate writes files of types for editors into a folder, which is made where there is none. Files of others are
// left alone, and so are those that are the same already.
func (h *Host) Generate(ctx context.Context, dir string) (written []string, err error) {
	g := h.AwaitSources(ctx)
	stubs := g.Stubs()
	if len(stubs) == 0 {
		return nil, errors.New("no source is known: `luau gateway check` says why")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for name, text := range stubs {
		if old, err := fs.ReadFile(root.FS(), name); err == nil && string(old) == text {
			continue
		}
		if folder := filepath.Dir(filepath.FromSlash(name)); folder != "." {
			if err := root.MkdirAll(folder, 0o755); err != nil {
				return written, err
			}
		}
		if err := root.WriteFile(filepath.FromSlash(name), []byte(text), 0o644); err != nil {
			return written, err
		}
		written = append(written, filepath.Join(dir, filepath.FromSlash(name)))
	}
	slices.Sort(written)
	return written, nil
}

// GatewayFindings are what is wrong with the sources and the policy.
func (h *Host) GatewayFindings(g *gateway.Gateway) (lines []string) {
	for _, e := range h.Project.clientWarnings {
		lines = append(lines, e.Error())
	}
	for _, line := range g.Idle() {
		lines = append(lines, fmt.Sprintf("%s:%d: [[gateway.policy]] is about no function that there is", h.Project.configName(), line))
	}
	return lines
}

// ScriptResult is what execute_script gives, taken apart.
type ScriptResult struct {
	Result   json.RawMessage `json:"result"`
	Logs     []string        `json:"logs"`
	Warnings []string        `json:"warnings"`
}

// ReadScript reads a script for the gateway: a file, or "-" for in.
func ReadScript(name string, in io.Reader) (string, error) {
	if name == "-" {
		text, err := readAll(in, MaxArguments)
		if err != nil {
			return "", fmt.Errorf("standard input: %w", err)
		}
		return string(text), nil
	}
	text, err := readWhole(name, MaxArguments)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, withoutPath(err))
	}
	return strings.TrimPrefix(string(text), "\ufeff"), nil
}
