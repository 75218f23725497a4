// Package upstream is the client side of the gateway: connections to MCP servers over pipes, over streamable HTTP and
// over the older SSE transport, in every revision of the protocol. Texts of servers are kept as they came, so that
// nothing of a result is lost. It starts no process itself and knows no configuration file.
package upstream

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// The transports of a server with a URL.
const (
	StreamableHTTP = "streamable-http"
	SSE            = "sse"
)

// Config is one server as it is configured: Command or URL, not both.
type Config struct {
	Name string

	Command string
	Args    []string
	Env     map[string]string // beside what a server inherits
	Dir     string            // "" is ours

	URL       string
	Transport string            // StreamableHTTP or SSE; "" is the first
	Headers   map[string]string // sent with each request, never to another host

	Stateless     bool                   // sessions may share a connection
	MaxConcurrent int                    // calls at the same time; 0: 16
	MaxBytes      int                    // of one result; 0: 16 MiB
	CallTimeout   time.Duration          // without a sign of life from a call; 0: 2 minutes
	StartTimeout  time.Duration          // of start and handshake; 0: 30 seconds
	Allows        func(tool string) bool // may be seen and called; nil: all
}

// Options is what a Server works with. The zero value is the default.
type Options struct {
	Logger *slog.Logger // nil: none
	// Start starts the program of a server; nil: such servers cannot be reached.
	Start func(Command) (*Process, error)
	// Environ is the environment of our own process, of which a server inherits a little.
	Environ []string
	// HTTP sends requests; nil: a transport of this server alone.
	HTTP http.RoundTripper
	// Authorize proves who we are to a server with a URL; nil: Headers alone do.
	Authorize Authorizer
	Client    Client
	Version   string              // of this program, for the server
	Redact    func(string) string // takes secrets out of texts for people; nil: only those of Config are
	OnChange  func()              // is called when Snapshot has changed; never twice at the same time
}

// Client is what our own client can do for a server. It is told to servers when a connection begins.
type Client struct {
	Elicitation bool // has forms for its user
	Sampling    bool
}

// Authorizer proves who we are. Its methods are called by many goroutines.
type Authorizer interface {
	// Authorization is the value of the header, "" for none.
	Authorization(ctx context.Context) (string, error)
	// Refused hears that the server did not take that value. It is true when another try may succeed.
	Refused(ctx context.Context, authorization string) bool
	// Wanting hears that what we may do with that value is not enough, and which rights the server names. It is true
	// when another try may succeed.
	Wanting(ctx context.Context, authorization string, scopes []string) bool
}

// Command is a program to be started. Env is all of its environment.
type Command struct {
	Path string
	Args []string
	Env  []string
	Dir  string
}

// MaxConcurrent and so on where the configuration says nothing.
const (
	defaultConcurrent = 16
	defaultBytes      = 16 << 20
	defaultCall       = 2 * time.Minute
	defaultStart      = 30 * time.Second
)

// withDefaults fills in what is not said.
func (c Config) withDefaults() Config {
	if c.MaxConcurrent <= 0 {
		c.MaxConcurrent = defaultConcurrent
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = defaultBytes
	}
	if c.CallTimeout <= 0 {
		c.CallTimeout = defaultCall
	}
	if c.StartTimeout <= 0 {
		c.StartTimeout = defaultStart
	}
	if c.Allows == nil {
		c.Allows = func(string) bool { return true }
	}
	return c
}

// CallOptions is what one call is made with. The functions are called while the call is under way, one at a time.
type CallOptions struct {
	// Repeatable says that the call may be made again when it is unknown whether it has run.
	Repeatable bool
	// Progress is told how far the call is, by the params of the notification.
	Progress func(params json.RawMessage)
	// Elicit asks our client's user, by the params of elicitation/create; the answer is its result.
	Elicit Ask
	// Sample asks our client's model, by the params of sampling/createMessage.
	Sample Ask
}

// Ask answers a request of a server. Its error is told to the server.
type Ask func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)

// Result is what a call of a tool gave.
type Result struct {
	Raw     json.RawMessage // the whole result, as the server wrote it
	IsError bool            // the tool says that it failed
}
