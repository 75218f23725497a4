package hostapp

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a server writes itself into the folder that it watches is no change, and a fault is told once.
func TestFaultsAreToldOnce(t *testing.T) {
	folder := inFolder(t, map[string]string{"tools/a.yaml": yaml("a", "", "return 1")})
	log, err := os.Create(filepath.Join(folder, "serve.log"))
	require.NoError(t, err)
	defer log.Close()
	h := hostOf(t, Options{Stderr: log})
	changed := make(chan struct{}, 100)
	end, err := h.background(t.Context(), false, func() { changed <- struct{}{} })
	require.NoError(t, err)
	defer end()
	said := func() string {
		text, err := os.ReadFile(log.Name())
		require.NoError(t, err)
		return string(text)
	}

	write(t, folder, map[string]string{"tools/b.yaml": yaml("b", "", "return (")})
	await(t, changed)
	require.Equal(t, 1, strings.Count(said(), "a tool is broken"))
	write(t, folder, map[string]string{"tools/a.yaml": yaml("a", "", "return 2"), "tools/c.yaml": yaml("c", "", "return 3")})
	for !has(h, "c") || result(t, h, "a", "") != "2" {
		await(t, changed)
	}
	require.Equal(t, 1, strings.Count(said(), "a tool is broken"), said())
	require.Contains(t, said(), "tools were reloaded")
	require.Contains(t, said(), "added=c")

	// A configuration that comes later is read, and one that is wrong is listed until it is mended.
	write(t, folder, map[string]string{"hukilau.toml": "[tools.policy.a]\napprove = true\n[limits]\ndepth = 3\n"})
	for {
		await(t, changed)
		if _, failed := call(t, h, "a", ""); failed != nil {
			break
		}
	}
	require.Contains(t, said(), "section=[limits]")
	write(t, folder, map[string]string{"hukilau.toml": "[tools\n"})
	require.Eventually(t, func() bool { return h.wrong.Load() != nil }, patience, 1)
	list := h.broken()
	require.Equal(t, "hukilau.toml", list[0].File)
	require.Contains(t, list[0].Error, "hukilau.toml:1:")
	require.Equal(t, 1, strings.Count(said(), "the last one goes on"), said())
	write(t, folder, map[string]string{"hukilau.toml": ""})
	for h.wrong.Load() != nil {
		await(t, changed)
	}
	require.Len(t, h.broken(), 1, "the tool is still broken")
}

func TestAConfigurationThatIsNoFile(t *testing.T) {
	folder := inFolder(t, nil)
	path := filepath.Join(folder, "hukilau.toml")
	require.NoError(t, os.Mkdir(path, 0o755))
	_, err := Open(t.Context(), Options{})
	require.ErrorContains(t, err, "is not a regular file")
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o644))
	_, err = Open(t.Context(), Options{})
	require.ErrorContains(t, err, "is not a regular file")
}
