package hostapp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/music"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// What [permissions] and policies grant is what the script has, and no more.
func TestGrantsReachTheScript(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("pong")) }))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	t.Setenv("FOR_ALL", "all")
	t.Setenv("FOR_ONE", "one")
	inFolder(t, map[string]string{
		"hukilau.toml": `
[permissions]
env = ["FOR_ALL"]
[tools.policy.one]
env = ["FOR_ONE"]
read = ["data"]
net_private = ["127.0.0.1"]
`,
		"data/file": "content", "secret": "hidden", "else/where/x": "",
		"tools/one.yaml":  yaml("one", "", `return { require("env").get("FOR_ALL"), require("env").get("FOR_ONE"), require("fs").read("data/file"), ctx.http.get(args.url).body }`),
		"tools/two.yaml":  yaml("two", "", `return { require("env").get("FOR_ALL"), pcall(require("env").get, "FOR_ONE") }`),
		"tools/net.yaml":  yaml("net", "", `return ctx.http.get(args.url).body`),
		"tools/read.yaml": yaml("read", "", `return require("fs").read("data/file")`),
		"tools/up.yaml":   yaml("up", "permissions: { read: [data] }\n", `return require("fs").read("data/../secret")`),
	})
	t.Chdir("else/where") // paths are seen from the configuration's folder
	h := hostOf(t, Options{})
	require.Empty(t, h.Project.Broken())
	args := `{"url":"` + server.URL + `"}`
	require.Equal(t, `["all","one","content","pong"]`, result(t, h, "one", args))
	require.Contains(t, result(t, h, "two", ""), `["all",false,`)
	for tool, key := range map[string]string{"net": "net_private", "read": "read", "up": "read"} {
		_, failed := call(t, h, tool, args)
		require.NotNil(t, failed, tool)
		require.Equal(t, toolhost.Permission, failed.Code, "%s: %s", tool, failed)
		require.Contains(t, failed.Message, key)
	}
}

func TestLimitsOfTheConfiguration(t *testing.T) {
	inFolder(t, map[string]string{
		"hukilau.toml": `
[limits]
time = "200ms"
memory = "8MiB"
host_calls = 30
depth = 2
[tools.policy.long]
timeout = "1m"
`,
		"tools/slow.yaml":   yaml("slow", "", "while true do end"),
		"tools/long.yaml":   yaml("long", "", `require("async").sleep(0.4) return 1`),
		"tools/hungry.yaml": yaml("hungry", "", `return #string.rep("x", 20000000)`),
		"tools/chatty.yaml": yaml("chatty", "", `for i = 1, 100 do require("async").sleep(0) end`),
		"tools/deep.yaml":   yaml("deep", "permissions: { tools: [deep] }\n", `return ctx.tools.deep({})`),
	})
	h := hostOf(t, Options{})
	_, failed := call(t, h, "slow", "")
	require.Equal(t, toolhost.Timeout, failed.Code)
	require.Equal(t, "1", result(t, h, "long", ""))
	for tool, detail := range map[string]string{"hungry": "memory", "chatty": "limit"} {
		_, failed := call(t, h, tool, "")
		require.NotNil(t, failed, tool)
		require.Equal(t, detail, failed.Detail, "%s: %s", tool, failed)
	}
	_, failed = call(t, h, "deep", "")
	require.NotNil(t, failed)
	require.Contains(t, failed.Message, "tools call tools more than 2 deep")
}

