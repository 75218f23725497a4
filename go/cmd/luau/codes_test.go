package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// documentedCodes are those in the guide's table.
func documentedCodes(t *testing.T) (codes []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guide", "running-scripts.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "### Codes\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(table, -1) {
		for _, code := range strings.Split(row[1], ", ") {
			codes = append(codes, strings.Trim(code, "`"))
		}
	}
	return codes
}

// What a command ends with, by its code.
var codeCommands = map[string][]string{
	"runtime":          {"-e", "nothing()"},
	"compile":          {"-e", "local = 1"},
	"timeout":          {"--timeout", "20ms", "-e", "while true do end"},
	"cancelled":        {"-e", `local a = require("async") local t = a.spawn(a.sleep, 100) t:cancel() t:await()`},
	"memory":           {"--memory", "8MiB", "-e", `string.rep("x", 100000000)`},
	"limit":            {"large.luau"},
	"not_found":        {"nowhere.luau"},
	"exists":           {"-e", `require("fs").write("here/x", "") require("fs").mkdir("here/x")`},
	"permission":       {"--sandbox", "-e", `require("fs").read("x")`},
	"source":           {"here"},
	"invalid_name":     {"-e", `require("")`},
	"ambiguous":        {"-e", `require("./twice")`},
	"config":           {"bad/main.luau"},
	"invalid_argument": {"-e", `__native.sleep("soon")`},
	"upstream":         {"-e", `require("http").get("http://127.0.0.1:1/")`},
	"json":             {"-e", `require("json").decode("{")`},
	"toml":             {"-e", `require("toml").decode("a =")`},
	"yaml":             {"-e", `require("yaml").decode("[")`},
	"regex":            {"-e", `require("regex").compile("(")`},
	"encoding":         {"-e", `require("encoding").hex.decode("x")`},
	"uuid":             {"-e", `require("uuid").parse("x")`},
	"format":           {"-e", `require("time").parse("soon")`},
	"deadlock":         {"-e", `require("async").channel():receive()`},
	"closed":           {"-e", `local c = require("async").channel(1) c:close() c:send(1)`},
	"all_failed":       {"-e", `require("async").any({ function() error("no") end })`},
	"expect":           {"-e", `require("test").expect(1):to_be(2)`},
	"usage":            {"--nosuch"},
	"task":             {"-e", `require("async").spawn(error, "no")`},
}

// Codes that no command of this test comes to.
var otherCodes = []string{"not_available", "io", "host", "panic", "convert", "internal", "output", "error"}

func TestEveryCode(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"twice.luau": "return 1", "twice/init.luau": "return 1", "here/file": "", "large.luau": strings.Repeat(" ", 5<<20),
		"bad/.luaurc": "{", "bad/main.luau": `require("@x/y")`,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for code, args := range codeCommands {
		t.Run(code, func(t *testing.T) {
			cmd := exec.Command("luau", append([]string{"--json"}, args...)...)
			cmd.Dir = dir
			var said strings.Builder
			cmd.Stderr = &said
			require.Error(t, cmd.Run())
			lines := strings.Split(strings.TrimSpace(said.String()), "\n")
			var report struct{ Error struct{ Code string } }
			require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &report), said.String())
			require.Equal(t, code, report.Error.Code, said.String())
		})
	}
	want := slices.Clone(otherCodes)
	for code := range codeCommands {
		want = append(want, code)
	}
	require.ElementsMatch(t, want, documentedCodes(t), "the table in docs/guide/running-scripts.md")
}

// How sources write codes.
var writtenCodes = regexp.MustCompile(`\b[cC]ode[A-Z]?\w* +(?:luau\.)?(?:Code +)?= "(\w+)"|\bCode: "(\w+)"|\braise\(L, "(\w+)"|\bfaults\.(?:new|raise)\("(\w+)"|ErrorCode\(\) string +\{ return "(\w+)"|&runnerError\{"(\w+)"`)

// ofHost are the packages of luau-host, whose codes are of calls of tools.
var ofHost = regexp.MustCompile(`/internal/(agent|config|gateway|hostapp|hostcli|jsonvalue|mcpserver|models|music|schema|server|store|tooldef|toolhost|typecheck)/|/pkg/toolhost/`)

// Every code that the sources have is in the guide, but for those of wrong use of the Go package, and one of
// an example.
func TestEveryWrittenCode(t *testing.T) {
	known := append(documentedCodes(t), "busy", "invalid", "odd")
	found := map[string]bool{}
	for _, part := range []string{"go", "libs", "luau/src"} {
		root := filepath.Join("..", "..", "..", part)
		require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || ofHost.MatchString(path) || strings.Contains(path, "/testdata/") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, match := range writtenCodes.FindAllSubmatch(text, -1) {
				for _, code := range match[1:] {
					if len(code) > 0 {
						found[string(code)] = true
						require.Contains(t, known, string(code), path)
					}
				}
			}
			return err
		}))
	}
	for _, code := range []string{"json", "deadlock", "regex", "closed", "usage", "config", "upstream", "format", "task"} {
		require.True(t, found[code], "%s is not found any more: the pattern is blind", code)
	}
}
