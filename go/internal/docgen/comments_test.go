package main

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/libs"
)

// Every module, and every function, value and type in it has a comment, in the SDK, in what the SDK is
// made of, and in the stubs of host modules.
func TestEverythingHasAComment(t *testing.T) {
	docs, err := app.NewDocs(nil)
	require.NoError(t, err)
	public, err := docs.SDK()
	require.NoError(t, err)
	hosts, err := docs.HostModules()
	require.NoError(t, err)
	seen := 0
	for _, m := range slices.Concat(public, internal(t, docs, public), hosts) {
		assert.NotEmpty(t, m.Comment, "module %s: the top of the file says nothing", m.Name)
		assert.True(t, len(m.Values)+len(m.Types) > 0, "module %s: nothing of it was found", m.Name)
		for _, found := range m.Members() {
			what, comment := described(found)
			if what == "" {
				continue
			}
			seen++
			assert.NotEmpty(t, comment, "module %s: %s %s has no comment", m.Name, what, found.Name)
		}
	}
	require.Greater(t, seen, 300)
}

// internal are the modules of the SDK that the public ones are made of.
func internal(t *testing.T, docs *app.Docs, public []*luaudoc.Module) (list []*luaudoc.Module) {
	t.Helper()
	files, err := fs.Glob(libs.FS, "*/*.luau")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(file, ".luau"), "/init")
		if slices.ContainsFunc(public, func(m *luaudoc.Module) bool { return m.Name == name }) {
			continue
		}
		doc, err := docs.Look(name)
		require.NoError(t, err)
		list = append(list, doc.Module)
	}
	require.NotEmpty(t, list)
	return list
}

// described tells what needs a comment; fields need one where they are functions. A table in a stub is
// what the stub's own comment is about.
func described(f luaudoc.Found) (what, comment string) {
	switch {
	case f.Type != nil:
		return "type", f.Type.Comment
	case f.Field != nil && f.Field.Function:
		return "method", f.Field.Comment
	case f.Field != nil, f.Value.Kind == luaudoc.Namespace && f.Of == nil && isHost(f.Name):
		return "", ""
	case f.Value.Kind == luaudoc.Function:
		return "function", f.Value.Comment
	}
	return "value", f.Value.Comment
}

// isHost tells "fs.fs", the table of a host module.
func isHost(name string) bool {
	half := len(name) / 2
	return len(name)%2 == 1 && name[half] == '.' && name[:half] == name[half+1:]
}
