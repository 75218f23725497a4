package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Name is what was looked up, as Look takes it.
func (d Doc) Name() string {
	if d.Member == nil {
		return d.Module.Name
	}
	return d.Module.Name + "." + strings.TrimPrefix(d.Member.Name, d.Module.Prefix())
}

// Find is Look for a person: where nothing has the name as it is, it is looked for without regard to
// case and underscores, in modules within a module, and without a module in all of the SDK, then among the
// functions of the host. More than one may have it.
func (d *Docs) Find(name string) ([]Doc, error) {
	doc, err := d.Look(name)
	if err == nil {
		return []Doc{d.linked(doc)}, nil
	}
	var gone *notFound
	if !errors.As(err, &gone) {
		return nil, err
	}
	all, listErr := d.SDK()
	if listErr != nil {
		return nil, err
	}
	if gone.module != nil {
		return d.findMember(gone, all)
	}
	return d.findAnywhere(gone, all)
}

// linked is the module itself for a member that only leads to a module of the SDK.
func (d *Docs) linked(doc Doc) Doc {
	if doc.Member == nil || doc.Member.Value == nil || doc.Member.Value.Kind != luaudoc.Link {
		return doc
	}
	if inner, ok := strings.CutPrefix(doc.Member.Value.Module, "@self/"); ok {
		if m, err := d.Look(doc.Module.Name + "/" + inner); err == nil {
			return m
		}
	}
	return doc
}

// findMember looks for what a module has not.
func (d *Docs) findMember(gone *notFound, all []*luaudoc.Module) ([]Doc, error) {
	m := gone.module
	family := []*luaudoc.Module{m}
	for _, other := range all {
		if strings.HasPrefix(other.Name, m.Name+"/") {
			family = append(family, other)
		}
	}
	if found := d.named(family, gone.name); len(found) > 0 {
		return found, nil
	}
	if near := nearest(family, m.Title()+"."+gone.name); near != "" {
		return nil, WithHint(gone, fmt.Sprintf("did you mean %q?", near))
	}
	if alike := d.alike(family, gone.name, true); len(alike) > 0 {
		return nil, WithHint(gone, "did you mean "+listed(alike)+"?")
	}
	if found := d.named(all, gone.name); len(found) > 0 {
		return nil, WithHint(gone, "there is "+listed(found))
	}
	return nil, WithHint(gone, "luau doc "+m.Name+" shows what it has")
}

// nearest is what looks most like the full name of a member; empty where nothing does.
func nearest(modules []*luaudoc.Module, name string) string {
	var shown []string
	docs := map[string]Doc{}
	for _, m := range modules {
		for _, found := range m.Members() {
			shown = append(shown, found.Name)
			docs[found.Name] = Doc{m, &found}
		}
	}
	if near := spelling.Nearest(name, shown); near != "" {
		return docs[near].Name()
	}
	return ""
}

const listHint = "luau doc lists the modules"

// findAnywhere looks for what is no module.
func (d *Docs) findAnywhere(gone *notFound, all []*luaudoc.Module) ([]Doc, error) {
	names := []string{Native}
	for _, m := range all {
		names = append(names, m.Name)
	}
	for _, end := range ends(gone.name) {
		for _, name := range names {
			if strings.EqualFold(gone.name[:end], name) && gone.name[:end] != name {
				return d.Find(name + gone.name[end:])
			}
		}
	}
	var e *module.Error
	if strings.ContainsAny(gone.name, "/@") && errors.As(gone.why, &e) && e.Hint != "" {
		return nil, WithHint(gone, e.Hint)
	}
	found := d.named(all, gone.name)
	first, rest, dotted := strings.Cut(gone.name, ".")
	if isLuauOwn(first) {
		hint := first + " is Luau's own: https://luau.org/library has it"
		if len(found) > 0 {
			hint += "; there is also " + listed(found)
		}
		return nil, WithHint(gone, hint)
	}
	if len(found) == 0 {
		if native, err := d.native(); err == nil {
			found = d.named([]*luaudoc.Module{native}, gone.name)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	if near := spelling.Nearest(gone.name, names); near != "" {
		return nil, WithHint(gone, fmt.Sprintf("did you mean %q? %s", near, listHint))
	}
	if near := spelling.Nearest(first, names); near != "" && dotted {
		return nil, WithHint(&notFound{name: first}, fmt.Sprintf("did you mean %q? %s", near+"."+rest, listHint))
	}
	if alike := d.alike(all, gone.name, false); len(alike) > 0 {
		return nil, WithHint(gone, "did you mean "+listed(alike)+"?")
	}
	return nil, WithHint(gone, listHint+"; a file is named as ./file.luau")
}

// folded is a name without regard to case and underscores.
func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// named are the members that a name is the end of, as "sleep", "Options.timeout" and "string.split" are;
// fields of types only where nothing else has the name.
func (d *Docs) named(modules []*luaudoc.Module, name string) []Doc {
	end := "." + folded(strings.ReplaceAll(name, ":", "."))
	var found, fields []Doc
	if end == "." {
		return nil
	}
	for _, m := range modules {
		for _, one := range m.Members() {
			switch {
			case !strings.HasSuffix("."+folded(one.Name), end):
			case one.Field != nil:
				fields = append(fields, Doc{m, &one})
			default:
				found = append(found, d.linked(Doc{m, &one}))
			}
		}
	}
	if len(found) == 0 {
		found = fields
	}
	return found
}

// leastPart is how long a part of a name must be to be looked for.
const leastPart = 3

// alike are the functions, values and types whose name has a word in it, or is near it; with begin also
// those that the word begins with.
func (d *Docs) alike(modules []*luaudoc.Module, word string, begin bool) (found []Doc) {
	word = folded(word)
	if len(word) < leastPart {
		return nil
	}
	for _, m := range modules {
		for _, one := range m.Members() {
			last := folded(one.Name[strings.LastIndexByte(one.Name, '.')+1:])
			begins := begin && len(last) >= leastPart && strings.HasPrefix(word, last)
			if one.Field == nil && (begins || strings.Contains(last, word) || spelling.Nearest(word, []string{last}) != "") {
				found = append(found, Doc{m, &one})
			}
		}
	}
	return found
}

// mostListed is how many names a hint has.
const mostListed = 8

// listed are the names of what was found.
func listed(found []Doc) string {
	var names []string
	for _, doc := range found[:min(len(found), mostListed)] {
		names = append(names, doc.Name())
	}
	text := strings.Join(names, ", ")
	if more := len(found) - mostListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// isLuauOwn tells libraries and functions that Luau has without any module.
func isLuauOwn(name string) bool {
	s, err := luau.New(luau.Options{})
	if err != nil {
		return false
	}
	defer s.Close()
	value, err := s.Global(name)
	return err != nil || value != nil || name == "require" // which is not there without an engine
}
