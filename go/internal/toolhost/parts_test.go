package toolhost_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
)

// What a script does not name is there all the same, once it is asked for, in each call.
func TestPartsOfTheContextAreFound(t *testing.T) {
	h := granted(t, "ask", `function invoke(ctx, args)
		local generate = ctx["gener" .. "ate"]
		assert(generate == ctx["gener" .. "ate"] and rawget(ctx, "gener" .. "ate") == generate)
		for _, rest in { "ate_json", "ate_stream" } do
			assert(type(ctx["gener" .. rest]) == "function", rest)
		end
		assert(type(ctx["create" .. "_agent"]) == "function")
		assert(ctx.nothing == nil)
		return generate("m", "x")
	end`)(withModel(fakemodel.New(fakemodel.Answer{Text: "one"}, fakemodel.Answer{Text: "two"}, fakemodel.Answer{Text: "three"})))
	for _, text := range []string{"one", "two", "three"} {
		result, failed := call(h, "ask", "{}")
		require.Nil(t, failed)
		require.Equal(t, `"`+text+`"`, result)
	}
}

// They are the host's own: no script gets hold of them.
func TestPartsOfTheContextAreNoModules(t *testing.T) {
	for _, name := range []string{"ctx/models", "ctx/legacy"} {
		h := newHost(t, withModel(fakemodel.New()), tool(t, "ask", `function invoke() return (require("`+name+`")) end`))
		_, failed := call(h, "ask", "{}")
		require.NotNil(t, failed)
		require.Contains(t, failed.Message, "no library has this name")
	}
}
