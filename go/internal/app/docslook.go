package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/go/internal/module"
)

// notFound says which name means nothing.
type notFound struct {
	module *luaudoc.Module // which has no such member; nil: there is no such module either
	name   string
	why    error // of require, where there is no module
}

// Error says what is not there.
func (e *notFound) Error() string {
	if e.module != nil {
		return fmt.Sprintf("module %q has no %q", e.module.Name, e.name)
	}
	return fmt.Sprintf("there is no module %q", e.name)
}

// Look finds what a name means: a module as require knows it, a file, or a member of either behind a dot.
// It takes the name as it is; Find is for what a person writes.
func (d *Docs) Look(name string) (Doc, error) {
	if name == Native || strings.HasPrefix(name, Native+".") {
		m, err := d.native()
		if err != nil {
			return Doc{}, err
		}
		return member(m, strings.TrimPrefix(strings.TrimPrefix(name, Native), "."))
	}
	var missing error
	for _, end := range ends(name) {
		source, err := d.source(name[:end])
		switch {
		case err == nil:
			m, err := parse(d.resolver, name[:end], source)
			if err != nil {
				return Doc{}, WithHint(err, "luau doc reads what the compiler takes; luau "+name[:end]+" says more")
			}
			return member(m, strings.TrimPrefix(name[end:], "."))
		case !errors.Is(err, fs.ErrNotExist):
			return Doc{}, unread(name[:end], err)
		}
		missing = err
	}
	return Doc{}, &notFound{name: name, why: missing}
}

// member finds a member of a module; none is named by "".
func member(m *luaudoc.Module, name string) (Doc, error) {
	if name == "" {
		return Doc{Module: m}, nil
	}
	if found, ok := m.Find(name); ok {
		return Doc{Module: m, Member: &found}, nil
	}
	return Doc{}, &notFound{module: m, name: name}
}

// ends are where the name of the module may end: at the end, or before a dot of its last part, the
// longest name first.
func ends(name string) []int {
	list := []int{len(name)}
	slash := strings.LastIndexByte(name, '/')
	for i := len(name) - 1; i > slash+1; i-- {
		if name[i] == '.' && name[i-1] != '.' {
			list = append(list, i)
		}
	}
	const most = 16
	return list[:min(len(list), most)]
}

// source reads the module of a name, or the file of a path.
func (d *Docs) source(name string) (module.Source, error) {
	if strings.HasSuffix(name, ".luau") || strings.HasSuffix(name, ".lua") {
		return module.ReadScript(name)
	}
	if filepath.IsAbs(name) {
		here, err := filepath.Abs(".")
		if err != nil {
			return module.Source{}, err
		}
		if name, err = filepath.Rel(here, name); err != nil {
			return module.Source{}, err
		}
		if !strings.HasPrefix(name, ".") {
			name = "./" + name
		}
	}
	source, err := d.resolver.Resolve("@"+docScript, name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "@") {
		return source, err
	}
	if beside, err := d.resolver.Resolve("@"+docScript, "./"+name); err == nil {
		return beside, nil
	}
	return source, err
}

// unread is the error for a module that cannot be read.
func unread(name string, err error) error {
	var e *module.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("cannot read %q: %w", name, err)
	}
	return WithHint(fmt.Errorf("cannot read %q: %s", name, e.Message), e.Hint)
}
