package gateway

import (
	"slices"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
)

// definitions are what scripts find beside their sources, as the type checker and editors know it.
var definitions = luautype.DefinitionOptions{
	Prelude: `export type SessionFiles = {
	read: (path: string) -> string,
	write: (path: string, text: string) -> (),
	append: (path: string, text: string) -> (),
	list: (folder: string?) -> { { path: string, size: number } },
	remove: (path: string) -> (),
}
`,
	Members: []luautype.Member{{Name: "files", Type: "SessionFiles"}},
	Globals: []luautype.Member{
		{Name: "files", Type: "SessionFiles"},
		{Name: "scratch", Type: "SessionFiles"},
		{Name: "result", Type: "(value: any) -> ()"},
		{Name: "read_result", Type: "(handle: string, path: (string | number)?, range: { number }?) -> any"},
		{Name: "call_tool", Type: "(name: string, ...any) -> any"},
		{Name: "json", Type: "any"},
		{Name: "async", Type: "any"},
	},
}

// filesName is what a session's files are called; a source of that name comes first, and leaves them "scratch".
const filesName = "files"

// definitionsOf are the definitions beside those of a catalogue's sources.
func definitionsOf(c *catalog.Catalog) luautype.DefinitionOptions {
	o := definitions
	if c.Source(filesName) == nil {
		return o
	}
	isFiles := func(m luautype.Member) bool { return m.Name == filesName }
	o.Members = slices.DeleteFunc(slices.Clone(o.Members), isFiles)
	o.Globals = slices.DeleteFunc(slices.Clone(o.Globals), isFiles)
	return o
}
