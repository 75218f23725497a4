package luaudoc

import "strings"

// exportedType is a type with what stands behind it: a type of another file of the same library is
// shown as it is there, and the type of a class by its fields and methods.
func (r *resolver) exportedType(decl *typeDecl) *Type {
	t := &Type{
		Name: decl.name, Generics: r.file.flat(decl.generics), Comment: decl.doc,
		Source: strings.TrimPrefix(r.file.raw(span{decl.start, decl.end}), "export "),
	}
	switch node := decl.node; node.kind {
	case tableType:
		t.Fields = r.fields(node.fields)
	case namedType:
		if other := r.aliased(node.path); other != nil {
			r.takeOver(t, other)
		}
	case typeofType:
		r.class(t, node.inner)
	}
	return t
}

// aliased is the type of another file that m.Name means, when the file belongs to the same library.
func (r *resolver) aliased(path []string) *Type {
	if len(path) != 2 {
		return nil
	}
	name, ok := required(r.file.local(path[0]))
	if !ok || !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "@self/") {
		return nil
	}
	m := r.required(name)
	if m == nil {
		return nil
	}
	for _, t := range m.Types {
		if t.Name == path[1] {
			return t
		}
	}
	return nil
}

func (r *resolver) takeOver(t, other *Type) {
	t.Fields, t.Methods = other.Fields, other.Methods
	if t.Comment == "" {
		t.Comment = other.Comment
	}
	if t.Name == other.Name {
		t.Source = other.Source
	}
}

// perField is what a field costs beside its text.
const perField = 64

func (r *resolver) fields(list []*typeField) []*Field {
	var fields []*Field
	for _, f := range list {
		if !r.file.charge(perField) {
			break
		}
		if strings.HasPrefix(f.name, "_") {
			continue
		}
		fields = append(fields, &Field{
			Name: f.name, Comment: f.doc, Type: r.file.flat(f.typ.span),
			Function: f.typ.kind == functionType, source: r.file.raw(span{f.start, f.typ.end}),
		})
	}
	return fields
}

// class is typeof(setmetatable(fields :: Fields, metatable)): the fields of the first, and what can be
// called on it by the second's __index.
func (r *resolver) class(t *Type, e *expr) {
	if e.kind != callExpr || e.base.kind != nameExpr || e.base.name != "setmetatable" || len(e.args) != 2 {
		return
	}
	fields := r.fields(r.castFields(e.args[0]))
	meta := e.args[1]
	switch {
	case meta.kind == castExpr:
		for _, f := range r.castFields(meta) {
			if f.name == "__index" && f.typ.kind == tableType {
				fields = append(fields, r.fields(f.typ.fields)...)
			}
		}
	case meta.kind == nameExpr:
		for _, v := range r.named(meta.name).Members {
			if v.Kind == Function && v.Signature.Method {
				t.Methods = append(t.Methods, v)
			}
		}
	}
	if fields == nil && t.Methods == nil {
		return
	}
	t.Fields, t.Source = fields, "type "+t.Name+t.Generics+" = "+listed(fields)
}

// castFields are the fields of the type that an expression is cast to.
func (r *resolver) castFields(e *expr) []*typeField {
	if e.kind != castExpr {
		return nil
	}
	node := e.typ
	if node.kind == namedType && len(node.path) == 1 {
		for _, decl := range r.file.types {
			if decl.name == node.path[0] {
				return decl.node.fields
			}
		}
	}
	return node.fields
}

// listed is a table type of these fields.
func listed(fields []*Field) string {
	if len(fields) == 0 {
		return "{}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, f := range fields {
		b.WriteString("\t" + strings.ReplaceAll(f.source, "\n", "\n\t") + ",\n")
	}
	b.WriteString("}")
	return b.String()
}