// A model that is a Luau file, from the tool to the answer.
func TestModelOfTheProviderScript(t *testing.T) {
	inFolder(t, map[string]string{
		"hukilau.toml": "[models.play]\nprovider = \"script\"\nmodel = \"m1\"\nscript = \"models/play.luau\"\n",
		"models/play.luau": `function generate(request)
	local last = request.messages[#request.messages]
	return "You said: " .. (if type(last.content) == "string" then last.content else last.content[1].text)
end`,
		"tools/ask.yaml": yaml("ask", "permissions: { models: [play] }\n", `return ctx.generate("play", args.text)`),
		"tools/no.yaml":  yaml("no", "", `return ctx.generate("play", args.text)`),
	})
	h := hostOf(t, Options{})
	require.Contains(t, result(t, h, "ask", `{"text":"hello"}`), "You said: hello")
	_, failed := call(t, h, "no", `{"text":"hello"}`)
	require.Equal(t, toolhost.Permission, failed.Code)

	// It changes with the configuration.
	write(t, h.Project.Folder, map[string]string{
		"hukilau.toml":      "[models.play]\nprovider = \"script\"\nmodel = \"m1\"\nscript = \"models/other.luau\"\n",
		"models/other.luau": `function generate() return "another" end`,
	})
	require.NoError(t, h.Reload(t.Context()))
	require.Contains(t, result(t, h, "ask", `{"text":"hello"}`), "another")
}

// song is a WAV file of some seconds of silence.
func song(seconds int) string {
	const rate = 8000
	le := binary.LittleEndian
	b := append([]byte("RIFF"), 0, 0, 0, 0)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint32(b, rate)
	b = le.AppendUint32(b, 2*rate)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(2*rate*seconds))
	b = append(b, make([]byte, 2*rate*seconds)...)
	le.PutUint32(b[4:], uint32(len(b)-8))
	return string(b)
}

// One player for all tools of a host, with the folder and the output of the configuration.
func TestMusicOfTheConfiguration(t *testing.T) {
	folder := inFolder(t, map[string]string{
		"hukilau.toml": "[music]\nfolder = \"songs\"\noutput = \"out/heard.wav\"\n", "songs/tune.wav": song(3600), "out/x": "",
		"tools/play.yaml":   yaml("play", "", `require("haivivi").music.play("tune") return true`),
		"tools/status.yaml": yaml("status", "", `local s = require("haivivi").music.status() return { playing = s.playing, duration = s.duration, song = s.song, error = s.error }`),
		"tools/stop.yaml":   yaml("stop", "", `return require("haivivi").music.stop()`),
	})
	h := hostOf(t, Options{})
	require.Equal(t, `{"duration":0,"playing":false}`, result(t, h, "status", ""))
	require.Equal(t, "true", result(t, h, "play", ""))
	require.Equal(t, `{"duration":3600,"playing":true,"song":"tune"}`, result(t, h, "status", ""), "the song of another call")
	require.Equal(t, "true", result(t, h, "stop", ""))
	head, err := os.ReadFile(filepath.Join(folder, "out", "heard.wav"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(head), "RIFF"))

	// A command, from another configuration of the same host.
	started := make(chan []string, 1)
	before := StartPlayer
	defer func() { StartPlayer = before }()
	heard := &program{closed: make(chan struct{})}
	StartPlayer = func(command []string) (music.Program, error) {
		started <- command
		return heard, nil
	}
	write(t, folder, map[string]string{"hukilau.toml": "[music]\nfolder = \"songs\"\noutput = \"aplay -q -\"\n"})
	require.NoError(t, h.Reload(t.Context()))
	require.Equal(t, "true", result(t, h, "play", ""))
	require.Equal(t, []string{"aplay", "-q", "-"}, <-started)
	require.Eventually(t, func() bool { return strings.HasPrefix(heard.text(), "RIFF") }, patience, time.Millisecond)
	require.NoError(t, h.music.close())
	<-heard.closed
	_, failed := call(t, h, "play", "")
	require.Contains(t, failed.Message, "the player is closed")
}

// program is a player command that keeps what it gets.
type program struct {
	mu     sync.Mutex
	said   strings.Builder
	once   sync.Once
	closed chan struct{}
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(b)
}

func (p *program) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

func (p *program) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *program) Kill() { _ = p.Close() }

