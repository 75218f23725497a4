package config

import (
	"errors"
	"slices"
	"time"
)

// Sources are what a gateway calls.
type Sources struct {
	MCPServers map[string]MCPServer // [mcp_servers.<name>]
	APIs       map[string]API       // [apis.<name>]
}

// ErrNoSources is for a gateway that has nothing to call.
var ErrNoSources = errors.New("there is nothing to call: `luau gateway add NAME -- COMMAND` adds an MCP server, " +
	"`luau gateway add NAME --url URL` one that runs elsewhere, `luau gateway add NAME --api SPEC` an OpenAPI document")

// Transport is how an MCP server is spoken to.
type Transport string

// The transports.
const (
	Stdio          Transport = "stdio" // of a command, always
	StreamableHTTP Transport = "streamable-http"
	SSE            Transport = "sse"
)

// MCPServer is one server: a command that is started, or a URL.
type MCPServer struct {
	Command string // "": there is a URL
	Args    []string
	Env     map[string]string
	Cwd     string // of a command; "" is the working directory

	URL       string
	Transport Transport // never empty
	Headers   map[string]string
	Auth      ServerAuth

	Allow         []Pattern // tools that there are; nil is all, empty is none
	Deny          []Pattern // tools that there are not, whatever Allow says
	Stateless     bool      // sessions of clients may share one connection
	MaxConcurrent int       // calls at once; 0 is as [gateway] says
	Timeout       time.Duration
	Disabled      bool
	Description   string
}

// Allows says whether a server's tool may be seen and called.
func (s *MCPServer) Allows(tool string) bool {
	fits := func(p Pattern) bool { return p.Matches(tool) }
	return (s.Allow == nil || slices.ContainsFunc(s.Allow, fits)) && !slices.ContainsFunc(s.Deny, fits)
}

// AuthType is a way to show who calls.
type AuthType string

// The ways. An MCP server knows bearer and oauth, an API all but oauth.
const (
	NoAuth     AuthType = "none" // none, even if it is asked for
	BearerAuth AuthType = "bearer"
	OAuth      AuthType = "oauth" // OAuth 2.1 of MCP, with a person who logs in
	BasicAuth  AuthType = "basic"
	KeyAuth    AuthType = "api_key"
	OAuth2     AuthType = "oauth2" // client credentials
)

// ServerAuth is how an MCP server is shown who calls.
type ServerAuth struct {
	Type         AuthType // "": by OAuth, if the server asks for it and somebody has logged in
	Token        string
	ClientID     string // "": the client is registered with the server
	ClientSecret string
	Scopes       []string
	RedirectPort int // of loopback, for the login; 0 is any
}

// API is one OpenAPI document.
type API struct {
	Spec          string // path or URL
	BaseURL       string // "": as the document says
	Auth          APIAuth
	Schemes       map[string]APIAuth // by the names of security schemes, in place of Auth
	Headers       map[string]string
	Variables     map[string]string // of the document's server URL
	Include       Filter            // what there is; empty is all
	Exclude       Filter            // what there is not, whatever Include says
	Description   string
	MaxConcurrent int
	Timeout       time.Duration
	Disabled      bool
}

// APIAuth is how a service is shown who calls.
type APIAuth struct {
	Type         AuthType // "": not at all
	Token        string   // bearer
	User         string   // basic
	Password     string
	Key          string // api_key
	Name         string // of the header, parameter or cookie; "": as the document says
	In           string // "header", "query" or "cookie"; "": as the document says
	ClientID     string // oauth2
	ClientSecret string
	TokenURL     string // "": as the document says
	Scopes       []string
}

// Filter selects operations: by any of their tags, their path or their name.
type Filter struct {
	Tags       []Pattern
	Paths      []Pattern
	Operations []Pattern
}

// Override puts sources in the place of those with the same name.
func (s *Sources) Override(others Sources) {
	for name, server := range others.MCPServers {
		if s.MCPServers == nil {
			s.MCPServers = map[string]MCPServer{}
		}
		s.MCPServers[name] = server
		delete(s.APIs, name)
	}
	for name, api := range others.APIs {
		if s.APIs == nil {
			s.APIs = map[string]API{}
		}
		s.APIs[name] = api
		delete(s.MCPServers, name)
	}
}

// Enabled counts the sources that are not switched off.
func (s *Sources) Enabled() (n int) {
	for _, server := range s.MCPServers {
		if !server.Disabled {
			n++
		}
	}
	for _, api := range s.APIs {
		if !api.Disabled {
			n++
		}
	}
	return n
}
