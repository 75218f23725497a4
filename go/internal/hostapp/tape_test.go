package hostapp

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const tapedConfig = `
[models.helper]
provider = "script"
script = "model.luau"

[models.far]
provider = "openai"
model = "${FAR_MODEL}"
api_key = "${FAR_KEY}"

[tools.policy.trip]
tools = ["fetch"]
models = ["helper"]
env = ["TRIP_REGION", "TRIP_TOKEN"]

[tools.policy.fetch]
net_private = ["127.0.0.1"]

[tools.script.account]
path = "account.lua"
api_key = "${ACCOUNT_KEY}"

[tools.policy.account]
net_private = ["127.0.0.1"]
`

const tapedModel = `
function generate(request)
	local last = request.messages[#request.messages]
	if last.role == "tool" then
		return {"all ", "done: " .. last.content}
	end
	return { tool_calls = {
		{ name = "fetch", arguments = { path = "/" .. last.content .. "/1" } },
		{ name = "fetch", arguments = { path = "/" .. last.content .. "/2" } },
	} }
end
`

const tapedFetch = `
name: fetch
description: Fetches.
params: {type: object, properties: {path: {type: string}}, required: [path]}
lua: |
  function invoke(ctx, args)
    local r = ctx.http.get("SERVER" .. args.path)
    return { status = r.status, body = r.body, id = __native.uuid.v4() }
  end
`

const tapedTrip = `
name: trip
description: Plans a trip.
params: {type: object, properties: {city: {type: string}}, required: [city]}
lua: |
  local luck = math.random(1, 1000000000)
  local loaded = os.time()
  function invoke(ctx, args)
    local agent = ctx.create_agent("a", { model = "helper", tools = { "fetch" } })
    agent:input(args.city)
    local text = agent:collect()
    local streamed = {}
    for piece in ctx.generate_stream("helper", { { role = "user", content = args.city } }) do
      table.insert(streamed, piece)
    end
    local env = require("env")
    return {
      text = text, streamed = streamed, luck = luck, loaded = loaded, other = math.random(), more = math.random(1, 1000000000),
      fetched = ctx.tools.fetch({ path = "/last?t=" .. __native.time.now() }), bytes = __native.crypto.random_bytes(16, "hex"), v4 = __native.uuid.v4(),
      v7 = __native.uuid.v7(), now = __native.time.now(), date = os.date("!%c"), call = ctx.call, region = env.get("TRIP_REGION"),
      hasToken = env.get("TRIP_TOKEN") ~= nil,
    }
  end
examples:
  - {name: north, args: {city: Oslo}}
  - {args: {city: Rome}}
`

const tapedAccount = `
tool = { name = "account", description = "Asks.", parameters = {} }
function tool.execute(params, context)
	local key = context.config.api_key
	local r = http.get("SERVER/account?key=" .. key, { headers = { Authorization = "Bearer " .. key } })
	return { status = r.status, balance = r.json.balance }
end
`

// tapedProject is a folder with tools that ask a server.
func tapedProject(t *testing.T, server string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"hukilau.toml": tapedConfig, "model.luau": tapedModel, "account.lua": tapedAccount, "tools/fetch.yaml": tapedFetch, "tools/trip.yaml": tapedTrip,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "SERVER", server)), 0o644))
	}
	return dir
}