func TestMusicWithoutAFolder(t *testing.T) {
	inFolder(t, map[string]string{"tools/play.yaml": yaml("play", "", `require("haivivi").music.play("tune")`)})
	_, failed := call(t, hostOf(t, Options{}), "play", "")
	require.Contains(t, failed.Message, "no music folder")
	write(t, ".", map[string]string{"hukilau.toml": "[music]\nfolder = \"nowhere\"\n"})
	_, failed = call(t, hostOf(t, Options{}), "play", "")
	require.Contains(t, failed.Message, "the music folder cannot be opened")
	require.NotContains(t, failed.Message, "nowhere")
}

// X12: a file that breaks while it is watched.
func TestFilesAreReloadedAsTheyChange(t *testing.T) {
	folder := inFolder(t, map[string]string{
		"hukilau.toml": "[tools]\ndirs = [\"mine\"]\n", "mine/a.yaml": yaml("a", "", "return 1"), "mine/deep/b.yaml": yaml("b", "", "return 1"),
	})
	var log said
	h := hostOf(t, Options{Stderr: &log})
	changed := make(chan struct{}, 100)
	end, err := h.background(t.Context(), false, func() { changed <- struct{}{} })
	require.NoError(t, err)
	defer end()
	write(t, folder, map[string]string{"mine/deep/b.yaml": yaml("b", "", "return (")})
	await(t, changed)
	require.Len(t, h.Project.Broken(), 1)
	require.Equal(t, "b", h.Project.Broken()[0].Name)
	require.Contains(t, log.String(), "a tool is broken")
	require.Equal(t, "1", result(t, h, "b", ""), "the last good version")
	write(t, folder, map[string]string{"mine/deep/b.yaml": yaml("b", "", "return 2")})
	await(t, changed)
	require.Empty(t, h.Project.Broken())
	require.Equal(t, "2", result(t, h, "b", ""))

	// A folder that is new is watched as well.
	write(t, folder, map[string]string{"mine/new/c.yaml": yaml("c", "", "return 3")})
	for !has(h, "c") {
		await(t, changed)
	}
	write(t, folder, map[string]string{"mine/new/c.yaml": yaml("c", "", "return 4")})
	for result(t, h, "c", "") != "4" {
		await(t, changed)
	}
	require.NoError(t, os.Remove(filepath.Join(folder, "mine", "new", "c.yaml")))
	for has(h, "c") {
		await(t, changed)
	}

	// A configuration that is broken changes nothing until it is mended.
	write(t, folder, map[string]string{"hukilau.toml": "[tools]\ndirs = [\n", "mine/a.yaml": yaml("a", "", "return 5")})
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "the last one goes on") }, patience, time.Millisecond)
	require.Equal(t, "1", result(t, h, "a", ""))
	write(t, folder, map[string]string{"hukilau.toml": "[tools]\ndirs = [\"mine\", \"more\"]\n", "more/d.yaml": yaml("d", "", "return 6")})
	for !has(h, "d") {
		await(t, changed)
	}
	require.Equal(t, "5", result(t, h, "a", ""))
}

func has(h *Host, name string) bool {
	_, ok := h.Find(name)
	return ok
}

func await(t *testing.T, changed chan struct{}) {
	t.Helper()
	select {
	case <-changed:
	case <-time.After(patience):
		t.Fatal("nothing was reloaded")
	}
}

func TestStateStaysBetweenHosts(t *testing.T) {
	folder := inFolder(t, map[string]string{
		"hukilau.toml":    "[state]\ndir = \"kept\"\n",
		"tools/next.yaml": yaml("next", "", `ctx.state.n = (ctx.state.n or 0) + 1 return ctx.state.n`),
	})
	p := open(t, Options{})
	for _, want := range []string{"1", "2"} {
		h, err := p.NewHost(t.Context(), HostOptions{})
		require.NoError(t, err)
		require.Equal(t, want, result(t, h, "next", ""))
		require.NoError(t, h.Close())
	}
	require.FileExists(t, filepath.Join(folder, "kept", "state.db"))
	require.NoDirExists(t, filepath.Join(folder, ".hukilau"))
	h, err := p.NewHost(t.Context(), HostOptions{InMemory: true})
	require.NoError(t, err)
	require.Equal(t, "1", result(t, h, "next", ""))
	require.NoError(t, h.Close())
}

