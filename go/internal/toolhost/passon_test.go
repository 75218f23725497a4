package toolhost_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// typed takes a whole number n.
func typed(t *testing.T) *tooldef.Tool {
	made := tool(t, "typed", `function invoke(_, args) return args.n end`)
	params, err := schema.Compile(map[string]any{
		"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []any{"n"},
	}, "the parameters")
	require.NoError(t, err)
	made.Params = params
	return made
}

// The error of a called tool that passes through others says what the innermost said.
func TestErrorsThatPassThroughTools(t *testing.T) {
	calling := func(name, source string) *tooldef.Tool {
		made := tool(t, name, source)
		made.Permissions.Tools = []string{"*"}
		return made
	}
	h := newHost(t, toolhost.Options{Depth: 4}, typed(t),
		calling("loops", `function invoke(ctx) return ctx.tools.loops({}) end`),
		calling("hungry", `function invoke() local t = {} while true do table.insert(t, string.rep("x", 1e6) .. #t) end end`),
		calling("raises", `function invoke() error({ code = "sold_out", message = "none are left", left = 0 }) end`),
		calling("breaks", `function invoke() error("broken") end`),
		calling("reaches", `function invoke(ctx) ctx.http.get("http://127.0.0.1:1/") end`),
		calling("mistakes", `function invoke(ctx) ctx.tools.typed({ n = "x" }) end`),
		calling("looks", `function invoke(ctx) ctx.tools.nowhere({}) end`),
		calling("once", `function invoke(ctx, args) return ctx.tools[args.tool]({}) end`),
		calling("twice", `function invoke(ctx, args) return ctx.tools.once(args) end`),
		calling("again", `function invoke(ctx, args)
			local ok, err = pcall(ctx.tools.once, args)
			error(err)
		end`),
		calling("rewords", `function invoke(ctx, args)
			local ok, err = pcall(ctx.tools.once, args)
			error({ code = "mine", message = "sorry" })
		end`),
	)
	for name, want := range map[string]toolhost.Error{
		"loops":    {Code: toolhost.ToolError, Detail: "limit", Message: "tools call tools more than 4 deep ([limits] depth)"},
		"hungry":   {Code: toolhost.ToolError, Detail: "memory", Message: "tool 'hungry' went over its memory limit"},
		"raises":   {Code: toolhost.ToolError, Detail: "sold_out", Message: "none are left", Data: map[string]any{"code": "sold_out", "message": "none are left", "left": 0.0}},
		"breaks":   {Code: toolhost.ToolError, Detail: "runtime", Message: "tools/breaks.yaml:1: broken"},
		"reaches":  {Code: toolhost.Permission, Detail: "permission"},
		"mistakes": {Code: toolhost.ToolError, Detail: "bad_request", Message: "/n: must be an integer, not a string"},
		"looks":    {Code: toolhost.ToolError, Detail: "not_found", Message: "no tool registered with name: nowhere"},
	} {
		for _, through := range []string{"", "once", "twice", "again"} {
			asked, args := through, `{"tool":"`+name+`"}`
			if through == "" {
				asked, args = name, "{}"
			}
			_, failed := call(h, asked, args)
			require.NotNil(t, failed, name+" "+asked)
			require.Equal(t, want.Code, failed.Code, name+" "+asked)
			require.Equal(t, want.Detail, failed.Detail, name+" "+asked)
			if want.Message != "" {
				require.Equal(t, want.Message, failed.Message, name+" "+asked)
			}
			if want.Data != nil {
				require.Equal(t, want.Data, failed.Data, name+" "+asked)
			}
		}
		_, failed := call(h, "rewords", `{"tool":"`+name+`"}`)
		require.Equal(t, "mine sorry", failed.Detail+" "+failed.Message)
	}
}

// Wherever the mistake in an argument is told, the parameter is named: to a model, to an agent's, to a script, and in the logs.
func TestMistakesNameTheParameter(t *testing.T) {
	const want = "/n: must be an integer, not a string"
	caught := tool(t, "caught", `function invoke(ctx) local _, err = pcall(ctx.tools.typed, { n = "x" }) return { err.message, tostring(err), err.path } end`)
	caught.Permissions.Tools = []string{"typed"}
	result, failed := call(newHost(t, toolhost.Options{}, caught, typed(t)), "caught", "{}")
	require.Nil(t, failed)
	require.Equal(t, `["`+want+`","`+want+`","/n"]`, result)
	wrong := calls(models.ToolCall{ID: "1", Name: "typed", Arguments: []byte(`{"n":"x"}`)})
	for name, source := range map[string]string{
		"generate": `return ctx.generate("m", "x", { tools = { "typed" } })`,
		"agent":    `local a = ctx.create_agent("a", { model = "m", tools = { "typed" } }) a:input("x") return a:collect()`,
	} {
		s, err := store.Open(t.Context(), store.Options{Path: store.Memory})
		require.NoError(t, err)
		defer s.Close()
		p := fakemodel.New(wrong, fakemodel.Answer{Text: "done"})
		ask := tool(t, "ask", "function invoke(ctx) "+source+" end")
		ask.Permissions.Models, ask.Permissions.Tools = []string{"m"}, []string{"typed"}
		o := withModel(p)
		var log strings.Builder
		o.Store, o.Logger = s, slog.New(slog.NewTextHandler(&log, nil))
		_, failed := call(newHost(t, o, ask, typed(t)), "ask", "{}")
		require.Nil(t, failed, name)
		messages := p.Requests()[1].Messages
		require.Equal(t, want, messages[len(messages)-1].Parts[0].Result.Text, name)
		require.Contains(t, log.String(), want, name)
		require.NoError(t, s.Log.Flush(t.Context()))
		entries, err := s.Log.List(t.Context(), store.Filter{Tool: "typed"})
		require.NoError(t, err)
		require.Len(t, entries, 1, name)
		require.Equal(t, want, entries[0].Error.Message, name)
	}
}
