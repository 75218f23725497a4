package hostapp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A library of the project is read anew when it has changed, also where a tool keeps its VM.
func TestLibrariesAreReloaded(t *testing.T) {
	folder := inFolder(t, map[string]string{
		"hukilau.toml": "",
		"libs/n.luau":  "return { n = 1 }",
		"tools/a.yaml": yaml("a", "isolation: thread\n", `return require("n").n`),
		"tools/b.lua":  "local n = require('n').n\ntool = { name = 'b', description = 'B' .. n }\nfunction tool.execute() return n end\n",
	})
	h := hostOf(t, Options{})
	changed := make(chan struct{}, 100)
	end, err := h.background(t.Context(), false, func() { changed <- struct{}{} })
	require.NoError(t, err)
	defer end()
	require.Equal(t, "1", result(t, h, "a", ""))
	require.Equal(t, "1", result(t, h, "b", ""))
	write(t, folder, map[string]string{"libs/n.luau": "return { n = 22 }"})
	for result(t, h, "a", "") != "22" {
		await(t, changed)
	}
	require.Equal(t, "22", result(t, h, "b", ""))
	b, _ := h.Project.Set().Find("b")
	require.Equal(t, "B22", b.Description)
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "libs")))
	require.NoError(t, h.Reload(t.Context()))
	require.NotEmpty(t, h.Project.Broken())
}
