package hostapp

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hukilau/hukilau/go/internal/tooldef"
)

//go:embed template
var templates embed.FS

// NewTool writes a working tool with an example into the project's folder of tools, and gives its path as seen from
// the working directory. A file that is there stays.
func NewTool(o Options, name string, lua bool) (string, error) {
	if err := tooldef.CheckName(name); err != nil {
		return "", &usageError{err.Error()}
	}
	p := &Project{options: o}
	if err := p.find(); err != nil {
		return "", err
	}
	c, err := p.readConfig()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(p.Folder, "tools")
	if len(c.Tools.Dirs) > 0 {
		dir = c.Path(c.Tools.Dirs[0])
	}
	template, suffix := "template/tool.yaml.txt", ".yaml"
	if lua {
		template, suffix = "template/tool.lua.txt", ".lua"
	}
	text, err := templates.ReadFile(template)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+suffix)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		if os.IsExist(err) {
			return "", fmt.Errorf("%s is there already; nothing was changed", p.Shown(path))
		}
		return "", err
	}
	_, err = f.WriteString(strings.ReplaceAll(string(text), "NAME", name))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return p.Shown(path), err
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
