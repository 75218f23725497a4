package luaudoc

import "strings"

// Found is one member of a module; exactly one of Value, Type and Field is there.
type Found struct {
	Name  string // in full: "http.get", "http.Options.timeout"
	Value *Value
	Type  *Type
	Field *Field
	Of    *Type // that a method or a field belongs to
}

// Shown is what documentation calls a member: methods by the name of their type.
func (f Found) Shown() string {
	if f.Of != nil && f.Value != nil {
		return f.Of.Name + "." + f.Value.Name
	}
	return f.Name
}

// Title is what documentation calls the module: "haivivi.http".
func (m *Module) Title() string {
	name := m.Name
	for _, suffix := range []string{".luau", ".lua", "/init"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "@") {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	return strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", ".")
}

// Prefix is what stands before the names of members.
func (m *Module) Prefix() string {
	if m.Globals {
		return ""
	}
	return m.Title() + "."
}

// maxMembers bounds a list of a module's members.
const maxMembers = 10000

// Members are all that can be looked up in a module, in the order of the source.
func (m *Module) Members() []Found {
	list := members(nil, m.Values, m.Prefix())
	for _, t := range m.Types {
		if len(list) >= maxMembers {
			break
		}
		name := m.Prefix() + t.Name
		list = append(list, Found{Name: name, Type: t})
		for _, v := range t.Methods[:min(len(t.Methods), maxMembers)] {
			list = append(list, Found{Name: name + "." + v.Name, Value: v, Of: t})
		}
		for _, f := range t.Fields[:min(len(t.Fields), maxMembers)] {
			list = append(list, Found{Name: name + "." + f.Name, Field: f, Of: t})
		}
	}
	return list
}

func members(list []Found, values []*Value, prefix string) []Found {
	for _, v := range values {
		if len(list) >= maxMembers {
			break
		}
		name := strings.TrimSuffix(prefix+v.Name, ".") // a module that is a function has no name for it
		list = append(list, Found{Name: name, Value: v})
		list = members(list, v.Members, name+".")
	}
	return list
}

// Find is the member of that name, as "get" or "Options.timeout"; a method is also found as
// "Pattern:find".
func (m *Module) Find(name string) (Found, bool) {
	full := m.Prefix() + strings.ReplaceAll(name, ":", ".")
	for _, found := range m.Members() {
		if found.Name == full {
			return found, true
		}
	}
	return Found{}, false
}
