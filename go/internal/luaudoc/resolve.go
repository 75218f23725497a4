package luaudoc

import "strings"

const (
	maxDeep   = 40    // names that stand for one another
	maxValues = 50000 // of one module
)

// resolver finds out what the value of a file holds, without running it.
type resolver struct {
	file    *file
	load    Loader
	loads   int
	modules map[string]*Module // by name of require; nil for what cannot be read
	left    int
	depth   int
	open    map[string]bool         // names that are being resolved
	added   map[string][]assignment // by the path of what holds them
	last    map[string]assignment   // the last one of each path
}

// key joins a path of names; no name has a dot in it.
func key(path []string) string { return strings.Join(path, ".") }

func (r *resolver) module(name string) *Module {
	r.open, r.added, r.last = map[string]bool{}, map[string][]assignment{}, map[string]assignment{}
	for _, a := range r.file.added {
		holder := key(a.path[:len(a.path)-1])
		r.added[holder] = append(r.added[holder], a)
		r.last[key(a.path)] = a
	}
	m := &Module{Name: name, Comment: r.file.comment, Globals: len(r.file.declared) > 0}
	for _, decl := range r.file.types {
		if decl.exported || m.Globals {
			m.Types = append(m.Types, r.exportedType(decl))
		}
	}
	m.Values = r.values()
	return m
}

// values are the public values of the file.
func (r *resolver) values() []*Value {
	var list []*Value
	for _, d := range r.file.declared {
		v := r.typed(d.typ, true)
		v.Name, v.Comment = d.name, d.doc
		list = append(list, v)
	}
	for _, name := range r.file.exported {
		v := r.named(name)
		v.Name = name
		list = append(list, v)
	}
	if r.file.returned == nil {
		return list
	}
	v := r.value(r.file.returned)
	switch v.Kind {
	case Namespace:
		return append(list, v.Members...)
	case Link:
		if m := r.required(v.Module); m != nil {
			return append(list, m.Values...)
		}
	case Function:
		if r.file.returnDoc != "" {
			v.Comment = r.file.returnDoc
		}
		v.Name = ""
		return append(list, v)
	}
	return list
}

// required is the module of that name, as this file requires it; nil where it cannot be read.
func (r *resolver) required(name string) *Module {
	if m, done := r.modules[name]; done || r.load == nil {
		return m
	}
	r.modules[name] = nil // also while it is read: it may require this one
	source, err := r.load(r.file.chunk, name)
	if err != nil {
		return nil
	}
	m, err := parse(name, source, r.load, r.loads+1)
	if err != nil {
		return nil
	}
	r.modules[name] = m
	return m
}

// value is what an expression is, as far as it can be seen.
func (r *resolver) value(e *expr) *Value {
	r.left--
	if e == nil || r.depth > maxDeep || r.left < 0 {
		return &Value{}
	}
	r.depth++
	defer func() { r.depth-- }()
	v := &Value{}
	switch e.kind {
	case functionExpr:
		v.Kind, v.Signature = Function, r.file.signature(e.fn, true)
	case literalExpr:
		v.Type = e.name
	case stringExpr:
		v.Type = "string"
	case tableExpr:
		v.Kind = Namespace
		at := map[string]int{}
		for _, field := range e.fields {
			r.put(v, at, field.name, field.value, field.doc)
		}
	case castExpr:
		return r.annotated(r.value(e.base), e.typ)
	case nameExpr, indexExpr:
		if path := e.path(); path != nil {
			return r.lookup(path)
		}
	case callExpr:
		return r.call(e)
	}
	return v
}

// annotated is a value whose type is written down, which says more unless it is seen what it is.
func (r *resolver) annotated(v *Value, typ *typeNode) *Value {
	if typ == nil || v.Kind != Constant || r.file.src[typ.start:typ.end] == "any" {
		return v
	}
	t := r.typed(typ, false)
	t.Comment = v.Comment
	return t
}

// typed is a value of a type. In a definition file a table is a namespace.
func (r *resolver) typed(typ *typeNode, defines bool) *Value {
	switch {
	case typ.kind == functionType:
		return &Value{Kind: Function, Signature: r.file.signature(typ.fn, false)}
	case typ.kind == tableType && defines && len(typ.fields) > 0:
		v := &Value{Kind: Namespace}
		for _, field := range typ.fields {
			member := r.typed(field.typ, true)
			member.Name, member.Comment = field.name, field.doc
			v.Members = append(v.Members, member)
		}
		return v
	case typ.kind == typeofType:
		if name, ok := required(typ.inner); ok {
			return &Value{Kind: Link, Module: name} // a module that is required later
		}
	}
	return &Value{Type: r.file.flat(typ.span)}
}

