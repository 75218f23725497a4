package doctest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// A page is one document.
type page struct {
	path   string // from the root of the tree
	blocks []block
	links  []link
	anchor map[string]bool // of its headings, as forges make them
}

// A block is a fenced block of code: ```LANG WORD...
type block struct {
	lang, name string
	noRun      bool
	signature  bool
	text       string
	line       int
}

type link struct {
	to   string
	line int
}

// reading collects what a page has while its tree is walked.
type reading struct {
	page   *page
	source []byte
	faults []fault
}

// A fault is what is wrong with a page, and where.
type fault struct {
	line int
	text string
}

func readPage(root, path string) (*page, []fault, error) {
	source, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil, nil, err
	}
	p, faults := parsePage(path, source)
	return p, faults, nil
}

func parsePage(path string, source []byte) (*page, []fault) {
	r := reading{page: &page{path: path, anchor: map[string]bool{}}, source: source}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	tree := markdown.Parser().Parse(text.NewReader(source))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			r.visit(n)
		}
		return ast.WalkContinue, nil // visit has no errors
	})
	return r.page, r.faults
}

func (r *reading) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		r.fenced(n)
	case *ast.CodeBlock:
		r.fault(r.lineOf(n), "an indented block of code: fence it and name its language, so that it is run")
	case *ast.HTMLBlock:
		r.fault(r.lineOf(n), "HTML, in which code could hide: write it as Markdown")
	case *ast.Link:
		r.page.links = append(r.page.links, link{string(n.Destination), r.lineOf(n.Parent())})
	case *ast.Heading:
		r.heading(n)
	}
}

var inAnchor = regexp.MustCompile(`[^\pL\pN _-]`)

// heading notes the anchor of a heading as forges make it: lower case, hyphens for spaces, no punctuation, and
// a number at the end of one that is there already.
func (r *reading) heading(n *ast.Heading) {
	name := strings.ToLower(inAnchor.ReplaceAllString(string(n.Lines().Value(r.source)), ""))
	name = strings.ReplaceAll(name, " ", "-")
	free := name
	for i := 1; r.page.anchor[free]; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	r.page.anchor[free] = true
}

func (r *reading) fault(line int, text string) { r.faults = append(r.faults, fault{line, text}) }

// lineOf is the line of a node's first text, from 1; for inline nodes of the block around them.
func (r *reading) lineOf(n ast.Node) int {
	for n != nil && (n.Type() != ast.TypeBlock || n.Lines().Len() == 0) {
		n = n.Parent()
	}
	if n == nil {
		return 1
	}
	return 1 + bytes.Count(r.source[:n.Lines().At(0).Start], []byte("\n"))
}

func (r *reading) fenced(n *ast.FencedCodeBlock) {
	b := block{text: string(n.Lines().Value(r.source)), line: r.lineOf(n)}
	if n.Info == nil {
		r.fault(b.line, "a block without a language: nobody knows how to run it")
		return
	}
	words := strings.Fields(string(n.Info.Value(r.source)))
	b.lang = words[0]
	for _, word := range words[1:] {
		switch {
		case word == "no-run":
			b.noRun = true
		case word == "signature":
			b.signature = true
		case b.name == "" && filepath.IsLocal(word):
			b.name = word
		default:
			r.fault(b.line, "```"+strings.Join(words, " ")+": a language, the name of a file, no-run, signature: what is "+word+"?")
			return
		}
	}
	r.page.blocks = append(r.page.blocks, b)
}
