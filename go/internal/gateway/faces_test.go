package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// pets is an OpenAPI service with tags.
func pets(t testing.TB) *fake {
	f := &fake{kind: catalog.OpenAPI, source: &catalog.Source{Name: "pets", Kind: catalog.OpenAPI, Description: "A shop", Functions: []catalog.Function{
		{Name: "list_pets", Description: "Lists pets.\nAll of them.", Tags: []string{"read"}, Params: tree(t, `{"type":"object","properties":{"limit":{"type":"integer"}}}`)},
		{Name: "create_pet", Description: "Makes one", Tags: []string{"write"}, Body: tree(t, `{"$ref":"#/$defs/NewPet"}`), BodyRequired: true},
	}, Defs: tree(t, `{"NewPet":{"type":"object","properties":{"name":{"type":"string"},"tag":{"$ref":"#/$defs/Tag"}},"required":["name"]},
		"Tag":{"type":"object","properties":{"id":{"type":"number"},"name":{"type":"string"}},"required":["id","name"]}}`)}}
	for i := range f.source.Functions {
		f.source.Functions[i].Defs = f.source.Defs
	}
	f.answer = func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
		if c.Function.Name == "list_pets" {
			return &gateway.Result{Response: &gateway.Response{Status: 200, JSON: json.RawMessage(`[{"name":"Rex"}]`)}}, nil
		}
		return nil, &gateway.Failure{Code: "http", Message: "the service answered with 422", Status: 422, Body: map[string]any{"title": "no"}}
	}
	return f
}

// The tools of the default face give what they are specified to give.
func TestShapesOfTheSDKFace(t *testing.T) {
	broken := server(t, "broken", "one")
	broken.source = &catalog.Source{Name: "broken", Kind: catalog.MCP}
	broken.status = gateway.Status{State: gateway.Unhealthy, Reason: "no such file"}
	f := newFixture(t, gateway.Options{}, pets(t), server(t, "my.srv", "get-user"), broken)
	names := []string{}
	for _, tool := range f.gateway.Tools() {
		names = append(names, tool.Name)
	}
	require.Equal(t, []string{"list_apis", "list_functions", "search_docs", "get_function_docs", "execute_script"}, names)

	require.Equal(t, `[{"name":"pets","source":"openapi","description":"A shop","functions":2},`+
		`{"name":"my_srv","source":"mcp","description":"The server my.srv","functions":1},`+
		`{"name":"broken","source":"mcp","functions":0,"status":"unhealthy: no such file"}]`, f.gives("list_apis", nil))

	require.Equal(t, `{"functions":[{"name":"pets.create_pet","description":"Makes one"}]}`, f.gives("list_functions", map[string]any{"api": "pets", "tag": "write"}))
	require.Equal(t, `{"functions":[{"name":"my_srv.get_user","description":"The tool get-user"}]}`, f.gives("list_functions", map[string]any{"api": "my.srv"}))
	require.Equal(t, `{"functions":[{"name":"pets.list_pets","description":"Lists pets."}]}`, f.gives("list_functions", map[string]any{"text": "lists"}))
	_, failed := f.call("list_functions", map[string]any{"api": "pet"})
	require.Contains(t, failed.Message, "did you mean")

	docs := f.gives("get_function_docs", map[string]any{"name": "pets.create_pet"})
	var text string
	require.NoError(t, json.Unmarshal([]byte(docs), &text))
	require.Contains(t, text, "-- Makes one")
	require.Contains(t, text, "function sdk.pets.create_pet(body: NewPet)")
	require.Regexp(t, `export type NewPet = \{\s+name: string,\s+tag: Tag\?,?\s+\}`, text)
	require.Regexp(t, `export type Tag = \{\s+id: number,\s+name: string,?\s+\}`, text)
	for _, name := range []string{"my.srv.get-user", "my_srv.get_user", "sdk.my_srv.get_user"} {
		require.Contains(t, f.gives("get_function_docs", map[string]any{"name": name}), "sdk.my_srv.get_user", name)
	}
	_, failed = f.call("get_function_docs", map[string]any{"name": "pets.create_pt"})
	require.Contains(t, failed.Message, "create_pet")
	require.Contains(t, f.gives("search_docs", map[string]any{"query": "make a pet"}), "create_pet")

	require.JSONEq(t, `{"result":[{"name":"Rex"}],"logs":["hi"],"files_touched":[]}`, f.gives("execute_script", map[string]any{"script": `print("hi") return sdk.list_pets()`}))
	require.Equal(t, `null`, f.run(`print("nothing")`), "nothing is null")
	require.Equal(t, f.run(`return { 1 }`), f.run(`result({ 1 })`))

	failed = f.fails("\nsdk.pets.create_pet{ name = 'x' }")
	require.Equal(t, toolhost.Upstream, failed.Code)
	require.Equal(t, "script:2: the service answered with 422", failed.Message)
	require.Equal(t, `{"body":{"title":"no"},"retryable":false,"server":"pets","status":422,"tool":"create_pet"}`, f.run(
		`local _, e = pcall(sdk.pets.create_pet, { name = "x" }) return { status = e.status, body = e.body, retryable = e.retryable, server = e.server, tool = e.tool }`))
	for _, missing := range []string{`sdk.pets.create_pet()`, `sdk.pets.create_pet{}`, `sdk.pets.create_pet{ name = 5 }`, `sdk.pets.list_pets{ limit = "x" }`} {
		require.Equal(t, toolhost.ToolError, f.fails(missing).Code, missing)
	}
}

