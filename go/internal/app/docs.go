package app

import (
	"io/fs"
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
	sdk      *module.Resolver // whatever library folders there are
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
	sdk, err := module.New(module.Options{Embedded: libs.FS})
	if err != nil {
		return nil, err
	}
	return &Docs{r, sdk}, nil
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

// embedded is a module of the SDK.
func (d *Docs) embedded(name string) (*luaudoc.Module, error) {
	source, err := d.sdk.Resolve("="+docScript, name)
	if err != nil {
		return nil, err
	}
	return parse(d.sdk, name, source)
}

func parse(r *module.Resolver, name string, source module.Source) (*luaudoc.Module, error) {
	return luaudoc.Parse(name, luaudoc.Source{Chunk: source.Chunk, Text: string(source.Code)}, func(chunk, name string) (luaudoc.Source, error) {
		s, err := r.Resolve(chunk, name)
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
