package toolhost_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// D19: no path of the host in what a client sees; what is in the config's folder is named from there.
func TestD19ErrorsNameNoPathsOfTheHost(t *testing.T) {
	folder := t.TempDir()
	read := tool(t, "read", `function invoke(ctx, args) return require("fs").read(args.path or "data/none.txt") end`)
	read.Permissions.Read = []string{"data"}
	lua := tool(t, "lua", `tool = { name = "lua" } function tool.execute(params, context) return fs.read("data/none.txt") end`)
	lua.Permissions.Read = []string{"tools/data"}
	require.Equal(t, tooldef.Execute, lua.Dialect)
	h := newHost(t, toolhost.Options{Folder: folder}, read, lua)
	for _, name := range []string{"read", "lua"} {
		_, failed := call(h, name, "{}")
		require.NotNil(t, failed)
		t.Log(failed.Message, failed.Data)
		require.NotContains(t, failed.Message, folder)
		require.NotContains(t, shown(t, failed.Data), folder)
	}
}

// A store that fails is the operator's: scripts and clients do not hear where it is.
func TestErrorsOfTheStoreNameNoPath(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "state.db")})
	require.NoError(t, err)
	var log bytes.Buffer
	h := newHost(t, toolhost.Options{Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil))},
		tool(t, "reads", "function invoke(ctx) return ctx.state.x end"), tool(t, "swaps", "function invoke(ctx) ctx.update_state('x', function() return 1 end) end"),
		tool(t, "writes", "function invoke(ctx) ctx.state = { x = 1 } end"))
	require.NoError(t, s.Close())
	for _, name := range []string{"reads", "swaps", "writes"} {
		_, failed := call(h, name, "{}")
		require.NotNil(t, failed)
		require.Equal(t, "ctx.state: the store cannot be used now; the log says why", failed.Message)
		require.Equal(t, "closed", failed.Detail)
	}
	require.Contains(t, log.String(), dir)
}

// Errors of permission advise what a configuration would have: a host with its port, a path from the config's folder.
func TestAdviceOfPermissionErrors(t *testing.T) {
	folder := t.TempDir()
	h := newHost(t, toolhost.Options{Folder: folder, HTTP: func(made *tooldef.Tool) (*httpmod.Module, error) {
		client, err := httpmod.New(httpmod.Options{Policy: httpmod.Policy{Tool: "get"}})
		return httpmod.NewModule(client), err
	}}, tool(t, "get", `function invoke(_, args) return require("http").get(args.url) end`),
		tool(t, "read", `function invoke(_, args) return require("fs").read(args.path) end`),
		tool(t, "list", `function invoke(_, args) return require("fs").list(args.path) end`),
		tool(t, "lua", `tool = {} function tool.execute(params) return fs.read(params.path) end`))
	for _, test := range []struct{ tool, args, want string }{
		{"get", `{"url":"http://127.0.0.1:8000/x"}`, `add "127.0.0.1:8000" to net_private ([tools.policy.get] in the configuration: net_private = ["127.0.0.1:8000"];`},
		{"get", `{"url":"http://[::1]:8000/x"}`, `net_private = ["[::1]:8000"];`},
		{"get", `{"url":"http://127.0.0.1/x"}`, `net_private = ["127.0.0.1"];`},
		{"get", `{"url":"https://api.example.com/x"}`, `net = ["api.example.com"];`},
		{"get", `{"url":"https://api.example.com:8443/x"}`, `net = ["api.example.com:8443"];`},
		{"read", `{"path":"data/x"}`, `read = ["data"];`},
		{"read", `{"path":"` + folder + `/data/x"}`, `read = ["data"];`},
		{"read", `{"path":"` + folder + `/x"}`, `read = ["."];`},
		{"list", `{"path":"` + folder + `"}`, `read = ["."];`},
		{"read", `{"path":"/etc/passwd"}`, `read = ["/etc"];`},
		{"lua", `{"path":"data/x"}`, `read = ["tools/data"];`},
		{"lua", `{"path":"../data/x"}`, `read = ["data"];`},
	} {
		_, failed := call(h, test.tool, test.args)
		require.Equal(t, toolhost.Permission, failed.Code, test.args)
		require.Contains(t, toolhost.ScriptError(failed).Message, test.want)
	}
}
