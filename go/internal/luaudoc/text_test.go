package luaudoc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBlocks(t *testing.T) {
	for comment, want := range map[string][]Block{
		"":                         nil,
		"One\ntwo.\n\nThree.":      {{Paragraph, "One two.", ""}, {Paragraph, "Three.", ""}},
		"Codes:\n- a\n  more\n- b": {{Paragraph, "Codes:", ""}, {Item, "a more", ""}, {Item, "b", ""}},
		"A:\n\n```luau no-run\n\tx()\n\ty()\n```\nB": {{Paragraph, "A:", ""}, {Code, "x()\ny()", "luau no-run"}, {Paragraph, "B", ""}},
		"A:\n\n    x()\n\n      y()\n\nB":            {{Paragraph, "A:", ""}, {Code, "x()\n\n  y()", "luau"}, {Paragraph, "B", ""}},
		"A\n    goes on":                             {{Paragraph, "A goes on", ""}},
		"```\nnever ends":                            {{Code, "never ends", ""}},
		"```":                                        {{Code, "", ""}},
		"\tonly code":                                {{Code, "only code", "luau"}},
	} {
		assert.Equal(t, want, Blocks(comment), "%q", comment)
	}
}

func TestSummary(t *testing.T) {
	for comment, want := range map[string]string{
		"":                               "",
		"One.":                           "One.",
		"One\ngoes on. Two.":             "One goes on.",
		"Takes a, b ... Then more.":      "Takes a, b ... Then more.",
		"TOML 1.0, both ways. And so":    "TOML 1.0, both ways.",
		"```luau\nx()\n```\nThe text. B": "The text.",
	} {
		assert.Equal(t, want, Summary(comment), "%q", comment)
	}
}

func TestSignatureText(t *testing.T) {
	s := &Signature{Generics: "<T>", Params: []string{"first: T", "second: (T) -> string"}, Returns: "(T, number)"}
	assert.Equal(t, "function m.f<T>(first: T, second: (T) -> string): (T, number)", s.Text("m.f", 80))
	assert.Equal(t, "function m.f<T>(\n\tfirst: T,\n\tsecond: (T) -> string\n): (T, number)", s.Text("m.f", 40))
	assert.Equal(t, "function C:go()", (&Signature{Method: true}).Text("C.go", 10))
}

func TestTitles(t *testing.T) {
	for name, want := range map[string]string{
		"http": "http", "haivivi/http": "haivivi.http", "./my/module": "module", "./my/module.luau": "module", "../x/init.luau": "x",
		"/abs/x.lua": "x", "@mine/module": "module", "@self": "self", "__native": "__native",
	} {
		assert.Equal(t, want, (&Module{Name: name}).Title(), name)
	}
}

// As many lines as a source can have take about as long as reading them: a copy of the text for each
// line would take minutes.
func TestLongCommentIsRead(t *testing.T) {
	const lines = 1 << 20
	blocks := Blocks(strings.Repeat("a\n", lines) + "- b\n" + strings.Repeat("c\n", lines))
	assert.Len(t, blocks, 2)
	assert.Len(t, blocks[0].Text, 2*lines-1)
	assert.Len(t, blocks[1].Text, 2*lines+1)
	assert.Less(t, len(Summary(strings.Repeat("ä ", lines))), 5000)
}
