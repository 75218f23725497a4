package toolhost_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// What a script makes at its top level works in its function, in the first call as in later ones.
func TestHostObjectsOfTheTopLevel(t *testing.T) {
	for name, source := range map[string]string{
		"provider": `local haivivi = require("haivivi")
			local provider = haivivi.context.Provider.new({ name = "x" })
			function provider.get_context() return {} end
			haivivi.agent.register_context_provider(provider)
			function invoke(_, args)
				assert(#haivivi.agent.context_providers() == 1, "those of earlier runs are gone")
				provider:set("a", args.a)
				return provider:get("a")
			end`,
		"context": `local context = require("haivivi/context").create({ name = "x" })
			context:set("a", 1)
			function invoke(_, args) return context:get("a") + args.a - 1 end`,
		"kv": `local kv = require("kv")
			kv.set("a", 0)
			function invoke(_, args) kv.set("a", args.a) return kv.get("a") end`,
		"regex": `local pattern = require("regex").compile("[0-9]+")
			function invoke(_, args) assert(pattern:test("a1")) return args.a end`,
		"task": `local async = require("async")
			local task = async.spawn(function() async.sleep(0.001) return 41 end)
			function invoke(_, args) return task:await() - 41 + args.a end`,
		"channel": `local async = require("async")
			local channel = async.channel(1)
			channel:send(7)
			function invoke(_, args) return channel:receive() - 7 + args.a end`,
		"uuid and time": `local id, at = require("uuid").v4(), require("time").now()
			function invoke(_, args) assert(#id == 36 and at > 0) return args.a end`,
		"address": `local where = tostring({})
			function invoke(_, args) assert(#where > 8) return args.a end`,
	} {
		for _, isolation := range []engine.Isolation{engine.Pristine, engine.Shared} {
			t.Run(fmt.Sprint(name, isolation), func(t *testing.T) {
				made := tool(t, "top", source)
				made.Isolation = isolation
				h := newHost(t, toolhost.Options{}, made)
				for i := range 3 {
					got, failed := call(h, "top", fmt.Sprintf(`{"a":%d,"text":"table: 0x0123456789"}`, i))
					require.Nil(t, failed)
					require.Equal(t, fmt.Sprint(i), got)
				}
			})
		}
	}
}
