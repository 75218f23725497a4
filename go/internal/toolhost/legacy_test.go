package toolhost_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Without a knowledge base a script that searches in one finds nothing, and the log says why, once in each call.
func TestNoKnowledgeBase(t *testing.T) {
	for _, isolation := range []engine.Isolation{engine.Pristine, engine.Shared} {
		made := tool(t, "search", `tool = {} function tool.execute(params, context)
			local results = context.search(params.title, { mode = "hybrid", limit = 3 })
			if #results > 0 then error("found") end
			context.search("again")
			return { results = results, sources = context.sources() }
		end`)
		made.Isolation = isolation
		h := newHost(t, toolhost.Options{}, made)
		for range 3 {
			var s sink
			answer, failed := h.Call(t.Context(), toolhost.Request{Tool: "search", Args: []byte(`{"title":"x"}`), Sink: &s})
			require.Nil(t, failed)
			require.Equal(t, `{"results":[],"sources":[]}`, string(answer.JSON))
			require.Equal(t, []string{"WARN this host has no knowledge base: context.search and context.sources give nothing"}, s.logs)
		}
	}
	h := newHost(t, toolhost.Options{}, tool(t, "get", `tool = {} function tool.execute(params, context) return context.get("abc") end`),
		tool(t, "wrong", `tool = {} function tool.execute(params, context) return context.search() end`))
	_, failed := call(h, "get", "")
	require.Equal(t, "not_found", failed.Detail)
	require.Contains(t, failed.Message, "context.get: there is no document abc: this host has no knowledge base")
	_, failed = call(h, "wrong", "")
	require.Equal(t, "invalid_argument", failed.Detail)
}

// What fs.list of a Lua tool gives is what fs.read takes, from the script's folder, and shows no folder of the host.
func TestListedPaths(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"tools/sub/a.txt", "tools/sub/deep/b.txt", "tools/top.txt", "data/c.txt", "d.txt"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644))
	}
	list := tool(t, "list", `tool = {} function tool.execute(params)
		local found = {}
		for _, entry in fs.list(params.dir, params.glob) do
			assert(entry.modified == math.floor(entry.modified) and entry.modified > 1e9)
			found[entry.path] = if params.read then fs.read(entry.path) else entry.size
		end
		return found
	end`)
	outer := *list
	outer.Name, outer.Chunk, outer.Hash = "outer", "@outer.lua", "outer"
	list.Permissions.Read, outer.Permissions.Read = []string{"."}, []string{"."}
	h := newHost(t, toolhost.Options{Folder: folder}, list, &outer)
	for _, test := range []struct{ tool, args, want string }{
		{"list", `{"dir":"sub","glob":"**/*.txt","read":true}`, `{"sub/a.txt":"tools/sub/a.txt","sub/deep/b.txt":"tools/sub/deep/b.txt"}`},
		{"list", `{"dir":"./sub//","glob":"*.txt","read":true}`, `{"sub/a.txt":"tools/sub/a.txt"}`},
		{"list", `{"dir":".","glob":"*.txt","read":true}`, `{"top.txt":"tools/top.txt"}`},
		{"list", `{"dir":"../data","read":true}`, `{"../data/c.txt":"data/c.txt"}`},
		{"list", `{"dir":"..","glob":"*.txt","read":true}`, `{"../d.txt":"d.txt"}`},
		{"list", `{"dir":"sub/../../data/.","read":true}`, `{"../data/c.txt":"data/c.txt"}`},
		{"outer", `{"dir":"tools/sub","glob":"*.txt","read":true}`, `{"tools/sub/a.txt":"tools/sub/a.txt"}`},
		{"outer", `{"dir":".","glob":"*.txt","read":true}`, `{"d.txt":"d.txt"}`},
	} {
		got, failed := call(h, test.tool, test.args)
		require.Nil(t, failed, test.args)
		require.Equal(t, test.want, got, test.args)
	}
	got, failed := call(h, "list", `{"dir":"`+folder+`/data","read":true}`)
	require.Nil(t, failed)
	require.Equal(t, `{"`+folder+`/data/c.txt":"data/c.txt"}`, got, "who names a folder of the host gets its paths")
	_, failed = call(h, "list", `{"dir":"none"}`)
	require.NotContains(t, toolhost.ScriptError(failed).Message, folder)
	require.Contains(t, failed.Message, "tools/none")
	_, failed = call(h, "list", `{"dir":5}`)
	require.Equal(t, "invalid_argument", failed.Detail)
}

// Errors of json.parse are named so.
func TestErrorsOfJSONParse(t *testing.T) {
	h := newHost(t, toolhost.Options{}, tool(t, "parse", `tool = {} function tool.execute(params)
		assert(json.parse("[1]")[1] == 1)
		return json.parse(params.text)
	end`))
	_, failed := call(h, "parse", `{"text":"[1"}`)
	require.Regexp(t, "^json.parse: ", failed.Message)
	require.Equal(t, "json", failed.Detail)
	require.Equal(t, 3, toolhost.ScriptError(failed).Line)
	_, failed = call(h, "parse", `{}`)
	require.Equal(t, "json.parse: argument 1 must be a string, got nil", failed.Message)
}
