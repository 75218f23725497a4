package toolhost_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