// put adds a public member, in place of an older one of its name. at is where the members are.
func (r *resolver) put(v *Value, at map[string]int, name string, e *expr, doc string) {
	if strings.HasPrefix(name, "_") {
		return
	}
	member := *r.value(e)
	member.Name = name
	if doc != "" {
		member.Comment = doc
	}
	if i, known := at[name]; known {
		v.Members[i] = &member
		return
	}
	at[name] = len(v.Members)
	v.Members = append(v.Members, &member)
}

// lookup is what a.b.c stands for.
func (r *resolver) lookup(path []string) *Value {
	if len(path) == 1 {
		return r.named(path[0])
	}
	if r.open[key(path)] {
		return &Value{}
	}
	r.open[key(path)] = true
	defer delete(r.open, key(path))
	holder := r.file.local(path[0])
	if name, ok := required(holder); ok {
		return r.passedOn(name, path[1:])
	}
	if a, ok := r.last[key(path)]; ok {
		v := *r.value(a.value)
		if a.doc != "" {
			v.Comment = a.doc
		}
		return r.extended(&v, path)
	}
	if holder != nil && holder.kind == tableExpr && len(path) == 2 {
		for _, field := range holder.fields {
			if field.name == path[1] {
				v := *r.value(field.value)
				v.Comment = field.doc
				return &v
			}
		}
	}
	return &Value{}
}

// named is what a local of the file stands for.
func (r *resolver) named(name string) *Value {
	b := r.file.locals[name]
	if b == nil || r.open[name] {
		return &Value{}
	}
	r.open[name] = true
	defer delete(r.open, name)
	v := *r.annotated(r.value(b.value), b.typ)
	if b.doc != "" {
		v.Comment = b.doc
	}
	return r.extended(&v, []string{name})
}

// extended is a table with what is assigned to its fields later.
func (r *resolver) extended(v *Value, path []string) *Value {
	if v.Kind != Namespace || len(path) > maxDeep {
		return v
	}
	v.Members = append([]*Value(nil), v.Members...)
	at := map[string]int{}
	for i, member := range v.Members {
		at[member.Name] = i
	}
	for _, a := range r.added[key(path)] {
		r.put(v, at, a.path[len(a.path)-1], a.value, a.doc)
	}
	for i, member := range v.Members {
		inner := append(append([]string(nil), path...), member.Name)
		if len(r.added[key(inner)]) > 0 {
			own := *member
			v.Members[i] = r.extended(&own, inner)
		}
	}
	return v
}

// required tells the name in require("name").
func required(e *expr) (string, bool) {
	if e == nil || e.kind != callExpr || e.base.kind != nameExpr || e.base.name != "require" || len(e.args) == 0 || e.args[0].kind != stringExpr {
		return "", false
	}
	return e.args[0].name, true
}

// passedOn is a member of another module.
func (r *resolver) passedOn(name string, path []string) *Value {
	if m := r.required(name); m != nil {
		if v := find(m.Values, path); v != nil {
			return v
		}
	}
	return &Value{}
}

// find goes down a path of names.
func find(values []*Value, path []string) *Value {
	for _, v := range values {
		switch {
		case v.Name != path[0]:
		case len(path) == 1:
			return v
		default:
			return find(v.Members, path[1:])
		}
	}
	return nil
}

// call is what a call gives: what passes its argument on, a module, or what a function of the file says
// that it returns.
func (r *resolver) call(e *expr) *Value {
	if name, ok := required(e); ok {
		return &Value{Kind: Link, Module: name}
	}
	path := e.base.path()
	switch key(path) {
	case "table.freeze", "table.clone", "setmetatable":
		if len(e.args) > 0 {
			return r.value(e.args[0])
		}
	}
	if fn := r.functionOf(path); fn != nil && fn.returns != nil {
		return r.typed(fn.returns, false)
	}
	return &Value{}
}

// functionOf is the function of the file that a path names.
func (r *resolver) functionOf(path []string) *function {
	var e *expr
	switch len(path) {
	case 0:
	case 1:
		e = r.file.local(path[0])
	default:
		e = r.last[key(path)].value
	}
	if e == nil || e.kind != functionExpr {
		return nil
	}
	return e.fn
}