func tapedServer() *httptest.Server {
	var n atomic.Int64 // an agent calls several tools at once
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"path": %q, "n": %d, "balance": 12, "yours": %q}`, r.URL.Path, n.Add(1), r.Header.Get("Authorization"))
	}))
}

// setVariables sets what the tools read, or takes it away.
func setVariables(t *testing.T, values map[string]string) {
	for _, name := range []string{"FAR_MODEL", "FAR_KEY", "ACCOUNT_KEY", "TRIP_REGION", "TRIP_TOKEN"} {
		t.Setenv(name, values[name]) // which brings the old value back at the end
		if values[name] == "" {
			require.NoError(t, os.Unsetenv(name))
		}
	}
}

var tapedVariables = map[string]string{
	"FAR_MODEL": "large", "FAR_KEY": "far-key-0001", "ACCOUNT_KEY": "account-key/0002", "TRIP_REGION": "north", "TRIP_TOKEN": "trip-token-0003",
}

// runTest gives what a test said, without times.
func runTest(t *testing.T, test ToolTest) (ok bool, said string, err error) {
	t.Helper()
	project, err := OpenTest(t.Context(), Options{Stderr: io.Discard}, &test)
	require.NoError(t, err)
	defer project.Close()
	var lines []string
	test.Check = func(s Step) {
		text, _, _ := strings.Cut(s.Text, " (")
		text, _, _ = strings.Cut(text, " in ")
		switch {
		case s.Failed:
			text = "failed: " + s.Text
		case s.Note:
			text = "note: " + s.Text
		}
		lines = append(lines, text, s.Result)
	}
	ok, err = project.TestTools(t.Context(), test)
	return ok, strings.Join(lines, "\n"), err
}

func TestATestIsTheSameWithoutTheWorld(t *testing.T) {
	server := tapedServer()
	tapedProject(t, server.URL)
	for name, test := range map[string]ToolTest{
		"one":     {Target: "tools/trip.yaml", Params: []string{"city=Bergen"}},
		"account": {Target: "account.lua"},
	} {
		setVariables(t, tapedVariables)
		test.Record = name + ".json"
		ok, recorded, err := runTest(t, test)
		require.NoError(t, err)
		require.True(t, ok, recorded)
		info, err := os.Stat(test.Record)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		text, err := os.ReadFile(test.Record)
		require.NoError(t, err)
		for _, secret := range []string{"far-key", "-0001", "account-key", "/0002", "trip-token", "-0003"} {
			require.NotContains(t, string(text), secret)
		}
		recorded, found := strings.CutSuffix(recorded, "\nnote: Recorded in "+test.Record+"\n")
		require.True(t, found)

		server.CloseClientConnections()
		listening := server.Config.Handler
		server.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a replay asks the server") })
		setVariables(t, nil)
		require.NoError(t, os.Rename("model.luau", "gone.luau"))
		test.Record, test.Replay = "", name+".json"
		ok, replayed, err := runTest(t, test)
		require.NoError(t, err)
		require.True(t, ok, replayed)
		require.Equal(t, recorded, replayed)
		require.NoError(t, os.Rename("gone.luau", "model.luau"))
		server.Config.Handler = listening
	}
	server.Close()
}

func TestExamplesAreRecordedOneByOne(t *testing.T) {
	server := tapedServer()
	tapedProject(t, server.URL)
	setVariables(t, tapedVariables)
	ok, said, err := runTest(t, ToolTest{Target: "tools/trip.yaml", Record: "rec.json"})
	require.NoError(t, err)
	require.True(t, ok, said)
	require.Contains(t, said, "Example north\n")
	require.Contains(t, said, "note: Recorded in rec.json")
	server.Close()
	setVariables(t, nil)
	ok, again, err := runTest(t, ToolTest{Target: "tools/trip.yaml", Replay: "rec.json"})
	require.NoError(t, err)
	require.True(t, ok, again)
	require.Equal(t, strings.TrimSuffix(said, "\nnote: Recorded in rec.json\n"), again)

	_, said, err = runTest(t, ToolTest{Target: "tools/trip.yaml", Params: []string{"city=Paris"}, Replay: "rec.json"})
	require.NoError(t, err)
	require.Contains(t, said, `failed: rec.json has no run of trip with the arguments {"city":"Paris"}`)
	_, said, err = runTest(t, ToolTest{Target: "tools/fetch.yaml", Params: []string{"path=/"}, Replay: "rec.json"})
	require.NoError(t, err)
	require.Contains(t, said, "it has runs of trip (tools/trip.yaml)")
}

func TestAToolThatChangedSinceItsRecording(t *testing.T) {
	server := tapedServer()
	tapedProject(t, server.URL)
	setVariables(t, tapedVariables)
	test := ToolTest{Target: "account.lua", Record: "rec.json"}
	ok, said, err := runTest(t, test)
	require.NoError(t, err)
	require.True(t, ok, said)
	server.Close()
	change := func(old, changed string) {
		text := strings.ReplaceAll(tapedAccount, "SERVER", server.URL)
		require.Contains(t, text, old)
		require.NoError(t, os.WriteFile("account.lua", []byte(strings.ReplaceAll(text, old, changed)), 0o644))
	}
	test.Record, test.Replay = "", "rec.json"

	change("/account?", "/accounts?")
	ok, said, err = runTest(t, test)
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, said, "failed: Not in the recording: GET "+server.URL+"/accounts?key=[redacted]; the nearest that it has is GET "+server.URL+"/account?key=[redacted]")
	require.Contains(t, said, "note: In the recording and not asked for: GET "+server.URL+"/account?key=[redacted]")

	// Who catches the error has not had the answer either.
	change(`local r = http.get(`, `local ok, r = pcall(http.get, "x" .. `)
	change(`	return { status = r.status, balance = r.json.balance }`, `	pcall(http.get, "SERVER/other"); return {}`)
	text, err := os.ReadFile("account.lua")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("account.lua", []byte(strings.ReplaceAll(string(text), "SERVER", server.URL)), 0o644))
	ok, said, err = runTest(t, test)
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, said, "failed: Not in the recording: GET "+server.URL+"/other")
	require.Contains(t, said, "Returned result")

	// What is recorded is not thereby granted.
	change("{}", "{}")
	require.NoError(t, os.WriteFile("hukilau.toml", []byte(strings.Replace(tapedConfig, "[tools.policy.account]\nnet_private", "[tools.policy.account]\nnet", 1)), 0o644))
	ok, said, err = runTest(t, test)
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, said, "failed: permission: ")
}

func TestFilesOfRecordings(t *testing.T) {
	server := tapedServer()
	defer server.Close()
	dir := tapedProject(t, server.URL)
	setVariables(t, tapedVariables)
	require.NoError(t, os.Mkdir("folder", 0o755))
	require.NoError(t, os.Symlink("b.json", "a.json"))
	require.NoError(t, os.Symlink("a.json", "b.json"))
	require.NoError(t, syscall.Mkfifo("pipe.json", 0o600))
	require.NoError(t, os.WriteFile("broken.json", []byte(`{"hukilau_recording": 1, "runs": [`), 0o600))
	require.NoError(t, os.WriteFile("future.json", []byte(`{"hukilau_recording": 9}`), 0o600))
	huge, err := os.Create("huge.json")
	require.NoError(t, err)
	require.NoError(t, huge.Truncate(1<<40))
	require.NoError(t, huge.Close())
	for _, c := range []struct{ record, replay, want string }{
		{"x.json", "x.json", "--record and --replay do not go together"},
		{"nowhere/x.json", "", "--record nowhere/x.json: there is no folder nowhere"},
		{"account.lua", "", "--record account.lua: the file is there and is no recording; name another one"},
		{"broken.json", "", "--record broken.json: the file is there and is no recording"},
		{"folder", "", "--record folder: it is not a regular file"},
		{"pipe.json", "", "--record pipe.json: it is not a regular file"},
		{"a.json", "", "--record a.json: too many levels of symbolic links"},
		{"", "x.json", "--replay x.json: no such file or directory"},
		{"", "folder", "--replay folder: it is not a regular file"},
		{"", "pipe.json", "--replay pipe.json: it is not a regular file"},
		{"", "a.json", "--replay a.json: too many levels of symbolic links"},
		{"", "huge.json", "huge.json: it has 33554433 bytes, more than the 33554432 of a recording"},
		{"", "broken.json", "broken.json: it is no recording: unexpected end of JSON input"},
		{"", "account.lua", "account.lua: it is no recording"},
		{"", "future.json", "future.json: it is a recording of version 9, and this program reads version 1: record it again with --record"},
	} {
		_, _, err := runTest(t, ToolTest{Target: "account.lua", Record: c.record, Replay: c.replay})
		require.ErrorContains(t, err, c.want)
	}
	// A recording takes the place of another, and of nothing else.
	require.NoError(t, os.WriteFile("old.json", []byte(`{"hukilau_recording": 9}`), 0o644))
	ok, said, err := runTest(t, ToolTest{Target: "account.lua", Record: "old.json"})
	require.NoError(t, err)
	require.True(t, ok, said)
	names, err := filepath.Glob(filepath.Join(dir, ".hukilau-*"))
	require.NoError(t, err)
	require.Empty(t, names)
}
