package builtin

import (
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/agentmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/asyncmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/contextmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/cryptomod"
	"github.com/hukilau/hukilau/go/internal/hostmods/encodingmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/envmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/fsmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/kvmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/logmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/processmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/regexmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/testmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/internal/hostmods/tomlmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/uuidmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/yamlmod"
)

// Stub is the typed stub of one module.
type Stub struct{ Name, Text string }

// Stubs are those of all modules, by name, also of those that only some programs have: music, sdk and tool.
func Stubs() []Stub { return stubs }

var stubs = []Stub{
	{"agent", agentmod.Stub}, {"async", asyncmod.Stub}, {"context", contextmod.Stub}, {"crypto", cryptomod.Stub},
	{"encoding", encodingmod.Stub}, {"env", envmod.Stub}, {"fs", fsmod.Stub}, {"http", httpmod.Stub},
	{"json", jsonmod.Stub}, {"kv", kvmod.Stub}, {"log", logmod.Stub}, {"music", musicmod.Stub},
	{"process", processmod.Stub}, {"regex", regexmod.Stub}, {"sdk", sdkmod.Stub}, {"test", testmod.Stub}, {"time", timemod.Stub},
	{"toml", tomlmod.Stub}, {"tool", toolmod.Stub}, {"uuid", uuidmod.Stub}, {"yaml", yamlmod.Stub},
}

// What each stub says its functions with.
const declaration, declarationEnd = "declare __native: {\n", "}\n"

// loaded is what require keeps; the engine makes it.
const loaded = "\n-- The modules that were required, by name.\ndeclare package: { loaded: { [string]: any } }\n"

// Definitions joins the stubs of all modules into one text, because a type checker takes one
// declaration of a global, and adds the globals that are no module's.
func Definitions() string {
	var types, fields strings.Builder
	for _, stub := range stubs {
		head, body, _ := strings.Cut(stub.Text, declaration)
		body = strings.TrimSuffix(body, declarationEnd)
		if strings.Contains(head, "\ntype ") {
			types.WriteString(head)
			head = ""
		}
		for line := range strings.Lines(head) {
			if line != "\n" {
				fields.WriteString("\t" + line)
			}
		}
		fields.WriteString(body)
	}
	return types.String() + declaration + fields.String() + declarationEnd + loaded
}
