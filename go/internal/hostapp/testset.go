package hostapp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// OpenTest opens the project of a test: what the target names belongs to it, wherever it is.
func OpenTest(ctx context.Context, o Options, t *ToolTest) (*Project, error) {
	if t.Target != "" && (isThere(t.Target) || looksLikePath(t.Target)) {
		o.Also = []string{t.Target}
	}
	o.Offline = t.Replay != ""
	return Open(ctx, o)
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// looksLikePath says whether a text that names no file is meant to, and no tool.
func looksLikePath(text string) bool {
	return strings.ContainsRune(text, filepath.Separator) || tooldef.CheckName(text) != nil
}

// testSet is what a test is about.
type testSet struct {
	tools  []*tooldef.Tool
	broken []tooldef.Broken
	many   bool // not one file, nor one tool
}

// testSet finds what the test names.
func (p *Project) testSet(t *ToolTest) (testSet, error) {
	if t.Target == "" {
		s := testSet{p.Tools(), p.Broken(), true}
		if s.size() == 0 {
			return s, fmt.Errorf("there are no tools to test: `luau tool init NAME` writes one, and [tools] dirs in hukilau.toml says where they are")
		}
		return s.only(t)
	}
	info, err := os.Stat(t.Target)
	if err != nil {
		return p.named(t)
	}
	path, err := filepath.Abs(t.Target)
	if err != nil {
		return testSet{}, err
	}
	s := p.below(path)
	s.many = info.IsDir()
	if s.size() == 0 && s.many {
		return s, fmt.Errorf("there are no tools in the folder %s", t.Target)
	}
	if s.size() == 0 {
		return s, fmt.Errorf("%s defines no tool: a YAML file needs `name` and `lua`, a Lua file a global `tool`", t.Target)
	}
	return s.only(t)
}

func (s testSet) size() int { return len(s.tools) + len(s.broken) }

// named is the tool of a name that is no file's.
func (p *Project) named(t *ToolTest) (testSet, error) {
	var s testSet
	if tool, there := p.Set().Find(t.Target); there {
		s.tools = []*tooldef.Tool{tool}
		t.Target = p.Shown(tool.File)
		return s.only(t)
	}
	if s.broken = p.brokenNamed(t.Target); len(s.broken) > 0 {
		return s, nil
	}
	text := fmt.Sprintf("there is neither a file nor a tool %q", t.Target)
	if near := nearest(t.Target, s.names(p.Tools())); near != "" {
		return s, &usageError{text + "; did you mean " + near + "?"}
	}
	return s, &usageError{text + "; `luau tool list` shows the tools that there are"}
}

// below is what a file defines, or the files of a folder do.
func (p *Project) below(path string) (s testSet) {
	is := func(file string) bool {
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.Folder, filepath.FromSlash(file))
		}
		inside, err := filepath.Rel(path, file)
		return err == nil && filepath.IsLocal(inside)
	}
	for _, t := range p.Tools() {
		if is(t.File) {
			s.tools = append(s.tools, t)
		}
	}
	for _, b := range p.Broken() {
		if is(b.File) {
			s.broken = append(s.broken, b)
		}
	}
	return s
}

func (testSet) names(tools []*tooldef.Tool) (names []string) {
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

// only leaves the tool that the test names, where it names one, and says no to flags that are for one tool alone.
func (s testSet) only(t *ToolTest) (testSet, error) {
	if t.Tool != "" {
		all := s.names(s.tools)
		s.tools = slices.DeleteFunc(slices.Clone(s.tools), func(tool *tooldef.Tool) bool { return tool.Name != t.Tool })
		s.broken = slices.DeleteFunc(slices.Clone(s.broken), func(b tooldef.Broken) bool { return b.Name != t.Tool })
		if s.size() == 0 && len(all) == 0 {
			return s, &usageError{fmt.Sprintf("%s has no tool %q", orWord(t.Target, "the project"), t.Tool)}
		}
		if s.size() == 0 {
			return s, &usageError{fmt.Sprintf("%s has no tool %q; it has %s", orWord(t.Target, "the project"), t.Tool, strings.Join(all, ", "))}
		}
		s.many = false
	}
	if len(s.tools) < 2 {
		return s, nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"--param", len(t.Params) > 0}, {"--json", t.JSON != ""}, {"--source", t.Source != ""},
		{"--record", s.many && t.Record != ""}, {"--replay", s.many && t.Replay != ""},
	} {
		if f.given {
			return s, &usageError{fmt.Sprintf("%s is for one tool, and %s has %d: %s; choose one with --tool",
				f.name, orWord(t.Target, "the project"), len(s.tools), few(s.names(s.tools)))}
		}
	}
	return s, nil
}

// few is a list that stays short.
func few(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " ..."
	}
	return strings.Join(names, ", ")
}

// withArguments is the command that tests a tool with arguments.
func (p *Project) withArguments(tool *tooldef.Tool) string {
	command := "luau tool test " + visible.Word(p.Shown(tool.File))
	if len(p.below(p.absolute(tool.File)).tools) > 1 {
		command += " --tool " + tool.Name
	}
	document, _ := tool.Params.Document().(map[string]any)
	required, _ := document["required"].([]any)
	for _, name := range required {
		command += fmt.Sprintf(" --param %s=VALUE", visible.Word(fmt.Sprint(name)))
	}
	properties, _ := document["properties"].(map[string]any)
	if names := slices.Sorted(maps.Keys(properties)); len(required) == 0 && len(names) > 0 {
		command += fmt.Sprintf(" --param %s=VALUE", visible.Word(names[0]))
	}
	return command
}

func (p *Project) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(p.Folder, filepath.FromSlash(file))
}
