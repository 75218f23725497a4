package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// setting is one value at a path of keys in a settings file.
type setting struct {
	keys  []string
	value any
}

// requireAliases are how luau-lsp finds the SDK up to version 1.62: names as they are, and the folders of
// what lies deeper. Version 1.63 took them away; from 1.65 on a plugin does it, which older versions ignore.
func requireAliases(modules []projectFile) (files, folders map[string]any) {
	files, folders = map[string]any{}, map[string]any{}
	for _, file := range modules {
		name := moduleName(file)
		if folder, _, deeper := strings.Cut(name, "/"); deeper {
			folders[folder+"/"] = libraryFolder + "/" + folder + "/"
		} else {
			files[name] = file.name
		}
	}
	return files, folders
}

// mergedSettings are the settings files of the editors, with what the user has in them, and the names of
// settings that the user has set otherwise.
func (p *projectFolder) mergedSettings(modules []projectFile) ([]projectFile, []string, error) {
	files, folders := requireAliases(modules)
	forNeovim, err := json.MarshalIndent(map[string]any{"fileAliases": files, "directoryAliases": folders}, "", "\t")
	if err != nil {
		return nil, nil, err
	}
	merged := []projectFile{{editorFolder + "/require.json", append(forNeovim, '\n')}}
	var kept []string
	for _, editor := range []struct {
		name     string
		settings []setting
	}{
		{".vscode/settings.json", vsCodeSettings(files, folders)},
		{".zed/settings.json", zedSettings(files, folders)},
	} {
		text, others, err := p.mergeSettings(editor.name, editor.settings)
		if err != nil {
			return nil, nil, err
		}
		merged = append(merged, projectFile{editor.name, text})
		for _, other := range others {
			kept = append(kept, editor.name+": "+other)
		}
	}
	return merged, kept, nil
}

func vsCodeSettings(files, folders map[string]any) []setting {
	return []setting{
		{[]string{"luau-lsp.platform.type"}, "standard"},
		{[]string{"luau-lsp.sourcemap.enabled"}, false},
		{[]string{"luau-lsp.types.definitionFiles", "@hukilau"}, definitionsFile},
		{[]string{"luau-lsp.require.fileAliases"}, files},
		{[]string{"luau-lsp.require.directoryAliases"}, folders},
		{[]string{"luau-lsp.plugins.enabled"}, true},
		{[]string{"luau-lsp.plugins.paths"}, []any{pluginFile}},
	}
}

func zedSettings(files, folders map[string]any) []setting {
	server := func(keys ...string) []string { return append([]string{"lsp", "luau-lsp", "settings"}, keys...) }
	return []setting{
		{server("ext", "definitions"), []any{definitionsFile}},
		{server("luau-lsp", "platform", "type"), "standard"},
		{server("luau-lsp", "require", "fileAliases"), files},
		{server("luau-lsp", "require", "directoryAliases"), folders},
		{server("luau-lsp", "plugins", "enabled"), true},
		{server("luau-lsp", "plugins", "paths"), []any{pluginFile}},
	}
}

// mergeSettings adds settings to a file's text, which may have comments. What is set otherwise stays.
func (p *projectFolder) mergeSettings(name string, settings []setting) (text []byte, kept []string, err error) {
	text, err = p.settings(name)
	if err != nil {
		return nil, nil, err
	}
	if text == nil {
		text = []byte("{}\n")
	}
	path := p.place(name)
	file, err := hujson.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w; mend the file and run luau types again", path, err)
	}
	if file.Value.Kind() != '{' {
		return nil, nil, fmt.Errorf("%s: must hold an object of settings; mend the file and run luau types again", path)
	}
	changed := false
	for _, s := range settings {
		done, others, err := mergeSetting(&file, s.keys, s.value)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		changed = changed || done
		kept = append(kept, others...)
	}
	if !changed {
		return text, kept, nil
	}
	file.Format()
	return file.Pack(), kept, nil
}

// mergeSetting puts one value at its place. Objects are merged key by key.
func mergeSetting(file *hujson.Value, keys []string, value any) (changed bool, kept []string, err error) {
	for i := range keys {
		at := file.Find(pointer(keys[:i+1]))
		if at == nil {
			return true, nil, add(file, keys[:i+1], nested(keys[i+1:], value))
		}
		if i < len(keys)-1 && at.Value.Kind() != '{' {
			return false, []string{strings.Join(keys, " > ")}, nil
		}
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		same, err := equals(file.Find(pointer(keys)), value)
		if same || err != nil {
			return false, nil, err
		}
		return false, []string{strings.Join(keys, " > ")}, nil
	}
	if file.Find(pointer(keys)).Value.Kind() != '{' {
		return false, []string{strings.Join(keys, " > ")}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		done, others, err := mergeSetting(file, append(append([]string{}, keys...), name), object[name])
		if err != nil {
			return false, nil, err
		}
		changed = changed || done
		kept = append(kept, others...)
	}
	return changed, kept, nil
}

// nested wraps a value into an object for each key.
func nested(keys []string, value any) any {
	for i := len(keys) - 1; i >= 0; i-- {
		value = map[string]any{keys[i]: value}
	}
	return value
}

func add(file *hujson.Value, keys []string, value any) error {
	patch, err := json.Marshal([]any{map[string]any{"op": "add", "path": pointer(keys), "value": value}})
	if err != nil {
		return err
	}
	return file.Patch(patch)
}

func equals(at *hujson.Value, value any) (bool, error) {
	copied := at.Clone()
	copied.Standardize()
	var have any
	if err := json.Unmarshal(copied.Pack(), &have); err != nil {
		return false, err
	}
	return reflect.DeepEqual(have, value), nil
}

// pointer is the JSON Pointer of a path of keys.
func pointer(keys []string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	return b.String()
}
