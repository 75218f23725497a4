package luaudoc

type typeKind int

const (
	otherType typeKind = iota
	tableType
	functionType
	namedType  // path
	typeofType // inner
)

// typeNode is a type: where it stands, and what it is when it stands alone.
type typeNode struct {
	span
	kind   typeKind
	fields []*typeField
	fn     *function
	path   []string // of a name without arguments
	inner  *expr
}

type typeField struct {
	name  string
	doc   string
	start int // of the field with its comment
	typ   *typeNode
}

// function is the head of a function or the type of one.
type function struct {
	generics span
	params   []param
	returns  *typeNode // nil where nothing is said
	typ      bool      // a type: its parameters need not be named
}

type param struct {
	name string
	span
}

// typ reads a type.
func (p *parser) typ() *typeNode {
	p.enter()
	defer p.leave()
	start := p.tok.start
	if !p.accept("|") {
		p.accept("&")
	}
	node := p.simpleType()
	alone := node.start == start
	for {
		switch {
		case p.accept("?"):
		case p.accept("|") || p.accept("&"):
			p.simpleType()
		case alone:
			return node
		default:
			return &typeNode{span: span{start, p.ended.end}}
		}
		alone = false
	}
}

// typeOrPack reads a type, (A, B), ...A or A...
func (p *parser) typeOrPack() *typeNode {
	start := p.tok.start
	if p.accept("...") {
		p.typ()
		return &typeNode{span: span{start, p.ended.end}}
	}
	node := p.typ()
	if p.accept("...") {
		return &typeNode{span: span{start, p.ended.end}}
	}
	return node
}

func (p *parser) simpleType() *typeNode {
	p.attributes()
	node := &typeNode{span: span{start: p.tok.start}}
	switch {
	case p.is("nil") || p.is("true") || p.is("false") || p.tok.kind == text:
		p.take()
	case p.is("typeof") && p.textOf(p.peek()) == "(":
		p.take()
		p.take()
		node.kind, node.inner = typeofType, p.expr()
		p.expect(")")
	case p.isName(p.tok):
		p.typeName(node)
	case p.is("{"):
		node.kind, node.fields = tableType, p.tableFields()
	case p.is("(") || p.is("<"):
		p.functionOrPack(node)
	default:
		p.unexpected("a type")
	}
	node.end = p.ended.end
	return node
}

func (p *parser) typeName(node *typeNode) {
	node.kind, node.path = namedType, []string{p.name()}
	for p.accept(".") {
		node.path = append(node.path, p.name())
	}
	if p.is("<") {
		node.kind, node.path = otherType, nil
		p.typeArguments()
	}
}

func (p *parser) typeArguments() {
	p.expect("<")
	for !p.is(">") {
		p.typeOrPack()
		if !p.accept(",") {
			break
		}
	}
	p.expect(">")
}

// generics reads <T, U..., V = default>.
func (p *parser) generics() span {
	s := span{p.tok.start, p.tok.start}
	if !p.accept("<") {
		return s
	}
	for !p.is(">") {
		p.name()
		p.accept("...")
		if p.accept("=") {
			p.typeOrPack()
		}
		if !p.accept(",") {
			break
		}
	}
	s.end = p.expect(">").end
	return s
}

// functionOrPack reads (A, b: B) -> C, or (A), or the pack (A, B).
func (p *parser) functionOrPack(node *typeNode) {
	fn := &function{generics: p.generics(), typ: true}
	isFunction := fn.generics.end > fn.generics.start
	p.expect("(")
	for !p.is(")") {
		one := param{span: span{start: p.tok.start}}
		if p.isName(p.tok) && p.textOf(p.peek()) == ":" {
			one.name = p.name()
			p.take()
		}
		p.typeOrPack()
		one.end = p.ended.end
		fn.params = append(fn.params, one)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if !isFunction && !p.is("->") {
		return
	}
	p.expect("->")
	fn.returns = p.typeOrPack()
	node.kind, node.fn = functionType, fn
}

// tableFields reads { name: T, [K]: V } and { T }. Only fields with names are kept.
func (p *parser) tableFields() []*typeField {
	var fields []*typeField
	line := p.expect("{").line
	for !p.is("}") && p.tok.kind != endOfFile {
		first := p.tok
		if (p.is("read") || p.is("write")) && (p.isName(p.peek()) || p.textOf(p.peek()) == "[") {
			p.take()
		}
		switch {
		case p.accept("["):
			p.typ()
			p.expect("]")
			p.expect(":")
			p.typ()
		case p.isName(p.tok) && p.textOf(p.peek()) == ":":
			fields = append(fields, p.typeField(first))
		default:
			p.typ()
		}
		last := p.tok.last
		if !p.accept(",") && !p.accept(";") {
			p.besideField(fields, first, p.ended.last)
			break
		}
		p.besideField(fields, first, last)
	}
	p.expectEnd("}", "table type", line)
	return fields
}

func (p *parser) typeField(first token) *typeField {
	field := &typeField{name: p.name(), doc: p.file.above(first), start: first.start}
	if list := attached(first.lead, first.line); len(list) > 0 {
		field.start = list[0].start
	}
	p.expect(":")
	field.typ = p.typ()
	return field
}

// besideField gives the field that began at first the comment that follows in its line, when it has no
// other.
func (p *parser) besideField(fields []*typeField, first token, last int) {
	if len(fields) == 0 {
		return
	}
	field := fields[len(fields)-1]
	if field.typ.start > first.start && field.doc == "" {
		field.doc = p.file.beside(last, p.tok)
	}
}