// An error at the command line has places that lead there from the working directory, and no secrets.
func TestErrorsOfCallsAreForPeople(t *testing.T) {
	t.Setenv("API_KEY", "verysecret")
	folder := inFolder(t, map[string]string{
		"hukilau.toml":  "[tools.script.s]\npath = \"s.lua\"\nkey = \"${API_KEY}\"\n",
		"s.lua":         "tool = { name = \"s\", description = \"S.\", parameters = {} }\nfunction tool.execute(params, context)\n  error(\"bad key \" .. context.config.key)\nend\n",
		"deep/er/x":     "",
		"tools/ap.yaml": yaml("ap", "approve: true\n", "return 1"),
	})
	t.Chdir(filepath.Join(folder, "deep"))
	h := hostOf(t, Options{})
	_, err := h.CallTool(t.Context(), ToolCall{Name: "s"})
	require.EqualError(t, err, filepath.Join(folder, "s.lua")+":3: bad key [redacted]")
	t.Chdir(folder)
	_, err = h.CallTool(t.Context(), ToolCall{Name: "s"})
	require.EqualError(t, err, "s.lua:3: bad key [redacted]")
	_, err = h.CallTool(t.Context(), ToolCall{Name: "ap"})
	require.ErrorContains(t, err, "needs the approval of an operator")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.CallTool(ctx, ToolCall{Name: "s"})
	require.Error(t, err)
	require.False(t, errors.Is(err, context.DeadlineExceeded))
}

// A Lua tool that wants an approval waits for it, and its permissions are what it asks for.
func TestKeysOfALuaTool(t *testing.T) {
	inFolder(t, map[string]string{
		"hukilau.toml": "[tools.script.drop]\npath = 'tools/drop.lua'\nwhere = 'here'\n[tools.policy.open]\napprove = false",
		"tools/drop.lua": `tool = { name = "drop", approve = true }
			function tool.execute() return 1 end`,
		"tools/open.lua": `tool = { name = "open", approve = true, config = { a = 1 }, permissions = { read = { "data" } } }
			function tool.execute(_, context) return { context.config.a, fs.read("../data/file") } end`,
		"data/file": "content",
	})
	h := hostOf(t, Options{})
	require.Empty(t, h.Project.Broken())
	_, failed := call(t, h, "drop", "")
	require.NotNil(t, failed)
	require.Equal(t, toolhost.NeedsApproval, failed.Code)
	require.Equal(t, `[1,"content"]`, result(t, h, "open", ""))
}

// With isolation = "thread" each call has locals and globals of its own, and the modules of the calls before.
func TestThreadKeepsModules(t *testing.T) {
	const body = `n += 1 cache.n += 1 count = (count or 0) + 1 return { n, count, cache.n }`
	inFolder(t, map[string]string{
		"tools/cache.luau": `return { n = 0 }`,
		"tools/warm.yaml":  "name: warm\nisolation: thread\nlua: |\n  local cache, n = require('./cache'), 0\n  function invoke(ctx) " + body + " end\n",
		"tools/lua.lua":    `tool = { name = "lua", isolation = "thread" } local cache, n = require("./cache"), 0 function tool.execute() ` + body + ` end`,
		"tools/new.yaml":   "name: new\nlua: |\n  local cache, n = require('./cache'), 0\n  function invoke(ctx) " + body + " end\n",
	})
	h := hostOf(t, Options{})
	require.Empty(t, h.Project.Broken())
	for i := 1; i <= 3; i++ {
		require.Equal(t, fmt.Sprintf("[1,1,%d]", i), result(t, h, "warm", ""))
		require.Equal(t, fmt.Sprintf("[1,1,%d]", i), result(t, h, "lua", ""))
		require.Equal(t, "[1,1,1]", result(t, h, "new", ""))
	}
}
