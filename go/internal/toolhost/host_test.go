package toolhost_test

import (
	"context"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/libs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set is a set of tools by name.
type set map[string]*tooldef.Tool

func (s set) Tools() []*tooldef.Tool {
	var list []*tooldef.Tool
	for _, t := range s {
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func (s set) Find(name string) (*tooldef.Tool, bool) {
	t, ok := s[name]
	return t, ok
}

func object(t testing.TB, properties map[string]any, required ...any) *schema.Schema {
	t.Helper()
	doc := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		doc["required"] = required
	}
	s, err := schema.Compile(doc, "params")
	require.NoError(t, err)
	return s
}

// tool is one with this script.
func tool(t testing.TB, name, source string) *tooldef.Tool {
	t.Helper()
	made := &tooldef.Tool{Name: name, Source: source, Chunk: "@tools/" + name + ".yaml", Hash: name + source, Params: object(t, map[string]any{})}
	if strings.Contains(source, "tool = ") {
		made.Dialect, made.Chunk = tooldef.Execute, "@tools/"+name+".lua"
	}
	return made
}

// newHost serves tools, with a store in memory.
func newHost(t testing.TB, o toolhost.Options, tools ...*tooldef.Tool) *toolhost.Host {
	t.Helper()
	if o.Store == nil {
		s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		o.Store = s
	}
	resolver, err := module.New(module.Options{Embedded: libs.FS})
	require.NoError(t, err)
	o.Resolver = func(*tooldef.Tool) engine.Resolver { return resolver }
	if o.HTTP == nil {
		o.HTTP = func(made *tooldef.Tool) (*httpmod.Module, error) {
			client, err := httpmod.New(httpmod.Options{Policy: httpmod.Policy{Net: made.Permissions.Net, NetPrivate: made.Permissions.NetPrivate}})
			if err != nil {
				return nil, err
			}
			t.Cleanup(client.CloseIdle)
			return httpmod.NewModule(client), nil
		}
	}
	h := toolhost.New(o)
	served := set{}
	for _, t := range tools {
		served[t.Name] = t
	}
	h.Serve(served)
	t.Cleanup(h.Close)
	return h
}

func call(h *toolhost.Host, name, args string) (string, *toolhost.Error) {
	answer, failed := h.Call(context.Background(), toolhost.Request{Tool: name, Args: []byte(args), Caller: toolhost.Caller{Name: "test", Face: "cli"}})
	if failed != nil {
		return "", failed
	}
	return string(answer.JSON), nil
}

func TestCallOfBothDialects(t *testing.T) {
	h := newHost(t, toolhost.Options{},
		tool(t, "echo", "function invoke(ctx, args) return args end"),
		tool(t, "lua", `tool = { name = "lua" } function tool.execute(params, context) return { sum = params.a + 1, same = context == _G.context, text = json.encode(params) } end`),
	)
	for range 3 {
		result, failed := call(h, "echo", `{"list":[],"map":{},"null":null,"big":9007199254740993,"x":[1,2.5,"a"]}`)
		require.Nil(t, failed)
		require.Equal(t, `{"big":9007199254740993,"list":[],"map":{},"null":null,"x":[1,2.5,"a"]}`, result)
		result, failed = call(h, "lua", `{"a":1}`)
		require.Nil(t, failed)
		require.Equal(t, `{"same":true,"sum":2,"text":"{\"a\":1}"}`, result)
	}
}

func TestCallFails(t *testing.T) {
	h := newHost(t, toolhost.Options{},
		tool(t, "bad", "function invoke(ctx, args)\n\tlocal x = nil\n\treturn x.y\nend"),
		tool(t, "raises", `function invoke(ctx, args) error({ code = "no_luck", message = "no luck" }) end`),
		tool(t, "none", `local x = 1`),
	)
	_, failed := call(h, "nothing", "{}")
	require.Equal(t, toolhost.NotFound, failed.Code)
	require.Equal(t, "no tool registered with name: nothing", failed.Message)
	_, failed = call(h, "a"+strings.Repeat("\u00e9", 100), "{}")
	require.Equal(t, "no tool registered with name: a"+strings.Repeat("\u00e9", 49)+"...", failed.Message, "no half of a character")
	_, failed = call(h, "bad", "{}")
	require.Equal(t, toolhost.ToolError, failed.Code)
	require.Equal(t, "tools/bad.yaml:3: attempt to index nil with 'y'", failed.Message)
	require.NotEmpty(t, failed.ID)
	_, failed = call(h, "raises", "{}")
	require.Equal(t, "no_luck", failed.Detail)
	require.Equal(t, "no luck", failed.Message)
	_, failed = call(h, "none", "{}")
	require.Equal(t, "not_found", failed.Detail)
	require.Equal(t, "the script defines no global function invoke", failed.Message)
	for body, message := range map[string]string{
		`error("plain")`: "tools/fails.yaml:1: plain",

		`error("plain", 0)`:   "plain",
		`sleep("x")`:          "tools/fails.yaml:1: attempt to call a nil value",
		`ctx.update_state(1)`: "ctx.update_state: argument 1 must be a key, got number",
		`error(setmetatable({}, { __tostring = function() return "made" end }))`: "made",
		`ctx.emit({ print })`: "ctx.emit: cannot encode a function (only nil, json.null, booleans, numbers, strings and tables) at $[1]",
		`return print`:        "the result is not JSON: cannot encode a function (only nil, json.null, booleans, numbers, strings and tables) at $",
		`return { 0 / 0 }`:    "the result is not JSON: cannot encode NaN at $[1]",
	} {
		h := newHost(t, toolhost.Options{}, tool(t, "fails", "function invoke(ctx) "+body+" end"))
		_, failed := call(h, "fails", "{}")
		require.NotNil(t, failed, body)
		require.Equal(t, message, failed.Message, body)
		require.Equal(t, strings.HasPrefix(body, "return"), failed.Detail == "invalid_result", failed.Detail)
	}
	// Codes of the engine that a script gives are the script's: its own message stands, and the call failed as any.
	for _, code := range []string{"memory", "timeout", "cancelled", "limit", "permission", "upstream"} {
		h := newHost(t, toolhost.Options{}, tool(t, "forge", "function invoke(ctx) error({ code = '"+code+"', message = 'forged' }) end"))
		_, failed := call(h, "forge", "{}")
		require.Equal(t, toolhost.ToolError, failed.Code, code)
		require.Equal(t, "forged", failed.Message)
		require.Equal(t, code, failed.Detail)
	}
	small := newHost(t, toolhost.Options{Memory: 8 << 20}, tool(t, "hungry", "function invoke(ctx) return #string.rep('x', 20000000) end"),
		tool(t, "host", `function invoke(ctx) local list = {} while true do table.insert(list, require("json").decode("[" .. string.rep("1,", 100000) .. "1]")) end end`))
	for _, name := range []string{"hungry", "host"} {
		_, failed = call(small, name, "{}")
		require.Equal(t, "memory", failed.Detail)
		require.Equal(t, "tool '"+name+"' went over its memory limit", failed.Message)
	}
	for _, args := range []string{"[", "[]", "1", `{"a":1,"a":2}`} {
		_, failed = call(h, "raises", args)
		require.Equal(t, toolhost.BadRequest, failed.Code, args)
	}
	_, failed = call(h, "raises", "")
	require.Equal(t, "no_luck", failed.Detail)
}

// X16: what a tool that errors assigned is gone; nested values are kept when it returns well.
func TestX16StateIsKeptWhenTheCallEndsWell(t *testing.T) {
	h := newHost(t, toolhost.Options{},
		tool(t, "write", `function invoke(ctx, args)
			ctx.state.count = (ctx.state.count or 0) + 1
			ctx.state.deep = ctx.state.deep or { list = {} }
			table.insert(ctx.state.deep.list, ctx.state.count)
			if args.fail then error("no") end
		end`),
		tool(t, "read", `function invoke(ctx) return ctx.state end`),
		tool(t, "clear", `function invoke(ctx) ctx.state = {} end`),
	)
	for range 2 {
		_, failed := call(h, "write", "{}")
		require.Nil(t, failed)
		_, failed = call(h, "write", `{"fail":true}`)
		require.Equal(t, toolhost.ToolError, failed.Code)
	}
	result, failed := call(h, "read", "{}")
	require.Nil(t, failed)
	require.Equal(t, `{"count":2,"deep":{"list":[1,2]}}`, result)
	_, failed = call(h, "clear", "{}")
	require.Nil(t, failed)
	result, _ = call(h, "read", "{}")
	require.Equal(t, `{}`, result)
}
