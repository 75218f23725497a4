package hostapp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
)

// Grant writes what scripts need and are not granted into the configuration, as [tools.policy.<name>], and says what
// it wrote. What a person has to decide is left out. A list that is there in one line gets the missing entries;
// everything else of the file stays as it is.
func (p *Project) Grant(report CheckReport) ([]string, error) {
	wanted := map[string]map[string][]string{} // by tool and key
	var tools []string
	for _, f := range report.Findings {
		if f.grant == nil || f.grant.Value == "" || f.tool == "" {
			continue
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
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var written []string
	for _, tool := range tools {
		for _, key := range sortedKeys(wanted[tool]) {
			all := union(p.granted(tool, key), wanted[tool][key])
			if text, err = withList(text, tool, key, all); err != nil {
				return nil, err
			}
			written = append(written, fmt.Sprintf("[tools.policy.%s] %s = %s", tool, key, listText(all)))
		}
	}
	if _, err := config.Parse(text, config.Options{Name: filepath.Base(path), Dir: p.Folder, LookupEnv: os.LookupEnv}); err != nil {
		return nil, fmt.Errorf("the configuration with the grants would not be right, and is left as it was: %w", err)
	}
	return written, replaceFile(path, text)
}

// granted is what a tool is granted under a key; a policy replaces what the tool's own file says.
func (p *Project) granted(tool, key string) []string {
	t, ok := p.Set().Find(tool)
	if !ok {
		return nil
	}
	lists := map[string][]string{
		"net": t.Permissions.Net, "net_private": t.Permissions.NetPrivate, "env": t.Permissions.Env, "read": t.Permissions.Read,
		"write": t.Permissions.Write, "models": t.Permissions.Models, "tools": t.Permissions.Tools, "servers": t.Permissions.Servers,
	}
	return lists[key]
}

func sortedKeys(m map[string][]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func listText(list []string) string {
	quoted := make([]string, len(list))
	for i, item := range list {
		quoted[i] = strconv.Quote(item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// withList is a configuration with `key = list` in the table of a tool's policy.
func withList(text []byte, tool, key string, list []string) ([]byte, error) {
	heading := "[tools.policy." + tool + "]"
	line := key + " = " + listText(list)
	lines := strings.Split(string(text), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return tableName(l) == heading })
	if at < 0 {
		text = bytes.TrimRight(text, "\n")
		if len(text) > 0 {
			text = append(text, "\n\n"...)
		}
		return append(text, heading+"\n"+line+"\n"...), nil
	}
	for i := at + 1; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "["); i++ {
		name, value, found := strings.Cut(lines[i], "=")
		if !found || strings.TrimSpace(name) != key {
			continue
		}
		if value = strings.TrimSpace(value); !strings.HasSuffix(value, "]") || strings.Count(value, "[") != 1 {
			return nil, fmt.Errorf("line %d of the configuration has %s of %s in a form that cannot be changed: write %s by hand", i+1, key, tool, line)
		}
		lines[i] = line
		return []byte(strings.Join(lines, "\n")), nil
	}
	return []byte(strings.Join(slices.Insert(lines, at+1, line), "\n")), nil
}

// tableName is a line without its comment and spaces.
func tableName(line string) string {
	line, _, _ = strings.Cut(line, "#")
	return strings.ReplaceAll(strings.TrimSpace(line), " ", "")
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".hukilau-*.toml")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // is not there any more when all went well
	if info, err := os.Stat(path); err == nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	} else if err := f.Chmod(0o644); err != nil {
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
