package luaudoc

import (
	"slices"
	"strings"
)

type exprKind int

const (
	otherExpr    exprKind = iota
	nameExpr              // name
	indexExpr             // base.name
	callExpr              // base(args)
	castExpr              // base :: typ
	tableExpr             // fields
	functionExpr          // fn
	literalExpr           // name is its type
	stringExpr            // a literal; name is what stands between its quotes
)

// expr is an expression, with what documentation can make use of.
type expr struct {
	kind   exprKind
	name   string
	base   *expr
	args   []*expr
	typ    *typeNode
	fields []*tableField
	fn     *function
}

type tableField struct {
	name  string
	value *expr
	doc   string
}

var binary = []string{
	"+", "-", "*", "/", "//", "%", "^", "..", "==", "~=", "<", "<=", ">", ">=", "and", "or",
}

// expr reads an expression. Which operator binds closer does not matter here.
func (p *parser) expr() *expr {
	p.enter()
	defer p.leave()
	e := p.operand()
	for p.tok.kind != endOfFile && slices.Contains(binary, p.text()) {
		p.take()
		p.operand()
		e = &expr{}
	}
	return e
}

// operand reads an expression without binary operators, and its casts.
func (p *parser) operand() *expr {
	unary := false
	for p.is("not") || p.is("-") || p.is("#") {
		p.take()
		unary = true
	}
	e := p.simple()
	for p.accept("::") {
		e = &expr{kind: castExpr, base: e, typ: p.typ()}
	}
	if unary {
		if e.kind == literalExpr {
			return e
		}
		return &expr{}
	}
	return e
}

func (p *parser) simple() *expr {
	switch {
	case p.tok.kind == number:
		p.take()
		return &expr{kind: literalExpr, name: "number"}
	case p.is("true") || p.is("false"):
		p.take()
		return &expr{kind: literalExpr, name: "boolean"}
	case p.is("nil") || p.is("..."):
		p.take()
		return &expr{}
	case p.tok.kind == text:
		return p.literal()
	case p.is("{"):
		return p.table()
	case p.is("@"):
		p.attributes()
		if !p.is("function") {
			p.unexpected("`function`")
		}
		return p.simple()
	case p.is("function"):
		return &expr{kind: functionExpr, fn: p.body("function", p.take().line)}
	case p.is("if"):
		return p.ifElse()
	}
	return p.suffixed()
}

func (p *parser) literal() *expr {
	raw := p.text()
	e := &expr{kind: stringExpr}
	if len(raw) >= 2 && (raw[0] == '"' || raw[0] == '\'') {
		e.name = raw[1 : len(raw)-1]
	}
	p.take()
	return e
}

// ifElse reads if a then b elseif c then d else e.
func (p *parser) ifElse() *expr {
	p.expect("if")
	for {
		p.condition()
		p.expect("then")
		p.expr()
		if !p.accept("elseif") {
			break
		}
	}
	p.expect("else")
	p.expr()
	return &expr{}
}

// suffixed reads a name or an expression in parentheses with all that follows it.
func (p *parser) suffixed() *expr {
	var e *expr
	switch {
	case p.isName(p.tok):
		e = &expr{kind: nameExpr, name: p.name()}
	case p.is("("):
		line := p.take().line
		e = p.expr()
		p.expectEnd(")", "parenthesis", line)
	default:
		p.unexpected("an expression")
	}
	for {
		switch {
		case p.accept("."):
			e = &expr{kind: indexExpr, base: e, name: p.anyWord()}
		case p.accept("["):
			key := p.expr()
			p.expect("]")
			e = indexed(e, key)
		case p.accept(":"):
			p.anyWord()
			p.instantiation()
			p.arguments()
			e = &expr{}
		case p.is("(") || p.is("{") || p.tok.kind == text:
			e = &expr{kind: callExpr, base: e, args: p.arguments()}
		case p.is("<") && p.textOf(p.peek()) == "<":
			p.instantiation()
		default:
			return e
		}
	}
}

func indexed(base, key *expr) *expr {
	if key.kind == stringExpr {
		return &expr{kind: indexExpr, base: base, name: key.name}
	}
	return &expr{}
}

// anyWord reads a name behind a dot, where a keyword is a mistake of its own.
func (p *parser) anyWord() string {
	if p.tok.kind != word {
		p.unexpected("a name")
	}
	return p.textOf(p.take())
}

// instantiation reads <<A, B>>, where it stands.
func (p *parser) instantiation() {
	if !p.is("<") || p.textOf(p.peek()) != "<" {
		return
	}
	p.take()
	p.typeArguments()
	p.expect(">")
}

func (p *parser) arguments() []*expr {
	switch {
	case p.tok.kind == text:
		return []*expr{p.literal()}
	case p.is("{"):
		return []*expr{p.table()}
	}
	line := p.expect("(").line
	var args []*expr
	if !p.is(")") {
		args = p.exprs()
	}
	p.expectEnd(")", "arguments", line)
	return args
}

func (p *parser) exprs() []*expr {
	var list []*expr
	for {
		list = append(list, p.expr())
		if !p.accept(",") {
			return list
		}
	}
}

func (p *parser) table() *expr {
	p.enter()
	defer p.leave()
	e := &expr{kind: tableExpr}
	line := p.expect("{").line
	for !p.is("}") && p.tok.kind != endOfFile {
		first := p.tok
		var field *tableField
		switch {
		case p.accept("["):
			key := p.expr()
			p.expect("]")
			p.expect("=")
			value := p.expr()
			if key.kind == stringExpr && isName(key.name) {
				field = &tableField{name: key.name, value: value}
			}
		case p.isName(p.tok) && p.textOf(p.peek()) == "=":
			name := p.name()
			p.take()
			field = &tableField{name: name, value: p.expr()}
		default:
			p.expr()
		}
		last := p.ended.last
		more := p.accept(",") || p.accept(";")
		if field != nil {
			field.doc = p.file.above(first)
			if field.doc == "" {
				field.doc = p.file.beside(last, p.tok)
			}
			e.fields = append(e.fields, field)
		}
		if !more {
			break
		}
	}
	p.expectEnd("}", "table", line)
	return e
}

func isName(s string) bool {
	return s != "" && !isDigit(s[0]) && !isKeyword(s) && strings.IndexFunc(s, func(r rune) bool {
		return r > 0x7f || !isLetter(byte(r)) && !isDigit(byte(r))
	}) < 0
}

// body reads a function from its generics to its end.
func (p *parser) body(what string, line int) *function {
	fn := p.head()
	p.block(false)
	p.expectEnd("end", what, line)
	return fn
}

// head reads generics, parameters and results.
func (p *parser) head() *function {
	fn := &function{generics: p.generics()}
	line := p.expect("(").line
	for !p.is(")") {
		one := param{name: p.text(), span: span{start: p.tok.start}}
		if !p.accept("...") {
			p.name()
		}
		if p.accept(":") {
			p.typeOrPack()
		}
		one.end = p.ended.end
		fn.params = append(fn.params, one)
		if !p.accept(",") {
			break
		}
	}
	p.expectEnd(")", "parameters", line)
	if p.accept(":") {
		fn.returns = p.typeOrPack()
	}
	return fn
}
