package openapi

// model is what a document says, in the form that calls need. It can be stored: see cache.go. Nothing in it depends on
// the configuration, and it is never changed once it is made.
type model struct {
	Title, Description, Version string
	Tags                        map[string]string
	Servers                     []server
	Security                    []requirement // nil: the document says nothing
	Schemes                     map[string]scheme
	// SecuritySaid is whether the document or any operation says which scheme it wants.
	SecuritySaid bool
	Operations   []*operation
	// Parameters, Bodies and the results are those of all operations, each once: a document can use one again and again.
	Parameters []*parameter
	Bodies     []*body
	results    []any
	Warnings   []string
	// Base is the URL of the document, for relative addresses; "" for a file.
	Base string

	defs map[string]any
}

// server is an address of the document, with variables.
type server struct {
	URL         string
	Description string                    `json:",omitempty"`
	Base        string                    `json:",omitempty"` // of another document than the main one
	Variables   map[string]serverVariable `json:",omitempty"`
}

type serverVariable struct {
	Default string
	Enum    []string `json:",omitempty"`
}

// requirement is the names of schemes that go together, with scopes. An empty one is a call without credentials.
type requirement map[string][]string

// scheme is one way to prove who calls.
type scheme struct {
	Type     string // apiKey, http, oauth2, openIdConnect, mutualTLS
	In, Name string `json:",omitempty"` // of an apiKey
	HTTP     string `json:",omitempty"` // of http: basic, bearer, in lower case
	TokenURL string `json:",omitempty"` // of the client credentials
	Base     string `json:",omitempty"`
}

// operation is one function.
type operation struct {
	ID           string // operationId; "" is none
	Name         string
	Suggested    string `json:",omitempty"`
	Method, Path string
	Summary      string   `json:",omitempty"`
	Description  string   `json:",omitempty"`
	Tags         []string `json:",omitempty"`
	Deprecated   bool     `json:",omitempty"`
	Servers      []server `json:",omitempty"` // its own or its path's
	Security     []requirement
	Parameters   []int    // in model.Parameters
	Keys         []string // the name of each in the table of parameters
	Body         int      // in model.Bodies; -1: there is none
	Result       int      // in model.results; -1: unknown
	NoResult     bool     `json:",omitempty"`
	Accept       string   `json:",omitempty"`
}

func (m *model) body(op *operation) *body {
	if op.Body < 0 {
		return nil
	}
	return m.Bodies[op.Body]
}

func (m *model) result(op *operation) any {
	if op.Result < 0 {
		return nil
	}
	return m.results[op.Result]
}

// parameter is one parameter of an operation.
type parameter struct {
	Name, In      string
	Description   string `json:",omitempty"`
	Required      bool   `json:",omitempty"`
	Deprecated    bool   `json:",omitempty"`
	Style         string
	Explode       bool   `json:",omitempty"`
	AllowReserved bool   `json:",omitempty"`
	Content       string `json:",omitempty"` // the media type of its value; "" has a style

	schema any
}

// body is the request body of an operation in the one media type that is sent.
type body struct {
	Type     string
	Required bool             `json:",omitempty"`
	Doc      string           `json:",omitempty"`
	Fields   map[string]field `json:",omitempty"` // of forms

	schema any
}

// field is how a property of a form is written.
type field struct {
	ContentType   string `json:",omitempty"` // "" is what its value suggests
	Binary        bool   `json:",omitempty"` // its texts are files
	Style         string `json:",omitempty"` // "" has a content type
	Explode       bool   `json:",omitempty"`
	AllowReserved bool   `json:",omitempty"`
}
