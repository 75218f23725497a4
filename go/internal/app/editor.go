package app

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/libs"
)

// Where a project has what its editor reads. All of editorFolder is generated.
const (
	editorFolder    = ".luau"
	definitionsFile = editorFolder + "/native.d.luau"
	libraryFolder   = editorFolder + "/libs"
	pluginFile      = editorFolder + "/require.luau"
)

// EditorFiles is what WriteEditorFiles did.
type EditorFiles struct {
	Written []string // files that are new or changed, relative to the project
	Kept    []string // settings that the user has set otherwise
}

// WriteEditorFiles writes what luau-lsp needs to check scripts of the project in dir: the definitions of
// host modules, copies of the SDK, and settings. Settings that are there keep their values.
func WriteEditorFiles(dir string) (EditorFiles, error) {
	var done EditorFiles
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return done, &OptionError{fmt.Sprintf("%s: no such folder", dir)}
	}
	modules, err := libraryFiles()
	if err != nil {
		return done, err
	}
	readme, err := projectFS.ReadFile("project/editor_readme.txt")
	if err != nil {
		return done, err
	}
	plugin, err := projectFS.ReadFile("project/editor_plugin.txt")
	if err != nil {
		return done, err
	}
	project, err := openProject(dir)
	if err != nil {
		return done, err
	}
	defer project.close()
	settings, kept, err := project.mergedSettings(modules)
	if err != nil {
		return done, err
	}
	done.Kept = kept
	files := append([]projectFile{
		{definitionsFile, []byte(definitionsHead + builtin.Definitions())},
		{editorFolder + "/README.md", readme},
		{pluginFile, bytes.Replace(plugin, []byte("@MODULES@"), moduleNames(modules), 1)},
	}, modules...)
	files = append(files, settings...)
	for _, file := range files {
		changed, err := project.replace(file)
		if err != nil {
			return done, err
		}
		if changed {
			done.Written = append(done.Written, file.name)
		}
	}
	return done, nil
}

const definitionsHead = "-- The globals of the runner, for luau-lsp. Written by `luau types`; changes are lost.\n\n"

// libraryFiles are the copies of the SDK.
func libraryFiles() ([]projectFile, error) {
	var files []projectFile
	err := fs.WalkDir(libs.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(libs.FS, name)
		files = append(files, projectFile{path.Join(libraryFolder, name), text})
		return err
	})
	return files, err
}

// moduleNames are the names of the SDK's modules, apart by spaces.
func moduleNames(modules []projectFile) []byte {
	var names []string
	for _, file := range modules {
		names = append(names, moduleName(file))
	}
	return []byte(strings.Join(names, " "))
}

// moduleName is the name that require knows a file of the SDK by: "json",
// or "async/task".
func moduleName(file projectFile) string {
	name := strings.TrimPrefix(file.name, libraryFolder+"/")
	return strings.TrimSuffix(strings.TrimSuffix(name, ".luau"), "/init")
}
