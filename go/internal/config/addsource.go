package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/tomltext"
)

// AddServer writes [mcp_servers.<name>] into a file, in the place of one that is there. All else of the file stays as
// it is. Texts are written as they are given, so ${NAME} stays a variable. The result is right as a whole, or there is
// an error and no result.
func AddServer(file []byte, name string, s MCPServer) ([]byte, error) {
	return addSource(file, []string{"mcp_servers", name}, s.assignments())
}

// AddAPI does the same for [apis.<name>].
func AddAPI(file []byte, name string, a API) ([]byte, error) {
	return addSource(file, []string{"apis", name}, a.assignments())
}

// errInline is for a section that is a part of something else.
var errInline = errors.New("stands within an inline table with dotted keys: change it there by hand")

func addSource(file []byte, section []string, values []assignment) ([]byte, error) {
	if rest, marked := bytes.CutPrefix(file, byteOrderMark); marked {
		edited, err := addSource(rest, section, values)
		if err != nil {
			return nil, err
		}
		return append(slices.Clone(byteOrderMark), edited...), nil
	}
	if bad := tomltext.CheckBounds(file); bad != nil {
		return nil, bad
	}
	e := sectionEditor{text: file, section: section, values: values, newline: newlineOf(file)}
	if err := e.look(); err != nil {
		return nil, err
	}
	edited := e.edited()
	o := Options{Placeholder: redact.Mark}
	if _, wrong := Parse(edited, o); wrong != nil {
		if _, before := Parse(file, o); before != nil {
			return nil, before // its places are those that a person finds
		}
		return nil, wrong
	}
	return edited, nil
}

// assignment is a key of a section with its value as TOML.
type assignment struct{ key, value string }

func join(values []assignment, between string) string {
	lines := make([]string, len(values))
	for i, v := range values {
		lines[i] = v.key + " = " + v.value
	}
	return strings.Join(lines, between)
}

// cut is a part of the text that goes.
type cut struct{ from, to int }

// sectionEditor finds what a file has of a section.
type sectionEditor struct {
	text    []byte
	section []string
	values  []assignment
	newline string

	parser unstable.Parser
	table  []string // of the last header
	cuts   []cut    // in order
	within bool     // the last cut is of a header, and goes on
	inline bool     // the only cut is replaced by an inline table
	open   int      // behind the bracket of an inline table to which the section belongs; 0: none
	filled bool     // it has something in it
	above  []string // its path
}

func (e *sectionEditor) look() error {
	e.parser.Reset(e.text)
	for e.parser.NextExpression() {
		node := e.parser.Expression()
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			e.header(node)
		case unstable.KeyValue:
			if err := e.pair(e.table, node, false); err != nil {
				return fmt.Errorf("%s %w", dotted(e.section), err)
			}
		}
	}
	return e.parser.Error()
}

func (e *sectionEditor) header(node *unstable.Node) {
	e.table = nil
	first, end := -1, 0
	for it := node.Key(); it.Next(); {
		if first < 0 {
			first = int(it.Node().Raw.Offset)
		}
		end = rawEnd(it.Node())
		e.table = append(e.table, string(it.Node().Data))
	}
	e.within = startsWith(e.table, e.section)
	if e.within {
		e.cuts = append(e.cuts, cut{lineStart(e.text, first), lineEnd(e.text, end)})
	}
}

func startsWith(path, start []string) bool {
	return len(path) >= len(start) && slices.Equal(path[:len(start)], start)
}

// lineStart is where the line of a place begins.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd is where the line after a place begins.
func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

func (e *sectionEditor) pair(above []string, node *unstable.Node, inline bool) error {
	path := slices.Clone(above)
	for it := node.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
	}
	from, to := int(node.Raw.Offset), rawEnd(node)
	value := node.Value()
	switch {
	case e.within && !inline: // a line of the section: what stands between it and the one before goes with it
		e.cuts[len(e.cuts)-1].to = lineEnd(e.text, to)
	case inline && slices.Equal(path, e.section):
		e.inline = true
		e.cuts = append(e.cuts, cut{from, to})
	case inline && startsWith(path, e.section):
		return errInline
	case startsWith(path, e.section):
		e.cuts = append(e.cuts, cut{lineStart(e.text, from), lineEnd(e.text, to)})
	case value.Kind == unstable.InlineTable && startsWith(e.section, path):
		e.open, e.above = rawEnd(value), path
		for it := value.Children(); it.Next(); {
			e.filled = true
			if err := e.pair(path, it.Node(), true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *sectionEditor) edited() []byte {
	switch {
	case e.inline:
		// What is around it keeps its spaces.
		kept := bytes.TrimRight(e.text[e.cuts[0].from:e.cuts[0].to], " \t")
		return e.replace(e.cuts[0].from, e.cuts[0].from+len(kept), e.inlined())
	case e.open > 0:
		text := " " + e.inlined()
		if e.filled {
			text += ","
		} else {
			text += " "
		}
		return e.replace(e.open, e.open, text)
	case len(e.cuts) == 0:
		return appended(e.text, e.block(), e.newline)
	}
	first, headed := e.cuts[0], e.isHeader(e.cuts[0])
	rest := slices.Clone(e.text)
	for _, c := range slices.Backward(e.cuts) {
		if headed && c == first {
			break
		}
		rest = slices.Delete(rest, e.withSpaceBefore(c), c.to)
	}
	if !headed { // lines of dotted keys: a header in their place would take the lines behind them
		return appended(rest, e.block(), e.newline)
	}
	return slices.Concat(rest[:first.from], []byte(e.block()), rest[first.to:])
}

func (e *sectionEditor) replace(from, to int, text string) []byte {
	return slices.Concat(e.text[:from], []byte(text), e.text[to:])
}

func (e *sectionEditor) isHeader(c cut) bool {
	return bytes.HasPrefix(bytes.TrimLeft(e.text[c.from:c.to], " \t"), []byte("["))
}

// withSpaceBefore begins a table that goes with the empty lines before it.
func (e *sectionEditor) withSpaceBefore(c cut) int {
	at := c.from
	for e.isHeader(c) && at > 0 {
		before := lineStart(e.text, at-1)
		if len(bytes.TrimSpace(e.text[before:at])) > 0 {
			break
		}
		at = before
	}
	return at
}

func (e *sectionEditor) block() string {
	return "[" + dotted(e.section) + "]" + e.newline + join(e.values, e.newline) + e.newline
}

// inlined is the section as a part of the inline table above it.
func (e *sectionEditor) inlined() string {
	return dotted(e.section[len(e.above):]) + " = { " + join(e.values, ", ") + " }"
}

// SectionOf is the name of a section as its header has it.
func SectionOf(kind, name string) string { return dotted([]string{kind, name}) }
