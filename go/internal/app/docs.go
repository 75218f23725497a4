package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/libs"
)

// Docs finds the documentation of modules.
type Docs struct {
	resolver *module.Resolver
}

// Doc is what was looked up: a module, or one of its members.
type Doc struct {
	Module *luaudoc.Module
	Member *luaudoc.Found // nil: the module itself
}

// docScript stands for a script in the working directory, from which names are resolved. It need not be
// there.
const docScript = "doc.luau"

// NewDocs is with these library folders, before those of LUAU_PATH.
func NewDocs(folders []string) (*Docs, error) {
	s := &Settings{Libs: folders}
	if err := s.check(); err != nil {
		return nil, err
	}
	r, err := module.New(module.Options{Roots: s.roots(), Embedded: libs.FS, Script: docScript})
	if err != nil {
		return nil, err
	}
	return &Docs{r}, nil
}

// SDK are the modules of the SDK that scripts are to require, by name.
func (d *Docs) SDK() ([]*luaudoc.Module, error) {
	inits, err := fs.Glob(libs.FS, "*/init.luau")
	if err != nil {
		return nil, err
	}
	var list []*luaudoc.Module
	for _, file := range inits {
		name := strings.TrimSuffix(file, "/init.luau")
		m, err := d.embedded(name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
		for _, v := range m.Values {
			if inner, ok := strings.CutPrefix(v.Module, "@self/"); ok && v.Kind == luaudoc.Link {
				part, err := d.embedded(name + "/" + inner)
				if err != nil {
					return nil, err
				}
				list = append(list, part)
			}
		}
	}
	slices.SortFunc(list, func(a, b *luaudoc.Module) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Internal are the other modules of the SDK, of which it is made.
func (d *Docs) Internal() ([]*luaudoc.Module, error) {
	public, err := d.SDK()
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(libs.FS, "*/*.luau")
	if err != nil {
		return nil, err
	}
	var list []*luaudoc.Module
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(file, ".luau"), "/init")
		if slices.ContainsFunc(public, func(m *luaudoc.Module) bool { return m.Name == name }) {
			continue
		}
		m, err := d.embedded(name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// embedded is a module of the SDK, whatever library folders there are.
func (d *Docs) embedded(name string) (*luaudoc.Module, error) {
	r, err := module.New(module.Options{Embedded: libs.FS})
	if err != nil {
		return nil, err
	}
	source, err := r.Resolve("="+docScript, name)
	if err != nil {
		return nil, err
	}
	return (&Docs{r}).parse(name, source)
}

func (d *Docs) parse(name string, source module.Source) (*luaudoc.Module, error) {
	return luaudoc.Parse(name, luaudoc.Source{Chunk: source.Chunk, Text: string(source.Code)}, func(chunk, name string) (luaudoc.Source, error) {
		s, err := d.resolver.Resolve(chunk, name)
		return luaudoc.Source{Chunk: s.Chunk, Text: string(s.Code)}, err
	})
}

// Native is the name of the global that host functions are in.
const Native = "__native"

// HostModules are the host modules by name; the values of each are what it has in __native.
func (d *Docs) HostModules() ([]*luaudoc.Module, error) {
	var list []*luaudoc.Module
	for _, stub := range builtin.Stubs() {
		m, err := luaudoc.Parse(stub.Name, luaudoc.Source{Chunk: "=" + stub.Name + ".d.luau", Text: stub.Text}, nil)
		if err != nil {
			return nil, err
		}
		var values []*luaudoc.Value
		for _, v := range m.Values {
			if v.Name == Native {
				values = append(values, v.Members...)
			}
		}
		m.Values, m.Globals = values, false
		list = append(list, m)
	}
	return list, nil
}

const nativeComment = "The functions of the host, which the modules for `require` stand on. Which of them a script has is the host's choice; those that are not there are nil."

// native is all of them as one module.
func (d *Docs) native() (*luaudoc.Module, error) {
	hosts, err := d.HostModules()
	if err != nil {
		return nil, err
	}
	all := &luaudoc.Module{Name: Native, Comment: nativeComment}
	for _, m := range hosts {
		for _, v := range m.Values {
			if v.Kind == luaudoc.Namespace && v.Comment == "" {
				v.Comment = m.Comment
			}
			all.Values = append(all.Values, v)
		}
		all.Types = append(all.Types, m.Types...)
	}
	slices.SortStableFunc(all.Values, func(a, b *luaudoc.Value) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Look finds what a name means: a module as require knows it, a file, or a member of either behind a dot.
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
			m, err := d.parse(name[:end], source)
			if err != nil {
				return Doc{}, WithHint(err, "luau doc reads what the compiler takes; luau "+name[:end]+" says more")
			}
			return member(m, strings.TrimPrefix(name[end:], "."))
		case !errors.Is(err, fs.ErrNotExist):
			return Doc{}, unread(name[:end], err)
		}
		missing = err
	}
	return Doc{}, d.noModule(name, missing)
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

const listHint = "luau doc lists the modules"

// noModule is the error for a name that no module has.
func (d *Docs) noModule(name string, missing error) error {
	err := fmt.Errorf("there is no module %q", name)
	var e *module.Error
	if strings.ContainsAny(name, "/@") && errors.As(missing, &e) && e.Hint != "" {
		return WithHint(err, e.Hint)
	}
	names, listErr := d.ModuleNames()
	if listErr != nil {
		return err
	}
	first, rest, dotted := strings.Cut(name, ".")
	if isLuauOwn(first) {
		return WithHint(err, first+" is Luau's own: https://luau.org/library has it")
	}
	if near := luaudoc.Nearest(name, names); near != "" {
		return WithHint(err, fmt.Sprintf("did you mean %q? %s", near, listHint))
	}
	if near := luaudoc.Nearest(first, names); near != "" && dotted {
		return WithHint(fmt.Errorf("there is no module %q", first), fmt.Sprintf("did you mean %q? %s", near+"."+rest, listHint))
	}
	return WithHint(err, listHint+"; a file is named as ./file.luau")
}

// isLuauOwn tells libraries and functions that Luau has without any module.
func isLuauOwn(name string) bool {
	return slices.Contains([]string{
		"string", "table", "math", "os", "coroutine", "utf8", "bit32", "buffer", "debug", "vector", "integer",
		"print", "require", "pcall", "xpcall", "error", "assert", "type", "typeof", "tostring", "tonumber", "pairs",
		"ipairs", "next", "select", "unpack", "setmetatable", "getmetatable", "rawget", "rawset", "rawequal", "rawlen",
	}, name)
}

// ModuleNames are the names of the SDK's modules, and __native.
func (d *Docs) ModuleNames() ([]string, error) {
	list, err := d.SDK()
	names := make([]string, 0, len(list)+1)
	for _, m := range list {
		names = append(names, m.Name)
	}
	return append(names, Native), err
}

// member finds a member of a module; none is named by "".
func member(m *luaudoc.Module, name string) (Doc, error) {
	if name == "" {
		return Doc{Module: m}, nil
	}
	if found, ok := m.Find(name); ok {
		return Doc{Module: m, Member: &found}, nil
	}
	prefix := m.Prefix()
	var names []string
	for _, found := range m.Members() {
		names = append(names, strings.TrimPrefix(found.Name, prefix))
	}
	err := fmt.Errorf("module %q has no %q", m.Name, name)
	if near := luaudoc.Nearest(name, names); near != "" {
		return Doc{}, WithHint(err, fmt.Sprintf("did you mean %q?", m.Name+"."+near))
	}
	return Doc{}, WithHint(err, "luau doc "+m.Name+" shows what it has")
}
