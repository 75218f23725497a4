package mcpserver_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Plain calls in a session do not go through the SDK. One with a member that nobody knows does: both are answered alike.
func TestShortWayAnswersAsTheSDK(t *testing.T) {
	taking := func(made *tooldef.Tool) {
		made.Params = compiled(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	}
	given := func(text string) func(*tooldef.Tool) {
		return func(made *tooldef.Tool) {
			made.Source = ""
			made.Native = func(context.Context, any) (tooldef.Output, error) {
				return tooldef.Output{JSON: []byte("1"), MCP: []byte(text)}, nil
			}
		}
	}
	f := serving(t, tool(t, "echo", echo), tool(t, "text", `function invoke() return "<b>\n" end`),
		tool(t, "list", `function invoke() return { 1, 2 } end`), tool(t, "nothing", `function invoke() end`),
		tool(t, "fails", `function invoke() error("it <fails>") end`), tool(t, "strict", echo, taking),
		tool(t, "given", "", given("{\n\"content\": [{\"type\":\"text\",\"text\":\"as given\"}]}")))
	for _, version := range []string{"2024-11-05", "2025-06-18", "2025-11-25"} {
		for _, params := range []string{
			`"name":"echo","arguments":{"a":[1,2.50,"x\u00e9"]}`, `"name":"echo"`, `"name":"echo","arguments":null`,
			`"name":"echo","arguments":[]`, `"name":"echo","arguments":{},"_meta":{"progressToken":7}`, `"name":"text"`,
			`"name":"list"`, `"name":"nothing"`, `"name":"fails"`, `"name":"strict"`, `"name":"strict","arguments":{"n":"x"}`,
			`"name":"given"`, `"name":"unknown"`, `"name":7`, `"NAME":"echo"`, `"arguments":{}`, `"name":"echo","_meta":7`,
		} {
			t.Run(version+" "+params, func(t *testing.T) {
				p := f.greeted(t, version, "{}")
				var answers []message
				for _, more := range []string{"", `,"unknown":1`} {
					p.send(`{"jsonrpc":"2.0","id":"<1>","method":"tools/call","params":{` + params + more + `}}`)
					m, _ := p.answer()
					if meta, ok := m.at("result._meta").(map[string]any); ok {
						require.NotEmpty(t, meta["hukilau/call"])
						delete(meta, "hukilau/call") // each call has an id of its own
					}
					answers = append(answers, m)
				}
				require.Equal(t, answers[1], answers[0])
			})
		}
	}
}

// What names the stateless revision is answered as that wants it, also where a session has begun.
func TestShortWayKnowsItsRevisions(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	m, _ := p.answer()
	require.Contains(t, m.at("error.message"), "clientCapabilities")
	early := f.pipe(t)
	early.send(callOf("1", "echo", "{}"))
	m, _ = early.answer()
	require.NotNil(t, m["error"], "no session has begun")
}

// A call that cannot be answered, as nobody reads, keeps nobody.
func TestUnreadAnswersOfCallsKeepNobody(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{Grace: time.Millisecond}, tool(t, "echo", echo))
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- f.server.Stdio(context.Background(), toServer, fromServer) }()
	_, err := io.WriteString(in, initialize("2025-11-25", "{}")+"\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(io.LimitReader(out, 64<<10)).ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(line, `{"jsonrpc":"2.0","id":"init"`), line)
	for _, id := range []string{"1", "2", "3"} {
		_, err = io.WriteString(in, callOf(id, "echo", "{}")+"\n")
		require.NoError(t, err)
	}
	in.Close()
	select {
	case err := <-ended:
		require.ErrorContains(t, err, "does not read")
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	out.Close() // so that nothing is left of the test
}
