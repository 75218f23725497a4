package luaudoc

import (
	"slices"
	"strconv"
	"strings"
)

// parser reads one file. What it is not to keep it reads and drops. It fails as the lexer does.
type parser struct {
	lex   *lexer
	tok   token
	ahead []token // at most one
	ended token   // the last token that was taken
	depth int
	file  *file
}

// file is what matters of a source.
type file struct {
	chunk, src string
	comment    string
	locals     map[string]*binding
	types      []*typeDecl
	added      []assignment // a.b = value and function a.b, in their order
	exported   []string     // export local, export function
	declared   []*declared
	returned   *expr
	returnDoc  string
	work       int // see charge
}

// binding is what a local name of the file stands for.
type binding struct {
	value *expr
	typ   *typeNode
	doc   string
}

// local is the value of a local name; nil where there is none.
func (f *file) local(name string) *expr {
	if b := f.locals[name]; b != nil {
		return b.value
	}
	return nil
}

type assignment struct {
	path  []string
	value *expr
	doc   string
}

type typeDecl struct {
	name       string
	exported   bool
	generics   span
	start, end int
	node       *typeNode
	doc        string
}

// declared is one `declare` of a definition file.
type declared struct {
	name string
	typ  *typeNode
	doc  string
}

type span struct{ start, end int }

// readFile reads a source.
func readFile(source Source) (f *file, err error) {
	f = &file{chunk: source.Chunk, src: source.Text, locals: map[string]*binding{}}
	p := &parser{lex: newLexer(source), file: f}
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case *Error:
			f, err = nil, cause
		default:
			panic(cause)
		}
	}()
	p.tok = p.lex.next()
	takes := slices.Contains([]string{"export", "function", "type", "@", "declare"}, p.text()) ||
		p.is("local") && p.textOf(p.peek()) == "function"
	f.comment = f.top(p.tok, takes)
	p.block(true)
	if p.tok.kind != endOfFile {
		p.unexpected("a statement")
	}
	return f, nil
}

// take moves on to the next token and gives the present one.
func (p *parser) take() token {
	p.ended = p.tok
	if len(p.ahead) > 0 {
		p.tok, p.ahead = p.ahead[0], p.ahead[:0]
	} else {
		p.tok = p.lex.next()
	}
	return p.ended
}

func (p *parser) peek() token {
	if len(p.ahead) == 0 {
		p.ahead = append(p.ahead, p.lex.next())
	}
	return p.ahead[0]
}

func (p *parser) textOf(t token) string { return p.lex.src[t.start:t.end] }

func (p *parser) text() string { return p.textOf(p.tok) }

// is tells keywords and symbols; no string or number reads like one.
func (p *parser) is(what string) bool { return p.tok.kind != endOfFile && p.text() == what }

func (p *parser) accept(what string) bool {
	if !p.is(what) {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(what string) token {
	if !p.is(what) {
		p.unexpected("`" + what + "`")
	}
	return p.take()
}

// expectEnd ends what began in a line.
func (p *parser) expectEnd(what, began string, line int) {
	if !p.is(what) {
		p.lex.fail(p.tok.line, "expected `%s` to close the %s of line %d, got %s", what, began, line, p.got())
	}
	p.take()
}

func (p *parser) unexpected(wanted string) {
	p.lex.fail(p.tok.line, "expected %s, got %s", wanted, p.got())
}

// got is the present token for an error.
func (p *parser) got() string {
	const most = 40
	text, rest := p.text(), ""
	if len(text) > most {
		text, rest = strings.ToValidUTF8(text[:most], ""), "..."
	}
	quoted := strconv.Quote(text) // what a terminal would obey is escaped
	switch {
	case p.tok.kind == endOfFile:
		return "the end of the file"
	case quoted == `"`+text+`"`:
		return "`" + text + "`" + rest
	}
	return quoted + rest
}

func isKeyword(s string) bool {
	switch s {
	case "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil",
		"not", "or", "repeat", "return", "then", "true", "until", "while":
		return true
	}
	return false
}

func (p *parser) isName(t token) bool { return t.kind == word && !isKeyword(p.textOf(t)) }

func (p *parser) name() string {
	if !p.isName(p.tok) {
		p.unexpected("a name")
	}
	return p.textOf(p.take())
}

// enter bounds how deep the parser calls itself.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNested {
		p.lex.fail(p.tok.line, "this is nested too deeply")
	}
}

func (p *parser) leave() { p.depth-- }
