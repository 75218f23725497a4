package toolhost_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// sink keeps what a tool tells.
type sink struct {
	chunks, logs []string
	progress     [][2]float64
	emitted      func(string)
}

func (s *sink) Emit(_ context.Context, chunk []byte) error {
	s.chunks = append(s.chunks, string(chunk))
	if s.emitted != nil {
		s.emitted(string(chunk))
	}
	return nil
}

func (s *sink) Progress(_ context.Context, done, total float64, text string) error {
	s.progress = append(s.progress, [2]float64{done, total})
	s.logs = append(s.logs, text)
	return nil
}

func (s *sink) Log(_ context.Context, level slog.Level, message string, _ map[string]any) error {
	s.logs = append(s.logs, level.String()+" "+message)
	return nil
}

func TestWhatAToolTellsReachesItsCaller(t *testing.T) {
	h := newHost(t, toolhost.Options{}, tool(t, "tells", `function invoke(ctx)
		ctx.emit("text") ctx.emit({ audio = buffer.fromstring("\1\2\3"), raw = "\xff", percent = 50 })
		ctx.progress(1, 4, "a quarter")
		print("printed", 1) ctx.log.warn("two", { 3 }) print("last")
	end`))
	var s sink
	_, failed := h.Call(context.Background(), toolhost.Request{Tool: "tells", Sink: &s})
	require.Nil(t, failed)
	require.Equal(t, []string{`{"text":"text"}`, `{"audio":"AQID","percent":50,"raw":"/w=="}`}, s.chunks)
	require.Equal(t, [][2]float64{{1, 4}}, s.progress)
	require.Equal(t, []string{"a quarter", "INFO printed\t1", "WARN two {3}", "INFO last"}, s.logs)
}

// A script can reach what is below ctx. Nothing that it makes there may break the protocols of its callers, nor what
// other tools keep.
func TestTextsOfScriptsAreJSON(t *testing.T) {
	h := newHost(t, toolhost.Options{},
		tool(t, "forges", `function invoke(ctx)
			local host, said = __native.tool, {}
			for _, text in { '1\r\revent: result', '"\xff"', "{} {}", string.rep("[", 300) .. string.rep("]", 300) } do
				for _, try in { function() host.emit(text) end, function() host.state_commit({ k = text }) end, function() host.state_swap("k", 0, text) end } do
					local ok, err = pcall(try)
					table.insert(said, if ok then "done" else err.code)
				end
			end
			host.emit('\r\n{"a" :\r1}')
			return said
		end`),
		tool(t, "reads", "function invoke(ctx) return { ctx.state.k == nil, ctx.update_state('k', function(old) return old == nil end) } end"))
	var s sink
	answer, failed := h.Call(context.Background(), toolhost.Request{Tool: "forges", Sink: &s})
	require.Nil(t, failed)
	require.Equal(t, `["`+strings.Repeat(`json","`, 11)+`json"]`, string(answer.JSON))
	require.Equal(t, []string{`{"a":1}`}, s.chunks)
	result, failed := call(h, "reads", "{}")
	require.Nil(t, failed)
	require.Equal(t, "[true,true]", result)
}

// A call that its parent gave up is waited for as others are: whoever closes the store after that loses no entry.
func TestDrainWaitsForCallsThatWereGivenUp(t *testing.T) {
	outer := tool(t, "outer", "function invoke(ctx) ctx.tools.inner() end")
	outer.Permissions.Tools, outer.Timeout = []string{"inner"}, 20*time.Millisecond
	db, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	release := make(chan struct{})
	slow := func(text string) string {
		if strings.Contains(text, "'inner'") {
			<-release
		}
		return text
	}
	h := newHost(t, toolhost.Options{Store: db, Redact: slow}, outer, tool(t, "inner", "function invoke(ctx) while true do end end"))
	_, failed := h.Call(t.Context(), toolhost.Request{Tool: "outer"})
	require.NotNil(t, failed)
	require.Equal(t, toolhost.Timeout, failed.Code)
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.Error(t, h.Drain(short), "the inner call has not ended")
	close(release)
	require.NoError(t, h.Drain(t.Context()))
	require.NoError(t, db.Log.Flush(t.Context()))
	logged, err := db.Log.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, logged, 2)
}

func TestErrorsOfCalledToolsAreWhole(t *testing.T) {
	outer := tool(t, "outer", `function invoke(ctx)
		local ok, err = pcall(ctx.tools.inner)
		return { err.code, err.detail, err.message, err.data.left, tostring(err) }
	end`)
	outer.Permissions.Tools = []string{"inner"}
	h := newHost(t, toolhost.Options{}, outer, tool(t, "inner", `function invoke() error({ code = "sold_out", message = "only 5", left = 5 }) end`))
	result, failed := call(h, "outer", "{}")
	require.Nil(t, failed)
	require.Equal(t, `["tool_error","sold_out","only 5",5,"only 5"]`, result)
}

