package luaudoc

import "slices"

// block reads statements up to the word that ends them. Only those of the file itself are kept.
func (p *parser) block(kept bool) {
	p.enter()
	defer p.leave()
	for p.tok.kind != endOfFile && !p.is("end") && !p.is("else") && !p.is("elseif") && !p.is("until") {
		p.statement(kept)
	}
}

func (p *parser) statement(kept bool) {
	first := p.tok
	if p.is("@") {
		p.attributes()
	}
	switch p.text() {
	case ";", "break":
		p.take()
	case "if":
		p.ifStatement()
	case "while":
		p.take()
		p.condition()
		p.loop("while", first.line, kept)
	case "do":
		p.loop("do", first.line, kept)
	case "for":
		p.forStatement()
	case "repeat":
		p.take()
		p.block(false)
		p.expectEnd("until", "repeat", first.line)
		p.condition()
	case "function":
		p.functionStatement(first, kept)
	case "local":
		p.take()
		p.local(first, kept, false)
	case "return":
		p.returnStatement(first, kept)
	default:
		if !p.contextual(first, kept) {
			p.assignment(first, kept)
		}
	}
}

// loop reads do ... end.
func (p *parser) loop(what string, line int, kept bool) {
	p.expect("do")
	p.block(kept && what == "do")
	p.expectEnd("end", what, line)
}

// condition reads an expression, or a local that is one.
func (p *parser) condition() {
	if p.accept("local") || p.is("const") && p.isName(p.peek()) && p.accept("const") {
		p.names()
		p.expect("=")
	}
	p.expr()
}

func (p *parser) ifStatement() {
	line := p.expect("if").line
	for {
		p.condition()
		p.expect("then")
		p.block(false)
		if !p.accept("elseif") {
			break
		}
	}
	if p.accept("else") {
		p.block(false)
	}
	p.expectEnd("end", "if", line)
}

func (p *parser) forStatement() {
	line := p.expect("for").line
	p.names()
	if !p.accept("=") {
		p.expect("in")
	}
	p.exprs()
	p.loop("for", line, false)
}

type typedName struct {
	name string
	typ  *typeNode
}

// names reads a: T, b: U.
func (p *parser) names() []typedName {
	var list []typedName
	for {
		one := typedName{name: p.name()}
		if p.accept(":") {
			one.typ = p.typ()
		}
		list = append(list, one)
		if !p.accept(",") {
			return list
		}
	}
}

// attributes reads @native and @[deprecated {...}].
func (p *parser) attributes() {
	for p.is("@") {
		p.attribute()
	}
}

