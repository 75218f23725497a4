package main

import (
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/luaudoc"
)

// page is Markdown as GitHub reads it.
type page struct{ strings.Builder }

// signatureWidth is where signatures are broken.
const signatureWidth = 100

func (p *page) title(text, from string) {
	fmt.Fprintf(p, "# %s\n\n_Made by `make docs` from %s: changes belong there._\n", text, from)
}

func (p *page) heading(level int, text string) {
	fmt.Fprintf(p, "\n%s %s\n", strings.Repeat("#", level), text)
}

// paragraph writes Markdown as it is.
func (p *page) paragraph(markdown string) { p.WriteString("\n" + markdown + "\n") }

func (p *page) code(info, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(p, "\n%s%s\n%s\n%s\n", fence, info, text, fence)
}

func (p *page) comment(text string) {
	item := false
	for _, block := range luaudoc.Blocks(text) {
		switch block.Kind {
		case luaudoc.Code:
			info := block.Info
			if info == "" {
				info = "text"
			}
			p.code(info, block.Text)
		case luaudoc.Item:
			if !item {
				p.WriteString("\n")
			}
			p.WriteString("- " + escaped(block.Text) + "\n")
		default:
			p.paragraph(escaped(block.Text))
		}
		item = block.Kind == luaudoc.Item
	}
}

// contents lists what a module has.
func (p *page) contents(m *luaudoc.Module) {
	var names []string
	for _, found := range m.Members() {
		if found.Field == nil && (found.Value == nil || len(found.Value.Members) == 0) {
			name := heading(found)
			names = append(names, fmt.Sprintf("[%s](#%s)", name, anchor(name)))
		}
	}
	if len(names) > 3 {
		p.paragraph(strings.Join(names, " · "))
	}
}

func heading(found luaudoc.Found) string {
	switch {
	case found.Type != nil:
		return "type " + found.Type.Name
	case found.Value.Signature != nil:
		return found.Value.Signature.Called(found.Shown())
	}
	return found.Name
}

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, heading)
}

func (p *page) values(list []*luaudoc.Value, prefix string, level int, of *luaudoc.Module) {
	for _, v := range list {
		name := strings.TrimSuffix(prefix+v.Name, ".")
		switch v.Kind {
		case luaudoc.Function:
			p.heading(level, escaped(v.Signature.Called(name)))
			p.code("luau signature", v.Signature.Text(name, signatureWidth))
		case luaudoc.Link:
			p.heading(level, escaped(name))
			module := v.Module
			if inner, ok := strings.CutPrefix(module, "@self/"); ok && of != nil {
				module = of.Name + "/" + inner
			}
			p.paragraph(fmt.Sprintf("The module [%s](%s).", module, fileName(module)))
		default:
			p.heading(level, escaped(name))
			if v.Type != "" {
				p.paragraph("`" + name + ": " + v.Type + "`")
			}
		}
		p.comment(v.Comment)
		p.values(v.Members, name+".", level+1, of)
	}
}

func (p *page) types(list []*luaudoc.Type, level int) {
	for _, t := range list {
		p.heading(level, "type "+escaped(t.Name))
		p.code("luau no-run", t.Source)
		p.comment(t.Comment)
		p.values(t.Methods, t.Name+".", level+1, nil)
	}
}

// cell is a text inside of a table.
func cell(text string) string { return strings.ReplaceAll(escaped(text), "|", `\|`) }

// escaped is a text of a comment as Markdown: what stands between backquotes and addresses stay, signs
// that Markdown would take for its own are escaped.
func escaped(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i > 0 {
			b.WriteByte('`')
		}
		if i%2 == 1 {
			b.WriteString(part)
			continue
		}
		for j, word := range strings.Split(part, " ") {
			if j > 0 {
				b.WriteByte(' ')
			}
			if strings.Contains(word, "://") {
				b.WriteString(word)
				continue
			}
			writeEscaped(&b, word)
		}
	}
	return b.String()
}

func writeEscaped(b *strings.Builder, word string) {
	plain := func(i int) bool {
		return i >= 0 && i < len(word) && (word[i] >= '0' && word[i] <= '9' || word[i]|0x20 >= 'a' && word[i]|0x20 <= 'z')
	}
	for i := range len(word) {
		sign := strings.IndexByte("\\*_<[]#~", word[i]) >= 0
		if inside := word[i] == '_' && plain(i-1) && plain(i+1); sign && !inside {
			b.WriteByte('\\')
		}
		b.WriteByte(word[i])
	}
}
