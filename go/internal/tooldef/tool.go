// Package tooldef has the one model of a tool, whatever it was written in, and the loaders that make it of
// files: YAML (`invoke(ctx, args)`) and Lua (`tool.execute(params, context)`). It reads definitions and checks
// them; running tools is the work of package toolhost.
package tooldef

import (
	"context"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/schema"
)

// Dialect is how a tool's script is called.
type Dialect int

// The dialects.
const (
	Invoke  Dialect = iota // function invoke(ctx, args), of a YAML file
	Execute                // function tool.execute(params, context), of a Lua file
)

// Tool is one tool. It is immutable and may be shared.
type Tool struct {
	Name        string // see CheckName
	Title       string // for people; "" is none
	Description string
	Version     string // as its author says; "" is none
	Dialect     Dialect

	// Params is the JSON Schema of the arguments: always of an object.
	Params *schema.Schema
	// Result is the JSON Schema of the result; nil when the tool has none.
	Result *schema.Schema

	Timeout     time.Duration // 0: the host's default
	Memory      int64         // bytes; 0: the host's default
	Isolation   engine.Isolation
	Permissions Permissions
	Rate        Rate
	Approve     bool // an operator approves each call
	Config      map[string]any
	Annotations Annotations
	Tags        []string
	Examples    []Example
	Agent       *Agent // nil: it has a script of its own
	Native      Native `json:"-"` // nil: it has a script

	// Guard looks at the arguments of each call, after they were checked: whether an operator has to approve it, as
	// with Approve, and why ("": nobody has said). Its error refuses the call. nil: there is none.
	Guard func(args any) (approve bool, why string, err error) `json:"-"`

	// Dry says whether a call is a rehearsal that changes nothing: no operator is asked for it. nil: none is.
	Dry func(ctx context.Context) bool `json:"-"`

	// Inner tools are listed and called by no face: only what runs within a call reaches them.
	Inner bool
	// AsSent leaves arguments as the caller wrote them: no defaults are filled in, which belong to who runs the tool.
	AsSent bool

	Chunk  string // name of the script in errors: "@" and its path, from the config's folder
	Source string // the script
	File   string // the definition's path, as Chunk has it
	Line   int    // in File, where the definition begins
	Hash   string // of all of the above: another version has another one

	findings []Finding // about its schemas, for Check

	// Stale marks the last good version of a tool whose file is broken now.
	Stale bool
}

// Rate is how often one caller may call a tool. The zero value is without a limit.
type Rate struct {
	Calls int
	Per   time.Duration
}

// Annotations tell clients what a tool does, as the Model Context Protocol defines them. nil is unsaid.
type Annotations struct {
	Title       string // "" is unsaid
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// Example is a call with the result that it must have; `luau tool test` runs it.
type Example struct {
	Name  string
	Args  map[string]any
	Want  any    // the result
	Any   bool   // no result is given: any will do
	Error string // the code of the error that it must end with; "" is none
	Line  int
}
