package hostapp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	yamlv4 "go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// savedFolder is where saved scripts are.
func (p *Project) savedFolder() string { return p.savedIn(p.Config()) }

// savedIn is the same for a configuration; "" where none are saved.
func (p *Project) savedIn(c *config.Config) string {
	switch {
	case !c.Gateway.SaveScripts:
		return ""
	case c.Gateway.Saved != "":
		return c.Path(c.Gateway.Saved)
	}
	return c.Path(config.DefaultSaved)
}

// maxSaved is how many scripts the folder may have: each is listed for every model, and read at each start.
const maxSaved = 200

// saved are the scripts that were saved: a gateway that serves no other tools serves these.
func (p *Project) saved() *granted {
	folder := p.savedFolder()
	if folder == "" {
		return &granted{}
	}
	others := func(t *tooldef.Tool) bool {
		return filepath.Dir(filepath.Join(p.Folder, filepath.FromSlash(t.File))) != folder
	}
	return grant(slices.DeleteFunc(slices.Clone(p.Set().Tools()), others), p.replaced, p.Config().Permissions)
}

// savedTool is a saved script as the file of a tool.
type savedTool struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"`
	Params      map[string]any `yaml:"params,omitempty"`
	Permissions struct {
		Servers []string `yaml:"servers"`
	} `yaml:"permissions"`
	Tags []string `yaml:"tags"`
	Lua  string   `yaml:"lua"`
}

// saveScript writes a script as a tool, which is served from then on. One that is there already is kept.
func (h *Host) saveScript(ctx context.Context, s gateway.SavedScript) error {
	if _, taken := h.Find(s.Name); taken {
		return &toolhost.Error{Code: toolhost.BadRequest, Path: "/name", Message: fmt.Sprintf("there is a tool %q already: choose another name", s.Name)}
	}
	made := savedTool{Name: s.Name, Description: s.Description, Params: s.Params, Tags: []string{"saved"}, Lua: s.Wrapped()}
	made.Permissions.Servers = h.mentioned(s.Code)
	var text bytes.Buffer
	text.WriteString("# Saved with save_script")
	if s.By != "" { // a client of standard input has no name
		text.WriteString(" by " + visible.Line(s.By))
	}
	text.WriteString(".\n")
	e := yamlv4.NewEncoder(&text)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(made), e.Close()); err != nil {
		return err
	}
	folder := h.Project.savedFolder()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return withoutPath(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return withoutPath(err)
	}
	defer root.Close()
	if entries, err := fs.ReadDir(root.FS(), "."); err == nil && len(entries) >= maxSaved {
		return &toolhost.Error{Code: toolhost.TooLarge, Message: fmt.Sprintf("there are %d saved scripts already: ask the operator to remove some", len(entries))}
	}
	f, err := root.OpenFile(s.Name+".yaml", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &toolhost.Error{Code: toolhost.BadRequest, Path: "/name", Message: fmt.Sprintf("there is a saved script %q already: choose another name", s.Name)}
	}
	if err != nil {
		return withoutPath(err)
	}
	_, err = f.Write(text.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return withoutPath(err)
	}
	if err := h.Reload(ctx); err != nil {
		_ = root.Remove(s.Name + ".yaml") // whoever tries again finds the name free
		return err
	}
	if _, there := h.Find(s.Name); !there {
		broken := h.Project.brokenNamed(s.Name)
		_ = root.Remove(s.Name + ".yaml") // it would be told as broken at each start
		if len(broken) > 0 {
			return errors.New(h.Project.redact(broken[0].Err.Error()))
		}
		return errors.New("it is no tool; the log says why")
	}
	h.upstreamChanged() // faces list it
	return nil
}

// mentioned are the sources that a script names: those that the tool is granted.
func (h *Host) mentioned(code string) []string {
	words := luautype.Mentioned(code)
	names := []string{}
	for _, s := range h.Gateway().Sources() {
		if slices.Contains(words, s.Name) || slices.Contains(words, s.Ident) {
			names = append(names, s.Name)
		}
	}
	for _, word := range words {
		if f := h.Gateway().Catalog().Alias(word); f != nil && !slices.Contains(names, f.Scope.Name) {
			names = append(names, f.Scope.Name)
		}
	}
	slices.Sort(names)
	return names
}
