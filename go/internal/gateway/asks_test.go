package gateway_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// The user of a client that can ask is asked about a call of a script, while the script waits.
func TestUsersApproveCallsOfScripts(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			s := server(t, "s", "pay")
			f := newFixture(t, gateway.Options{Policy: []config.Rule{{Match: []config.Pattern{"s.pay"}, Action: config.Approve}}}, s)
			face := httptest.NewServer(served(t, f).HTTP())
			t.Cleanup(face.Close)
			var mu sync.Mutex
			var asked []string
			accept := true
			client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					mu.Lock()
					defer mu.Unlock()
					asked = append(asked, r.Params.Message)
					if !accept {
						return &mcp.ElicitResult{Action: "decline"}, nil
					}
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
				},
			}).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: face.URL}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			require.NoError(t, err)
			defer client.Close()
			execute := func(script string) *mcp.CallToolResult {
				t.Helper()
				r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_script", Arguments: map[string]any{"script": script}})
				require.NoError(t, err)
				return r
			}
			r := execute(`local paid = sdk.s.pay{ n = 5 } return paid.n`)
			require.False(t, r.IsError, r.Content[0].(*mcp.TextContent).Text)
			require.Contains(t, r.Content[0].(*mcp.TextContent).Text, `"result":5`)
			require.Len(t, asked, 1)
			require.Contains(t, asked[0], "pay")
			require.Contains(t, asked[0], "5", "the user sees what would be sent")

			accept = false
			r = execute(`local ok, e = pcall(sdk.s.pay, { n = 6 }) return { ok, e.code }`)
			require.Contains(t, r.Content[0].(*mcp.TextContent).Text, `[false,`)
			require.Equal(t, []string{`pay {"n":5}`}, s.seen())
		})
	}
}

// drawer is the files of one session, in memory.
type drawer struct {
	files  map[string]string
	closed bool
}

func (d *drawer) Close() { d.closed = true }

func (d *drawer) Read(_ context.Context, path string) (string, error) { return d.files[path], nil }

func (d *drawer) Write(_ context.Context, path, text string, add bool) error {
	if add {
		text = d.files[path] + text
	}
	d.files[path] = text
	return nil
}

func (d *drawer) List(context.Context, string) (string, error) {
	list := []string{}
	for path := range d.files {
		list = append(list, path)
	}
	text, err := json.Marshal(list)
	return string(text), err
}

func (d *drawer) Remove(_ context.Context, path string) error {
	delete(d.files, path)
	return nil
}

// What cannot be a result is told with what can be done.
func TestResultsThatAreNoJSON(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "s", "one"))
	for script, advice := range map[string]bool{`return buffer.create(3)`: true, `return { text = "\xff" }`: true, `return { print }`: false} {
		told := f.fails(script).Message
		require.Contains(t, told, "the result is no JSON: cannot encode a", script)
		require.Equal(t, advice, strings.Contains(told, `; bytes become text by require("encoding").base64.encode, or a file by scratch.write`), told)
	}
	require.Equal(t, `"AAAA"`, f.run(`return require("encoding").base64.encode(buffer.create(3))`))
}

func TestFilesOfSessions(t *testing.T) {
	drawers := map[string]*drawer{}
	s := server(t, "s", "one")
	f := newFixture(t, gateway.Options{Files: func(session string) (gateway.Folder, error) {
		require.Nil(t, drawers[session], "a session's files are opened once")
		drawers[session] = &drawer{files: map[string]string{}}
		return drawers[session], nil
	}}, s)
	eve := toolhost.Caller{Name: "bob", Face: "mcp", Client: "2"}
	all := f.by(bob, `files.write("b", "1") scratch.append("b", "2") sdk.files.write("a", "x") files.read("c") files.list() return files.read("b")`)
	require.Equal(t, told{Result: json.RawMessage(`"12"`), Logs: []string{}, Files: []string{"a", "b"}}, all)
	require.Equal(t, `[]`, string(f.by(eve, `return files.list()`).Result))
	require.Equal(t, `"12"`, f.run(`return files.read("b")`), "they stay between scripts")
	require.Equal(t, []string{"a"}, f.by(bob, `files.remove("a") return #files.list()`).Files)
	require.Len(t, drawers, 2)
	f.gateway.Forget(bob)
	f.gateway.Forget(eve)
	for session, d := range drawers {
		require.True(t, d.closed, session)
	}
	require.Len(t, s.gone, 2, "the sources hear of it")

	none := newFixture(t, gateway.Options{}, server(t, "s", "one"))
	require.Contains(t, none.fails(`files.write("a", "b")`).Message, "this gateway keeps no files")
	require.Contains(t, none.fails(`return require("fs").read("/etc/passwd")`).Message, "reading it is not granted; scratch has the files of this session")
	// A server of that name comes first.
	own := newFixture(t, gateway.Options{}, server(t, "files", "read"))
	require.Equal(t, `{"n":1}`, own.run(`return sdk.files.read{ n = 1 }`))
	require.Equal(t, `{"n":1}`, own.run(`return files.read{ n = 1 }:await()`))
	for _, tool := range own.gateway.Tools() {
		require.NotContains(t, tool.Description, " files.", tool.Name)
	}
}

// What a script raises is told with all of its fields.
func TestWhatScriptsRaise(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "s", "one"))
	failed := f.fails(`error({ code = "sold_out", message = "none left", left = 0, of = print })`)
	require.Equal(t, "sold_out", failed.Detail)
	require.Equal(t, "script:1: none left\ncode: sold_out\ndata: {\"left\":0,\"of\":\"<function>\"}", failed.Text())
	require.Equal(t, "script:1: none such", f.fails(`error("none such")`).Text())
}
