package luaudoc

// declare reads what follows the word in a definition file.
func (p *parser) declare(first token, kept bool) {
	d := &declared{doc: p.file.above(first)}
	switch {
	case p.is("function") || p.is("@"):
		p.attributes()
		p.expect("function")
		d.name = p.name()
		start := p.tok.start
		fn := p.head()
		d.typ = &typeNode{span: span{start, p.ended.end}, kind: functionType, fn: fn}
	case p.is("extern") && p.textOf(p.peek()) == "type":
		p.take()
		p.take()
		p.class(first)
		return
	case p.is("class") && p.isName(p.peek()):
		p.take()
		p.class(first)
		return
	default:
		d.name = p.name()
		p.expect(":")
		d.typ = p.typ()
	}
	if kept {
		p.file.declared = append(p.file.declared, d)
	}
}

// class reads a declared class, which is a type with fields and methods.
func (p *parser) class(first token) {
	decl := &typeDecl{name: p.name(), exported: true, start: first.start, doc: p.file.above(first)}
	if p.accept("extends") {
		p.name()
	}
	p.accept("with")
	node := &typeNode{span: span{start: first.start}, kind: tableType}
	for !p.is("end") && p.tok.kind != endOfFile {
		if p.accept("[") {
			p.typ()
			p.expect("]")
			p.expect(":")
			p.typ()
			continue
		}
		start := p.tok
		field := &typeField{doc: p.file.above(start), start: start.start}
		p.attributes()
		if p.accept("function") {
			field.name = p.anyWord()
			from := p.tok.start
			fn := p.head()
			field.typ = &typeNode{span: span{from, p.ended.end}, kind: functionType, fn: fn}
		} else {
			field.name = p.anyWord()
			p.expect(":")
			field.typ = p.typ()
		}
		node.fields = append(node.fields, field)
	}
	p.expectEnd("end", "class", first.line)
	node.end = p.ended.end
	decl.end, decl.node = node.end, node
	p.file.types = append(p.file.types, decl)
}
