package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// The plugin for luau-lsp, run as luau-lsp runs it: each edit must give the path of a library's copy.
func TestEditorPlugin(t *testing.T) {
	dir := t.TempDir()
	_, err := WriteEditorFiles(dir)
	require.NoError(t, err)
	plugin, err := os.ReadFile(filepath.Join(dir, ".luau", "require.luau"))
	require.NoError(t, err)
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.SetGlobal("root", dir))
	_, err = s.Do(t.Context(), "=lsp", `
		local function uri(path)
			return { fsPath = path, joinPath = function(_, ...) return uri(path .. "/" .. table.concat({...}, "/")) end }
		end
		lsp = { workspace = { getRootUri = function() return uri(root) end } }`)
	require.NoError(t, err)
	made, err := s.Do(t.Context(), "=plugin", string(plugin))
	require.NoError(t, err)
	require.NoError(t, s.SetGlobal("plugin", made[0]))
	const source = `local json = require("json")
local a, b = require 'fs', require( "async/task" ) -- ü
local mine, near = require("mine"), require("./json")
local required = xrequire("json")
return require("test").expect`
	require.NoError(t, s.SetGlobal("source", source))
	out, err := s.Do(t.Context(), "=use", `return plugin.transformSource(source, {filePath = root .. "/main.luau", moduleName = "main"})`)
	require.NoError(t, err)
	libs := filepath.ToSlash(dir) + "/.luau/libs/"
	require.Equal(t, `local json = require("`+libs+`json")
local a, b = require '`+libs+`fs', require( "`+libs+`async/task" ) -- ü
local mine, near = require("mine"), require("./json")
local required = xrequire("json")
return require("`+libs+`test").expect`, applied(t, source, out[0].([]any)))
	for _, name := range []string{"json/init.luau", "fs/init.luau", "async/task.luau", "test/init.luau"} {
		require.FileExists(t, libs+name)
	}
}

func applied(t *testing.T, source string, edits []any) string {
	t.Helper()
	lines := strings.Split(source, "\n")
	for i := len(edits) - 1; i >= 0; i-- {
		e := edits[i].(map[string]any)
		n := int(e["startLine"].(float64)) - 1
		from, to := int(e["startColumn"].(float64))-1, int(e["endColumn"].(float64))-1
		require.Equal(t, e["startLine"], e["endLine"])
		lines[n] = lines[n][:from] + e["newText"].(string) + lines[n][to:]
	}
	return strings.Join(lines, "\n")
}