func TestWhichFaceIsServed(t *testing.T) {
	for face, want := range map[config.Face]int{config.SDKFace: 5, config.ProxyFace: 5, config.BothFaces: 10, "": 5} {
		f := newFixture(t, gateway.Options{Face: face}, server(t, "s", "one"))
		require.Len(t, f.gateway.Tools(), want, face)
		_, failed := f.call("execute", map[string]any{"script": "result(1)"})
		require.Equal(t, face == config.SDKFace || face == "", failed != nil && failed.Code == toolhost.NotFound, "%s: %v", face, failed)
	}
}

// thousands is a server with very many tools.
func thousands(t testing.TB, count int) *fake {
	f := server(t, "big")
	for i := range count {
		f.source.Functions = append(f.source.Functions, catalog.Function{
			Name: fmt.Sprintf("tool_%d_of_many", i), Description: "Does one of many things, and this is described at some length here.",
			Params: tree(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`),
		})
	}
	return f
}

// The listing of the default face does not grow with what there is. Four characters are about one token.
func TestListingIsShort(t *testing.T) {
	sizes := map[int]int{}
	for _, count := range []int{0, 5000} {
		f := newFixture(t, gateway.Options{}, thousands(t, count))
		for _, tool := range f.gateway.Tools() {
			entry, err := json.Marshal(map[string]any{"name": tool.Name, "description": tool.Description, "inputSchema": tool.Params.Document()})
			require.NoError(t, err)
			sizes[count] += utf8.RuneCount(entry)
		}
		require.Less(t, sizes[count]/4, 1200)
	}
	require.Equal(t, sizes[0], sizes[5000])
}

func TestPagesOfManyFunctions(t *testing.T) {
	f := newFixture(t, gateway.Options{}, thousands(t, 250))
	seen := map[string]bool{}
	cursor := ""
	for pages := 1; ; pages++ {
		args := map[string]any{}
		if cursor != "" {
			args["cursor"] = cursor
		}
		var page struct {
			Functions  []struct{ Name string }
			NextCursor string `json:"next_cursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(f.gives("list_functions", args)), &page))
		for _, entry := range page.Functions {
			require.False(t, seen[entry.Name])
			seen[entry.Name] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			require.Equal(t, 3, pages)
			break
		}
	}
	require.Len(t, seen, 250)
	_, failed := f.call("list_functions", map[string]any{"cursor": "none of ours"})
	require.Equal(t, toolhost.BadRequest, failed.Code)
	small := f.gives("search_docs", map[string]any{"query": "one of many things", "max_tokens": float64(100)})
	require.Less(t, len(small)/4, 130)
	require.Contains(t, f.gives("search_docs", map[string]any{"query": "tool_0_of_many", "max_tokens": float64(1)}), "big.tool_0_of_many", "too little is more")
	require.Less(t, len(f.gives("search_docs", map[string]any{"query": "one of many things", "max_tokens": float64(1e9)}))/4, 21_000, "what is too much is less")
}
