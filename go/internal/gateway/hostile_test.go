package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Whatever a server says it gives, a script gets a value or an error, and goes on.
func TestResultsThatAreNone(t *testing.T) {
	s := newSite(t, oneTool)
	m := s.source(t, "site", upstream.Config{MaxBytes: 1 << 20}, upstream.Options{})
	f := newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{m}})
	for result, want := range map[string]string{
		`{}`: `[true,null]`, `{"content":[]}`: `[true,null]`, `{"content":null}`: `[true,null]`,
		`{"content":[],"structuredContent":null}`:               `[true,null]`,
		`{"content":[],"structuredContent":[1]}`:                `[true,[1]]`,
		`{"content":[],"structuredContent":"x"}`:                `[true,"x"]`,
		`{"content":[{"type":"text","text":"a\u0000\ud800b"}]}`: `[true,"a\u0000`,
		`{"content":[{"type":"text"}]}`:                         `[true,[{"type":"text"}]]`,
		`{"content":[{"type":"text","text":5}]}`:                `[true,[{"text":5,"type":"text"}]]`,
		`{"content":[null,5,"x",[],{}]}`:                        `[true,[null,5,"x",[],{}]]`,
		`{"content":[],"structuredContent":{"a":1,"a":2}}`:      `[true,{"a":2}]`,
		`{"content":[],"structuredContent":{"":1,"__index":2}}`: `[true,{"":1,"__index":2}]`,
		`{"content":[],"structuredContent":{"n":1e400}}`:        `[false`,
		`{"content":5}`:                 `[false`,
		`{"content":{"type":"text"}}`:   `[false`,
		`null`:                          `[`,
		`[]`:                            `[`,
		`"text"`:                        `[`,
		`{"content":[],"isError":true}`: `[false,"the tool failed and did not say why"]`,
		`{"content":[{"type":"text","text":"no"}],"isError":true}`:                                               `[false,"no"]`,
		`{"content":[],"structuredContent":{"w":1},"isError":true}`:                                              `[false,"{\"w\":1}"]`,
		`{"content":[],"isError":"true"}`:                                                                        `[`,
		`{"content":[],"structuredContent":` + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) + `}`: `[false`,
		`{"content":[{"type":"text","text":"` + strings.Repeat("x", 2<<20) + `"}]}`:                              `[false`,
	} {
		s.mu.Lock()
		s.answer = func(string, string, json.RawMessage) string { return result }
		s.mu.Unlock()
		got := f.run(`local ok, v = pcall(sdk.site.one) return { ok, if ok then (if v == nil then json.null else v) else v.message }`)
		require.True(t, strings.HasPrefix(got, want), "%.200s\n%.200s", result, got)
		s.mu.Lock()
		s.answer = nil
		s.mu.Unlock()
		require.Equal(t, `"one"`, f.run(`return sdk.site.one{}.tool`))
	}
}

// Tools of a hostile server can be listed, found, described and called, or it is said why not.
func TestSchemasThatAreNone(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 60) + `{}` + strings.Repeat(`}}`, 60)
	schemas := []string{
		`null`, `5`, `"x"`, `[]`, `true`, `{}`, `{"type":"string"}`, `{"type":["object","null"]}`, `{"type":5}`, `{"properties":[]}`, `{"required":"x"}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/None"}}}`, `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`,
		`{"$ref":"file:///etc/passwd"}`, `{"$ref":"#"}`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`,
		`{"$schema":"http://none.example/schema","type":"object"}`, `{"$id":"http://127.0.0.1:1/","type":"object","properties":{"a":{"$ref":"b"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"(a+)+$"}}}`, `{"type":"object","properties":{"a":{"pattern":"("}}}`,
		`{"type":"object","properties":{"end":{"type":"string"},"a b":{"type":"number"},"\n--]] x":{"type":"string","description":"]] \n end error()"}}}`,
		`{"type":"object","properties":{"a":{"enum":[]},"b":{"enum":["\u0000",null,{"x":1}]},"c":{"const":"\n"}}}`,
		`{"anyOf":[{"type":"object"},{"type":"string"}]}`, `{"type":"object","allOf":[{"$ref":"#/allOf/0"}]}`, `{"type":"object","minProperties":1e309}`, deep,
	}
	var tools []string
	for i, schema := range schemas {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":"]] end\u202e \u001b[31m","inputSchema":%s,"outputSchema":%[2]s}`, i, schema))
	}
	s := newSite(t, "["+strings.Join(tools, ",")+"]")
	m := s.source(t, "site", upstream.Config{}, upstream.Options{})
	f := newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{m}, Checker: checker(t)})
	require.NotEmpty(t, f.gives("list_functions", nil))
	require.NotEmpty(t, f.gives("search_docs", map[string]any{"query": "t1"}))
	reached := 0
	for i, schema := range schemas {
		name := fmt.Sprintf("t%d", i)
		docs, failed := f.call("get_function_docs", map[string]any{"name": "site." + name})
		if failed != nil { // it was left out of the list, as what is no tool
			require.Contains(t, failed.Message, "there is no function", schema)
			continue
		}
		reached++
		require.True(t, utf8.ValidString(docs), schema)
		var text string
		require.NoError(t, json.Unmarshal([]byte(docs), &text))
		require.NotContains(t, text, "\x1b", schema)
		answer, failed := f.call("execute_script", map[string]any{"script": fmt.Sprintf(`local ok, v = pcall(function() return (sdk.site :: any).%s{} end) return ok`, name)})
		if failed != nil {
			require.Nil(t, failed, schema+"\n"+failed.Message)
		}
		require.Contains(t, []string{`{"result":true`, `{"result":fals`}, answer[:14], schema)
		_, failed = f.call("execute_script", map[string]any{"script": fmt.Sprintf(`sdk.site.%s{} return 1`, name)})
		if failed != nil {
			require.NotEqual(t, toolhost.Timeout, failed.Code, schema)
		}
	}
	require.Greater(t, reached, len(schemas)-8)
}

// A client that gives up ends the script, and what it has asked of servers; so does a script that ends.
func TestCancellationReachesServers(t *testing.T) {
	begun, ended := make(chan struct{}, 10), make(chan error, 10)
	s := server(t, "s", "wait")
	s.answer = func(ctx context.Context, _ *gateway.Call) (*gateway.Result, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}
	f := newFixture(t, gateway.Options{}, s)
	for script, calls := range map[string]int{
		`return sdk.s.wait{}`: 1, `return async.map({ 1, 2, 3 }, function() return sdk.s.wait{} end)`: 3,
		`local a, b = s.wait{}, s.wait{} return a:await()`: 2, `s.wait{} s.wait{} return 1`: 2, `pcall(sdk.s.wait) pcall(sdk.s.wait) return 1`: 1,
	} {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan *toolhost.Error)
		go func() {
			_, failed := f.host.Call(ctx, toolhost.Request{Tool: "execute_script", Value: map[string]any{"script": script}, Caller: bob})
			done <- failed
		}()
		for range calls {
			<-begun
		}
		stop()
		require.NotNil(t, <-done, script)
		for range calls {
			require.Error(t, <-ended, script)
		}
	}
	failed := f.fails(`s.wait{} s.wait{} error("oh")`)
	require.Contains(t, failed.Message, "oh")
	for range 2 {
		<-begun
		require.Error(t, <-ended, "nobody waits for them any more")
	}
	_, failed = f.call("execute_script", map[string]any{"script": `s.wait{} return sdk.s.wait{}`, "timeout_ms": float64(50)})
	require.Equal(t, toolhost.Timeout, failed.Code)
	for range 2 {
		<-begun
		<-ended
	}
}