func TestToolsCallTools(t *testing.T) {
	outer := tool(t, "outer", `function invoke(ctx, args)
		local ok, err = pcall(ctx.tools.secret, {})
		return { sum = ctx.tools.add({ a = 1, b = args.b }) , again = ctx.tools.call("add", { a = 2, b = 2 }), list = ctx.tools.list(),
			refused = err.code, key = err.key, parent = ctx.call.parent == nil }
	end`)
	outer.Permissions.Tools = []string{"add"}
	loop := tool(t, "loop", `function invoke(ctx) return ctx.tools.loop({}) end`)
	loop.Permissions.Tools = []string{"*"}
	s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	h := newHost(t, toolhost.Options{Store: s, MaxRuns: 1}, outer, loop,
		tool(t, "add", `function invoke(ctx, args) return args.a + args.b end`), tool(t, "secret", `function invoke() return 1 end`))
	result, failed := call(h, "outer", `{"b":41}`)
	require.Nil(t, failed)
	require.Equal(t, `{"again":4,"key":"tools","list":["add"],"parent":true,"refused":"permission","sum":42}`, result)
	_, failed = call(h, "loop", "{}")
	require.Contains(t, failed.Message, "more than 8 deep")

	require.NoError(t, s.Log.Flush(context.Background()))
	runs, err := s.Log.List(context.Background(), store.Filter{})
	require.NoError(t, err)
	var parents, children int
	for _, run := range runs {
		if run.Parent == "" {
			parents++
		} else {
			children++
		}
		if run.Tool == "outer" {
			require.Equal(t, `{"b":41}`, run.Arguments.Text)
			run, err = s.Log.Get(context.Background(), run.ID)
			require.NoError(t, err)
			require.NotEmpty(t, run.HostCalls)
			require.Equal(t, "ctx.tools.call", run.HostCalls[0].Name)
		}
	}
	require.Equal(t, 2, parents)
	require.Equal(t, 2+8, children)
}

// X15: 50 calls at once that each add 1 through ctx.update_state.
func TestX15UpdateStateIsAtomic(t *testing.T) {
	h := newHost(t, toolhost.Options{},
		tool(t, "add", `function invoke(ctx) return ctx.update_state("n", function(n) return (n or 0) + 1 end) end`),
		tool(t, "read", `function invoke(ctx) return ctx.state.n end`))
	done := make(chan *toolhost.Error)
	for range 50 {
		go func() {
			_, failed := call(h, "add", "{}")
			done <- failed
		}()
	}
	for range 50 {
		require.Nil(t, <-done)
	}
	result, failed := call(h, "read", "{}")
	require.Nil(t, failed)
	require.Equal(t, "50", result)
}

// Paths are seen from the config's folder, wherever the program was started.
func TestPathsBeginAtTheFolderOfTheConfig(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "x.txt"), []byte("found"), 0o644))
	reads := tool(t, "reads", `function invoke() return require("fs").read("data/x.txt") end`)
	reads.Permissions.Read = []string{"data"}
	h := newHost(t, toolhost.Options{Folder: dir}, reads)
	result, failed := call(h, "reads", "{}")
	require.Nil(t, failed)
	require.Equal(t, `"found"`, result)
}

// What a tool kept in `kv` is its own, and outlives a new version of it.
func TestKeysOutliveAReload(t *testing.T) {
	source := `function invoke() return require("kv").increment("n") end`
	h := newHost(t, toolhost.Options{}, tool(t, "a", source), tool(t, "b", source))
	for _, want := range []string{"1", "2"} {
		result, failed := call(h, "a", "{}")
		require.Nil(t, failed)
		require.Equal(t, want, result)
	}
	h.Serve(set{"a": tool(t, "a", source+" -- changed"), "b": tool(t, "b", source)})
	result, failed := call(h, "a", "{}")
	require.Nil(t, failed)
	require.Equal(t, "3", result)
	result, failed = call(h, "b", "{}")
	require.Nil(t, failed)
	require.Equal(t, "1", result)
}

// Whoever serves a tool grants by its permissions, not by flags.
func TestRefusalsSayHowTheOperatorGrants(t *testing.T) {
	h := newHost(t, toolhost.Options{}, tool(t, "reads", `function invoke() return require("fs").read("data/x.txt") end`))
	_, failed := call(h, "reads", "{}")
	require.Equal(t, toolhost.Permission, failed.Code)
	require.Contains(t, failed.Message, `[tools.policy.reads] in the configuration: read = ["data"]`)
	require.NotContains(t, failed.Message, "command line")
}

// Errors are logged as they are printed: by their message.
func TestErrorsAreLoggedByTheirMessage(t *testing.T) {
	const body = `
		local _, refused = pcall(require("fs").read, "x")
		local _, fault = pcall(ctx.update_state, 1)
		local plain = setmetatable({ a = 1 }, { __index = {} })
		ctx.log.error("Failed: ", refused, fault, nil)
		ctx.log.info(plain, { code = "x" }, nil, 1)
		ctx.log.warn()
		require("log").error("SDK", { err = fault })
		require("log").error(fault)
	end`
	h := newHost(t, toolhost.Options{}, tool(t, "yaml", "function invoke(ctx)"+body),
		tool(t, "lua", "tool = {} function tool.execute(_, ctx)"+strings.ReplaceAll(body, "ctx.log", "log")))
	for _, name := range []string{"yaml", "lua"} {
		var s fieldSink
		_, failed := h.Call(t.Context(), toolhost.Request{Tool: name, Sink: &s})
		require.Nil(t, failed)
		require.Len(t, s.logs, 5)
		require.Regexp(t, "^ERROR Failed:  fs.read: .* ctx.update_state: argument 1 must be a key, got number nil$", s.logs[0])
		require.Equal(t, []string{`INFO {a = 1} {code = "x"} nil 1`, "WARN ", "ERROR SDK", "ERROR ctx.update_state: argument 1 must be a key, got number"}, s.logs[1:])
		require.Equal(t, map[string]any{"err": "ctx.update_state: argument 1 must be a key, got number"}, s.fields)
	}
}

// fieldSink keeps the last fields, too.
type fieldSink struct {
	sink
	fields map[string]any
}

func (s *fieldSink) Log(ctx context.Context, level slog.Level, message string, fields map[string]any) error {
	if fields != nil {
		s.fields = fields
	}
	return s.sink.Log(ctx, level, message, fields)
}
