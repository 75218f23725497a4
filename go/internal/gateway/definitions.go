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
export type Task = {
	await: (self: any) -> ...any,
	join: (self: any) -> (boolean, ...any),
	cancel: (self: any) -> boolean,
}
export type Async = {
	all: (list: { any }) -> { any },
	map: (list: { any }, f: (value: any, index: number) -> any, cap: number?) -> { any },
	settle: (list: { any }) -> { { ok: boolean, value: any, error: any } },
	any: (list: { any }) -> ...any,
	race: (list: { any }) -> ...any,
	timeout: (seconds: number, f: (...any) -> ...any, ...any) -> ...any,
	spawn: (f: (...any) -> ...any, ...any) -> Task,
	await: (task: Task) -> ...any,
	cancel: (task: Task) -> boolean,
	sleep: (seconds: number) -> (),
	defer: (f: () -> ()) -> (),
	channel: (capacity: number?) -> any,
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
		{Name: "async", Type: "Async"},
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
