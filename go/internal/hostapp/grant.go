package hostapp

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// Grant writes what scripts need and are not granted into the configuration, as [tools.policy.<name>], and says what
// it wrote. What a person has to decide is left out. All else of the file stays as it is.
func (p *Project) Grant(report CheckReport) ([]string, error) {
	wanted := map[string]map[string][]string{} // by tool and key
	outside := map[string]bool{}
	var tools []string
	for _, f := range report.Findings {
		if !f.grantable() {
			continue
		}
		if f.grant.Outside {
			outside[f.grant.Value] = true
		}
		if wanted[f.tool] == nil {
			wanted[f.tool] = map[string][]string{}
			tools = append(tools, f.tool)
		}
		if list := wanted[f.tool][f.grant.Key]; !slices.Contains(list, f.grant.Value) {
			wanted[f.tool][f.grant.Key] = append(list, f.grant.Value)
		}
	}
	if len(tools) == 0 {
		return nil, nil
	}
	path := p.file
	if path == "" {
		path = filepath.Join(p.Folder, ConfigName)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // where a link leads is changed, and the link stays
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var written []string
	for _, tool := range tools {
		keys := slices.Sorted(maps.Keys(wanted[tool]))
		for _, key := range slices.Backward(keys) { // each is put in front of the others
			all := wanted[tool][key]
			if !p.policyHas(tool, key) { // the new list replaces the tool's own
				all = union(p.granted(tool, key), all)
			}
			if text, err = config.AddToList(text, []string{"tools", "policy", tool}, key, all); err != nil {
				return nil, fmt.Errorf("the configuration cannot be changed, and is left as it was: %w", err)
			}
		}
		for _, key := range keys {
			written = append(written, fmt.Sprintf("granted: [tools.policy.%s] %s: %s", tool, key, strings.Join(wanted[tool][key], ", ")))
			written = append(written, notes(key, wanted[tool][key], outside)...)
		}
	}
	if _, err := config.Parse(text, config.Options{Name: filepath.Base(path), Dir: p.Folder, LookupEnv: os.LookupEnv, Placeholder: redact.Mark}); err != nil {
		return nil, fmt.Errorf("the configuration with the grants would not be right, and is left as it was: %w", err)
	}
	return written, replaceFile(path, text, 0)
}

// notes are about folders that are outside of the project's.
func notes(key string, values []string, outside map[string]bool) (list []string) {
	for _, folder := range values {
		if (key == "read" || key == "write") && outside[folder] {
			list = append(list, "note: "+folder+" is outside of the project's folder: take it out of "+key+" where that is not meant")
		}
	}
	return list
}

// granted is what a tool is granted under a key; a policy replaces what the tool's own file says.
func (p *Project) granted(tool, key string) []string {
	t, ok := p.Set().Find(tool)
	if !ok {
		return nil
	}
	return t.Permissions.List(key)
}

// policyHas says whether the configuration has a list of that key for a tool.
func (p *Project) policyHas(tool, key string) bool {
	said := tooldef.Permissions(p.Config().Tools.Policies[tool].Permissions)
	return said.List(key) != nil
}

// replaceFile writes a file whole or not at all. With mode 0 it keeps that of the file which is there.
func replaceFile(path string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".hukilau-*"+filepath.Ext(path))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // is not there any more when all went well
	if mode == 0 {
		mode = 0o644
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
