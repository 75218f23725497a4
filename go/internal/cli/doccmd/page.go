package doccmd

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/go/internal/visible"
)

const (
	defaultWidth = 80
	mostWidth    = 100 // longer lines are hard to read
	leastWidth   = 20
	indent       = "    "
)

// page is what is shown.
type page struct {
	strings.Builder
	width  int
	colour bool
}

// line writes one line.
func (p *page) line(text string) { p.WriteString(strings.TrimRight(text, " ") + "\n") }

// bold writes lines of source, and comments among them, which are wrapped.
func (p *page) bold(text string) {
	for line := range strings.SplitSeq(expanded(visible.Text(text)), "\n") {
		before, comment, isComment := strings.Cut(line, "-- ")
		if !isComment || strings.TrimSpace(before) != "" {
			p.line(app.Paint(p.colour, app.Bold, line))
			continue
		}
		var inner page
		inner.width = p.width
		inner.wrapped(before+"-- ", before+"-- ", comment)
		for line := range strings.SplitSeq(strings.TrimSuffix(inner.String(), "\n"), "\n") {
			p.line(app.Paint(p.colour, app.Dim, line))
		}
	}
}

func expanded(text string) string { return strings.ReplaceAll(text, "\t", indent) }

// wrapped writes words in lines of the page's width. rest stands before all lines but the first.
func (p *page) wrapped(first, rest, text string) {
	line := first
	used := utf8.RuneCountInString(first)
	fresh := true
	for _, word := range strings.Fields(visible.Text(text)) {
		size := utf8.RuneCountInString(word)
		if !fresh && used+1+size > max(p.width, leastWidth) {
			p.line(line)
			line, used, fresh = rest, utf8.RuneCountInString(rest), true
		}
		if !fresh {
			line, used = line+" ", used+1
		}
		line, used, fresh = line+word, used+size, false
	}
	p.line(line)
}

// mostPage is about how many bytes a page has: names that stand for one another repeat a long comment.
const mostPage = 16 << 20

// comment writes a comment.
func (p *page) comment(text string) {
	if p.Len() > mostPage {
		p.line(indent + "...")
		return
	}
	blocks := luaudoc.Blocks(text)
	for i, block := range blocks {
		if i > 0 && (block.Kind != luaudoc.Item || blocks[i-1].Kind != luaudoc.Item) {
			p.line("")
		}
		switch block.Kind {
		case luaudoc.Item:
			p.wrapped(indent+"- ", indent+"  ", block.Text)
		case luaudoc.Code:
			for line := range strings.SplitSeq(expanded(visible.Text(block.Text)), "\n") {
				p.line(indent + indent + line)
			}
		default:
			p.wrapped(indent, indent, block.Text)
		}
	}
}

// modules lists modules with the first sentence of each.
func (p *page) modules(list []*luaudoc.Module) {
	var names, comments []string
	for _, m := range list {
		names, comments = append(names, m.Name), append(comments, m.Comment)
	}
	p.entries("  ", names, comments)
	p.line("")
	p.wrapped("", "", "`luau doc MODULE` shows one of them, `luau doc MODULE.NAME` a function or type of it, `luau doc NAME` looks in all.")
}

// choice lists what has a name.
func (p *page) choice(name string, found []app.Doc) {
	p.line(fmt.Sprintf("There are %d named %s; `luau doc` shows each:", len(found), visible.Line(name)))
	p.line("")
	var names, comments []string
	for _, doc := range found {
		names, comments = append(names, doc.Name()), append(comments, comment(doc))
	}
	p.entries("  ", names, comments)
}

// entries lists names with the first sentence about each. before stands before each name.
func (p *page) entries(before string, names, comments []string) {
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	for i, name := range names {
		head := before + fmt.Sprintf("%-*s  ", width, name)
		inner := page{width: p.width}
		inner.wrapped(head, strings.Repeat(" ", len(head)), luaudoc.Summary(comments[i]))
		rest := strings.TrimPrefix(inner.String(), before+name)
		p.WriteString(before + app.Paint(p.colour, app.Bold, visible.Line(name)) + rest)
	}
}

// module writes all of a module.
func (p *page) module(m *luaudoc.Module) {
	p.bold("module " + m.Name)
	if m.Comment != "" {
		p.line("")
		p.comment(m.Comment)
	}
	prefix := m.Prefix()
	if m.Name == app.Native {
		p.natives(m)
	} else if len(m.Values) > 0 {
		p.head(heading(m.Values))
		p.values(m.Values, prefix)
	}
	if len(m.Types) > 0 {
		p.head("types")
		for i, t := range m.Types {
			if i > 0 {
				p.line("")
			}
			p.typ(t)
		}
	}
	if m.Comment == "" && len(m.Values) == 0 && len(m.Types) == 0 {
		p.line("")
		p.wrapped(indent, indent, "It has no comment, and returns no table or function that can be read without running it.")
	}
}

// heading is what stands over values.
func heading(values []*luaudoc.Value) string {
	for _, v := range values {
		if v.Kind != luaudoc.Function {
			return "functions and values"
		}
	}
	return "functions"
}

// natives are listed only: they are many.
func (p *page) natives(m *luaudoc.Module) {
	p.head(heading(m.Values))
	var names, comments []string
	for _, v := range m.Values {
		names, comments = append(names, m.Prefix()+v.Name), append(comments, v.Comment)
	}
	p.entries("", names, comments)
}

func (p *page) head(text string) {
	p.line("")
	p.line(app.Paint(p.colour, app.Dim, strings.ToUpper(text)))
	p.line("")
}

func (p *page) values(list []*luaudoc.Value, prefix string) {
	for i, v := range list {
		if i > 0 {
			p.line("")
		}
		p.value(v, strings.TrimSuffix(prefix+v.Name, "."))
	}
}

func (p *page) value(v *luaudoc.Value, name string) {
	switch {
	case v.Kind == luaudoc.Function:
		p.bold(v.Signature.Text(name, p.width))
	case v.Kind == luaudoc.Link:
		p.bold(name + ` = require("` + v.Module + `")`)
	case v.Type != "":
		p.bold(name + ": " + v.Type)
	default:
		p.bold(name)
	}
	p.comment(v.Comment)
	if len(v.Members) > 0 {
		p.line("")
		p.values(v.Members, name+".")
	}
}

func (p *page) typ(t *luaudoc.Type) {
	p.bold(t.Source)
	p.comment(t.Comment)
	for _, method := range t.Methods {
		p.line("")
		p.value(method, t.Name+"."+method.Name)
	}
}

// member writes one member of a module, and where it is from.
func (p *page) member(doc app.Doc) {
	m := doc.Member
	p.line(app.Paint(p.colour, app.Dim, visible.Line("module "+doc.Module.Name)))
	p.line("")
	switch {
	case m.Value != nil:
		p.value(m.Value, m.Shown())
	case m.Type != nil:
		p.typ(m.Type)
	default:
		p.bold(m.Name + ": " + m.Field.Type)
		p.comment(m.Field.Comment)
	}
}
