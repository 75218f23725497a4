package toolhost_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Calls that share a VM share what the script itself keeps, and nothing of each other's: state, caller and
// configuration are each call's own, whatever the one before did to its ctx.
func TestCallsThatShareAVMHaveTheirOwnContext(t *testing.T) {
	body := `
		local ctx = ctx or context
		local said = { caller = ctx.call.caller, session = ctx.call.session, secret = ctx.state.secret, n = (ctx.state.n or 0) + 1, key = ctx.config.key }
		ctx.state.secret, ctx.state.n = said.secret or args.secret, said.n
		ctx.config = { key = "evil" }
		pcall(function() getmetatable(ctx).__index = function() return "evil" end end)
		ctx.update_state = function() return "evil" end
		local ok = pcall(function() ctx.call.caller = "evil" end)
		ctx.call, ctx.tools, ctx.log = { caller = "evil" }, nil, nil
		pcall(rawset, ctx, "emit", function() end)
		said.ok = ok
		return said`
	invoke := tool(t, "invoke", "function invoke(ctx, args)"+body+" end")
	execute := tool(t, "execute", `tool = { name = "execute" } function tool.execute(args, given) assert(given == context)`+body+" end")
	for _, made := range []struct{ name string }{{"invoke"}, {"execute"}} {
		for _, isolation := range []engine.Isolation{engine.Shared, engine.Pristine} {
			one := invoke
			if made.name == "execute" {
				one = execute
			}
			copied := *one
			copied.Isolation, copied.Config = isolation, map[string]any{"key": "mine"}
			h := newHost(t, toolhost.Options{}, &copied)
			for turn := 1; turn <= 3; turn++ {
				for _, who := range []string{"ann", "bob"} {
					answer, failed := h.Call(t.Context(), toolhost.Request{
						Tool: made.name, Args: []byte(`{"secret":"of ` + who + `"}`), Caller: toolhost.Caller{Name: who, Face: "http", Session: "s-" + who},
					})
					require.Nil(t, failed)
					secret := ""
					if turn > 1 {
						secret = fmt.Sprintf(`,"secret":"of %s"`, who)
					}
					require.Equal(t, fmt.Sprintf(`{"caller":"%[1]s","key":"mine","n":%[2]d,"ok":false%[3]s,"session":"s-%[1]s"}`, who, turn, secret), string(answer.JSON), "%s %d", made.name, isolation)
				}
			}
		}
	}
}

// Context providers that a call registers are asked in that call only; those of the script's top level in each.
func TestCallsThatShareAVMHaveTheirOwnProviders(t *testing.T) {
	for _, isolation := range []engine.Isolation{engine.Shared, engine.Pristine} {
		p := fakemodel.New(fakemodel.Answer{Text: "a"}, fakemodel.Answer{Text: "b"}, fakemodel.Answer{Text: "c"})
		ask := tool(t, "ask", `local haivivi = require("haivivi")
			local function register(name, says)
				local provider = haivivi.context.Provider.new({ name = name })
				function provider:get_context() return { says = says } end
				haivivi.agent.register_context_provider(provider)
			end
			register("top", "all")
			function invoke(ctx, args)
				if args.own then register("own", args.own) end
				local agent = ctx.create_agent("a", { model = "m" })
				agent:input("x")
				return agent:collect()
			end`)
		ask.Permissions.Models, ask.Isolation = []string{"m"}, isolation
		h := newHost(t, withModel(p), ask)
		for _, args := range []string{`{"own":"of ann"}`, `{}`, `{"own":"of bob"}`} {
			_, failed := call(h, "ask", args)
			require.Nil(t, failed)
		}
		var told []string
		for _, r := range p.Requests() {
			told = append(told, strings.TrimPrefix(r.System, "What you should know for this answer:\n\n"))
		}
		top := `top: {"says":"all"}`
		require.Equal(t, []string{top + "\n\n" + `own: {"says":"of ann"}`, top, top + "\n\n" + `own: {"says":"of bob"}`}, told, "isolation %d", isolation)
	}
}

// Globals are each call's own, but for what a script puts into _G, which is kept as modules are.
func TestGlobalsOfCallsThatShareAVM(t *testing.T) {
	made := tool(t, "counts", `
		plain = (plain or 0) + 1
		_G.named = (_G.named or 0) + 1
		function invoke(ctx)
			later = (later or 0) + 1
			return { plain, later, _G.named }
		end`)
	made.Isolation = engine.Shared
	h := newHost(t, toolhost.Options{}, made)
	for turn := 1; turn <= 3; turn++ {
		result, failed := call(h, "counts", "{}")
		require.Nil(t, failed)
		require.Equal(t, fmt.Sprintf("[1,1,%d]", turn), result)
	}
}
