package gateway

import "github.com/hukilau/hukilau/go/internal/gateway/luautype"

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
