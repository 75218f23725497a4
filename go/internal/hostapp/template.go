package hostapp

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/visible"
)

//go:embed template
var templates embed.FS

// NewTool writes a working tool with an example into the folder of tools, and says where, and what to do with it. A
// file that is there stays.
func NewTool(ctx context.Context, o Options, name string, lua bool) (path string, next []string, err error) {
	if err := tooldef.CheckName(name); err != nil {
		return "", nil, &usageError{err.Error()}
	}
	dir := ""
	if len(o.Tools) > 0 {
		dir = o.Tools[0]
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", nil, &usageError{fmt.Sprintf("--tools %s: %s: a new tool is written into a folder", dir, withoutPath(err))}
		}
	}
	p, err := Open(ctx, o)
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	template, suffix := "template/tool.yaml.txt", ".yaml"
	if lua {
		template, suffix = "template/tool.lua.txt", ".lua"
	}
	if dir == "" {
		dir = p.newToolDir()
	}
	path = filepath.Join(dir, name+suffix)
	if t, there := p.Set().Find(name); there && !isThere(path) {
		return "", nil, fmt.Errorf("the tool %s is there already, in %s; nothing was changed", name, p.Shown(t.File))
	}
	if path, err = p.writeTool(template, path, name); err != nil {
		return "", nil, err
	}
	return path, p.tryIt(path, dir, name), nil
}

// newToolDir is the first folder of the configuration.
func (p *Project) newToolDir() string {
	c := p.Config()
	for _, dir := range c.Tools.Dirs {
		if info, err := os.Stat(c.Path(dir)); err == nil && info.IsDir() || os.IsNotExist(err) {
			return c.Path(dir)
		}
	}
	return filepath.Join(p.Folder, "tools")
}

func (p *Project) writeTool(template, path, name string) (shown string, err error) {
	text, err := templates.ReadFile(template)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	shown = p.Shown(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		if os.IsExist(err) {
			return "", fmt.Errorf("%s is there already; nothing was changed", shown)
		}
		return "", err
	}
	_, err = f.WriteString(strings.ReplaceAll(string(text), "NAME", name))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return shown, err
}

// tryIt are commands that work with a new tool.
func (p *Project) tryIt(path, dir, name string) []string {
	const text = ` --param text="one two two"`
	test, project := "luau tool test "+visible.Word(path), ""
	if p.options.ConfigFile != "" {
		project = " --config " + visible.Word(p.options.ConfigFile)
	}
	test += project
	if c := p.Config(); len(p.options.Tools) > 0 || c.Tools.Dirs != nil && len(c.Tools.Dirs) == 0 {
		project += " --tools " + visible.Word(p.Shown(dir))
	}
	return []string{test, "luau tool call " + name + text + project, "luau serve" + project}
}

// Shown is a path as a person in the working directory writes it.
func (p *Project) Shown(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Folder, path)
	}
	working, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(working, path); err == nil && !strings.HasPrefix(short, "..") {
		return short
	}
	return path
}
