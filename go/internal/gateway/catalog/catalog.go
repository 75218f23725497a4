// Package catalog is the model of what a gateway can call: sources, which are MCP servers and OpenAPI documents,
// their functions, and the names that scripts call them by. It knows neither how a source is reached nor how a
// function is called.
package catalog

// Kind is what a source is.
type Kind string

// The kinds of sources.
const (
	MCP     Kind = "mcp"
	OpenAPI Kind = "openapi"
)

// Source is one server or document. It is immutable once it is in a Catalog; another version of it is another Source.
type Source struct {
	Name         string // as it is configured
	Kind         Kind
	Title        string // for people; "" is none
	Description  string
	Version      string // as the source itself says; "" is none
	Instructions string // of an MCP server for models; "" are none
	Functions    []Function
	// Tags are those of an OpenAPI document with their descriptions.
	Tags map[string]string
	// Defs are the named schemas of the whole source, for its listing; nil for an MCP server.
	Defs map[string]any
}

// Function is one tool of a server or one operation of a document. Schemas are JSON trees (draft 2020-12) whose
// references are "#/$defs/<name>" into Defs.
type Function struct {
	Name        string // as its source knows it
	Suggested   string // the name that scripts get, where that is not Name: "create_pet" of createPet
	Title       string // for people; "" is none
	Description string
	Tags        []string
	Deprecated  bool

	// Params is the schema of the table of arguments; nil: there are none.
	Params map[string]any
	// Body is the schema of a second table, the request body of an operation; nil: there is none. Where there are
	// no Params it is the only argument.
	Body         any
	BodyRequired bool
	BodyDoc      string // its description
	// Result is the schema of what a call gives; nil: unknown. NoResult says that it gives nothing.
	Result   any
	NoResult bool
	// Defs are what the schemas refer to, by name. Functions may share them; they are never changed.
	Defs map[string]any

	Hints  Hints
	Method string // of an operation: "GET"; "" is no operation
	Path   string // of an operation: "/pets/{id}"
}

// Hints say what a call does, as MCP's annotations define them. nil is unsaid.
type Hints struct {
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// Repeatable says whether a call that may have run already may be made once more.
func (h Hints) Repeatable() bool {
	return h.ReadOnly != nil && *h.ReadOnly || h.Idempotent != nil && *h.Idempotent
}

// ParamsRequired says whether a call must give the table of arguments.
func (f *Function) ParamsRequired() bool {
	required, _ := f.Params["required"].([]any)
	return len(required) > 0
}

// WithResult is the function with another schema of what it gives.
func (c *Callable) WithResult(schema any) *Callable {
	function := *c.Function
	function.Result = schema
	changed := *c
	changed.Function = &function
	return &changed
}
