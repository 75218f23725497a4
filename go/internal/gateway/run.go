package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// run is one script under way. It is what the script finds behind sdk.
type run struct {
	gateway *Gateway
	view    *view
	calling toolhost.Calling
	client  string
	began   time.Time
	script  *sdkmod.Script // nil: of a tool that has its own
	may     []string       // sources that it may use; nil: all

	calls    atomic.Int64
	received atomic.Int64

	mu      sync.Mutex
	lines   []string
	partial []byte
	touched map[string]bool
}

// outcome is what a script gave.
type outcome struct {
	result []byte // JSON
	lines  []string
	files  []string
}

// errScriptTime is the cause of the end of a script whose own time is over.
var errScriptTime = errors.New("the script's time is over")

// runScript runs a script to its end.
func (g *Gateway) runScript(ctx context.Context, script *sdkmod.Script, limit time.Duration) (*outcome, error) {
	calling, ok := toolhost.CallingOf(ctx)
	if !ok {
		return nil, errors.New("a script runs within the call of a tool only")
	}
	r := &run{gateway: g, view: g.view(), calling: calling, client: clientOf(calling.Caller()), script: script, began: time.Now()}
	pool, err := g.pools.of(g, r.view.globals, calling)
	if err != nil {
		return nil, err
	}
	inner := context.WithValue(ctx, sdkmod.HostKey{}, r)
	if limit > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeoutCause(inner, limit, errScriptTime)
		defer cancel()
	}
	o := &outcome{}
	err = pool.Invoke(inner, func(values luau.Values) error { return values.Scan(&o.result) })
	o.lines, o.files = r.end()
	if err == nil {
		return o, nil
	}
	return o, r.failure(inner, err, limit)
}

// failure is the error of a script, with its place.
func (r *run) failure(ctx context.Context, err error, limit time.Duration) error {
	// Calls have the same deadline, and one may hear of it first.
	over := limit > 0 && time.Since(r.began) >= limit
	if over || errors.Is(err, errScriptTime) || errors.Is(context.Cause(ctx), errScriptTime) {
		return &toolhost.Error{Code: toolhost.Timeout, Detail: "timeout", Message: fmt.Sprintf("the script took longer than %s", limit)}
	}
	var script *luau.Error
	if !errors.As(err, &script) || luau.IsKilled(err) {
		return err
	}
	if luau.CodeOf(err) == luau.CodeMemory && script.Value == nil {
		return &toolhost.Error{Code: toolhost.ToolError, Detail: "memory", Message: placed(script, "the script went over its memory limit ([gateway] memory)")}
	}
	failed := &toolhost.Error{Code: toolhost.ToolError, Detail: string(luau.CodeOf(err)), Message: script.Raised()}
	var called *toolhost.Error
	if errors.As(errors.Unwrap(script), &called) {
		failed.Code, failed.Detail, failed.Data, failed.ID, failed.RetryAfter = called.Code, called.Detail, called.Data, called.ID, called.RetryAfter
		if called.Code == toolhost.BadRequest { // it is the script's mistake, not that of who sent it
			failed.Code, failed.Detail = toolhost.ToolError, "invalid_params"
		}
	} else if table, ok := script.Value.(map[string]any); ok {
		failed.Data = toolhost.JSONTree(table)
		if code, ok := table["code"].(string); ok {
			failed.Detail = code
		}
	}
	failed.Message = placed(script, spelling.Clip(failed.Message, maxMessage))
	return failed
}

// maxMessage is how much of an error's message is told, in bytes: a script may raise a megabyte.
const maxMessage = 8000

// placed puts the place in the script before a message.
func placed(script *luau.Error, message string) string {
	line := lineOf(script)
	place := fmt.Sprintf("script:%d: ", line)
	if line == 0 || strings.HasPrefix(message, place) { // Luau says it itself
		return message
	}
	return place + message
}

// lineOf is where in the script an error came from.
func lineOf(script *luau.Error) int {
	if script.Chunk == scriptChunk {
		return script.Line
	}
	for _, frame := range script.Frames {
		if frame.Chunk == scriptChunk && frame.Line > 0 {
			return frame.Line
		}
	}
	return 0
}

// print keeps what the script prints, line by line. A text may be nothing but line ends: none is looked at twice.
func (r *run) print(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		line, rest, found := bytes.Cut(text, []byte{'\n'})
		if r.partial = append(r.partial, line...); !found {
			return
		}
		r.lines = append(r.lines, string(r.partial))
		r.partial, text = r.partial[:0], rest
	}
}

// log keeps a record beside what was printed.
func (r *run) log(record engine.Record) {
	var line strings.Builder
	fmt.Fprintf(&line, "%s: %s", record.Level, record.Message)
	for _, name := range slices.Sorted(maps.Keys(record.Fields)) {
		fmt.Fprintf(&line, " %s=%v", name, record.Fields[name])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line.String())
}

func (r *run) touch(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.touched == nil {
		r.touched = map[string]bool{}
	}
	r.touched[path] = true
}

func (r *run) end() (lines, files []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.partial) > 0 {
		r.lines = append(r.lines, string(r.partial))
		r.partial = nil
	}
	return r.lines, slices.Sorted(maps.Keys(r.touched))
}

// found gives a function by the names that a script uses.
func (r *run) found(source, name string) (*catalog.Callable, error) {
	scope, err := r.scope(source)
	if err != nil {
		return nil, err
	}
	if f := scope.Function(name); f != nil {
		return f, nil
	}
	return nil, unknown(scope.Unknown(name))
}

// scope finds a source that the script may use.
func (r *run) scope(name string) (*catalog.Scope, error) {
	scope := r.view.catalog.Source(name)
	if scope == nil {
		return nil, unknown(r.view.catalog.Unknown(name))
	}
	if !r.mayUse(scope) {
		return nil, &hostmod.PermissionError{Key: "servers", Message: fmt.Sprintf(
			"calling the source %s: it is not in the servers that %s is granted (permissions: servers = [%q])", scope.Name, r.calling.Tool().Name, scope.Name)}
	}
	return scope, nil
}

func (r *run) mayUse(scope *catalog.Scope) bool {
	return r.may == nil || slices.Contains(r.may, "*") || slices.Contains(r.may, scope.Name) || slices.Contains(r.may, scope.Ident)
}

func unknown(err error) error {
	return &luau.Error{Code: "not_found", Message: err.Error()}
}