func (p *parser) attribute() {
	p.expect("@")
	if !p.accept("[") {
		p.anyWord()
		return
	}
	for !p.is("]") {
		p.anyWord()
		if p.is("(") || p.is("{") || p.tok.kind == text {
			p.arguments()
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("]")
}

// functionStatement reads function a.b.c() and function a:b().
func (p *parser) functionStatement(first token, kept bool) {
	p.expect("function")
	path := []string{p.name()}
	method := false
	for !method && (p.is(".") || p.is(":")) {
		method = p.textOf(p.take()) == ":"
		path = append(path, p.anyWord())
	}
	fn := p.body("function", first.line)
	if method {
		fn.params = append([]param{{name: "self"}}, fn.params...)
	}
	if kept {
		p.assign(path, &expr{kind: functionExpr, fn: fn}, first)
	}
}

func (p *parser) assign(path []string, value *expr, first token) {
	doc := p.file.above(first)
	if len(path) == 1 {
		if b := p.file.locals[path[0]]; b != nil {
			b.value = value
			if doc != "" {
				b.doc = doc
			}
			return
		}
	}
	p.file.added = append(p.file.added, assignment{path, value, doc})
}

// local reads what follows local, const or export.
func (p *parser) local(first token, kept, exported bool) {
	if p.accept("function") {
		name := p.name()
		fn := p.body("function", first.line)
		if kept {
			p.bind(typedName{name: name}, &expr{kind: functionExpr, fn: fn}, first, exported)
		}
		return
	}
	names := p.names()
	var values []*expr
	if p.accept("=") {
		values = p.exprs()
	}
	for i, name := range names {
		var value *expr
		if i < len(values) {
			value = values[i]
		}
		if kept {
			p.bind(name, value, first, exported)
		}
	}
}

func (p *parser) bind(name typedName, value *expr, first token, exported bool) {
	doc := p.file.above(first)
	if doc == "" {
		doc = p.file.beside(p.ended.last, p.tok)
	}
	p.file.locals[name.name] = &binding{value, name.typ, doc}
	if exported {
		p.file.exported = append(p.file.exported, name.name)
	}
}

func (p *parser) returnStatement(first token, kept bool) {
	p.expect("return")
	var values []*expr
	if p.tok.kind != endOfFile && !slices.Contains([]string{"end", "else", "elseif", "until", ";"}, p.text()) {
		values = p.exprs()
	}
	if kept && len(values) > 0 {
		p.file.returned, p.file.returnDoc = values[0], p.file.above(first)
	}
}

// contextual reads the statements that begin with a word that is no keyword.
func (p *parser) contextual(first token, kept bool) bool {
	if p.tok.kind != word {
		return false
	}
	next := p.peek()
	switch what := p.text(); {
	case what == "continue" && (next.kind == endOfFile || next.kind == word || p.textOf(next) == ";"):
		p.take()
	case what == "type" && (p.isName(next) || p.textOf(next) == "function"):
		p.typeStatement(first, kept, false)
	case what == "const" && (p.isName(next) || p.textOf(next) == "function"):
		p.take()
		p.local(first, kept, false)
	case what == "export" && next.kind == word:
		p.take()
		p.export(first, kept)
	case what == "declare" && next.kind == word:
		p.take()
		p.declare(first, kept)
	default:
		return false
	}
	return true
}

func (p *parser) export(first token, kept bool) {
	switch p.text() {
	case "type":
		p.typeStatement(first, kept, true)
	case "function":
		p.local(first, kept, true)
	default:
		if !p.accept("local") && !p.accept("const") {
			p.unexpected("`type`, `local`, `const` or `function`")
		}
		p.local(first, kept, true)
	}
}

// typeStatement reads type Name<T> = ... and type function Name() ... end.
func (p *parser) typeStatement(first token, kept, exported bool) {
	p.expect("type")
	decl := &typeDecl{exported: exported, start: first.start, doc: p.file.above(first)}
	if p.accept("function") {
		decl.name = p.name()
		fn := p.head()
		decl.end = p.ended.end
		decl.node = &typeNode{span: span{fn.generics.start, decl.end}}
		p.block(false)
		p.expectEnd("end", "type function", first.line)
	} else {
		decl.name = p.name()
		decl.generics = p.generics()
		p.expect("=")
		decl.node = p.typ()
		decl.end = p.ended.end
	}
	if kept {
		p.file.types = append(p.file.types, decl)
	}
}

// assignment reads a call, or a, b = 1, 2, or a += 1.
func (p *parser) assignment(first token, kept bool) {
	targets := []*expr{p.suffixed()}
	for p.accept(",") {
		targets = append(targets, p.suffixed())
	}
	switch {
	case p.accept("="):
		values := p.exprs()
		for i, target := range targets {
			if path := target.path(); kept && path != nil && i < len(values) {
				p.assign(path, values[i], first)
			}
		}
	case p.tok.kind == symbol && slices.Contains([]string{"+=", "-=", "*=", "/=", "//=", "%=", "^=", "..="}, p.text()):
		p.take()
		p.expr()
	case len(targets) > 1:
		p.unexpected("`=`")
	}
}

// path is a.b.c as its names; nil for anything else.
func (e *expr) path() []string {
	n := 0
	at := e
	for ; at.kind == indexExpr; at = at.base {
		n++
	}
	if at.kind != nameExpr || n > maxDeep {
		return nil
	}
	path := make([]string, n+1)
	for at = e; n >= 0; at, n = at.base, n-1 {
		path[n] = at.name
	}
	return path
}
