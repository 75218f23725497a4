package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everything has one of each table whose name is free.
const everything = `
[tools.script.NAME]
path = "x.lua"
[tools.policy.NAME]
[models.NAME]
provider = "openai"
model = "x"
[mcp_servers.OTHER]
command = "x"
[apis.NAME]
spec = "x.yaml"
[[gateway.policy]]
action = "deny"
[gateway.policy.args]
"/POINTER".equals = 1
`

// known are the keys that the reader asks for, with their tables.
func known(t *testing.T) (keys []string) {
	t.Helper()
	r := &reader{options: Options{Name: "hukilau.toml"}}
	root := r.table(nil, r.parse([]byte(everything)))
	(&Config{}).read(root)
	require.Empty(t, r.errors)
	tables := map[string]bool{"gateway.policy": true}
	name := func(path []string) string { // one of a list of tables stands for the list; no two sources have one name
		path = slices.DeleteFunc(slices.Clone(path), func(part string) bool { return part == "0" })
		return strings.Replace(dotted(path), "mcp_servers.OTHER", "mcp_servers.NAME", 1)
	}
	for _, one := range r.tables {
		tables[name(one.path)] = true
	}
	for _, one := range r.tables {
		for _, key := range one.asked {
			if !tables[name(one.at(key))] {
				keys = append(keys, name(one.at(key)))
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

var (
	heading = regexp.MustCompile(`^## \[{1,2}([^\[\]]+)\]{1,2}$`)
	name    = regexp.MustCompile("`([^`]+)`")
)

// documented are the keys in the first cells of the page's tables, under headings that name tables.
func documented(t *testing.T) (keys []string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/guide/configuration.md")
	require.NoError(t, err)
	table := ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") {
			table = ""
		}
		if found := heading.FindStringSubmatch(line); found != nil {
			table = found[1]
		}
		cells := strings.Split(line, "|")
		if table == "" || len(cells) < 3 {
			continue
		}
		for _, found := range name.FindAllStringSubmatch(cells[1], -1) {
			keys = append(keys, table+"."+found[1])
		}
	}
	slices.Sort(keys)
	return keys
}

// The guide has each key that there is, once, and no other.
func TestDocumented(t *testing.T) {
	require.Equal(t, known(t), documented(t))
}
