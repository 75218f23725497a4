// Package mcpserver is the Model Context Protocol face of the tool host: it lists the host's tools and calls
// them, over standard input and output and over streamable HTTP. The protocol itself is the official SDK's; here
// is what goes between it and package toolhost: which revision a request speaks, how results, errors and
// notifications are told, and what a hostile client cannot do. It does not run tools, and does not check who may
// connect: package server does that before a request comes here.
package mcpserver

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Options are what a Server needs. Only Host has no default.
type Options struct {
	Host         *toolhost.Host
	Logger       *slog.Logger          // nil: nothing is logged
	Redact       func(string) string   // takes secrets out of what clients are told; nil: nothing is secret
	Name         string                // "": hukilau
	Title        string                // for people; "": none
	Version      string                // "": 0.0.0
	Instructions string                // how a model should use the tools; "": none
	Offers       Offers                // resources and prompts of others; nil: there are none
	Ended        func(toolhost.Caller) // hears of sessions that have ended; nil: nobody does

	MaxMessage  int           // bytes of one message; 0: 8 MiB
	MaxSessions int           // over HTTP, at once, before the longest unused one ends; 0: 1,000
	MaxInFlight int           // calls of one client over standard input; 0: 128
	Grace       time.Duration // how long calls over standard input may run on when that has ended; 0: 2 s
	SessionTime time.Duration // how long an HTTP session may be idle; 0: 1 hour
	AskTime     time.Duration // how long a user may take to answer; 0: 5 minutes
	WriteTime   time.Duration // how long a client may take to read what is sent to it over HTTP; 0: 30 s
	Silence     time.Duration // on a stream over HTTP, before a comment says that it lives; 0: 15 s

	// OperatorApproves leaves approvals to operators: the client's user is not asked. Clients that answer
	// elicitations by themselves make it necessary.
	OperatorApproves bool
	// HostChecked says that the Host header was checked already. Without it a request that comes in at a loopback
	// address must name one.
	HostChecked bool
}

// Server serves the tools of a host. Any goroutine may use it.
type Server struct {
	options   Options
	host      *toolhost.Host
	mcp       *mcp.Server
	suspended suspended
	requests  requests // over HTTP, under way
	sessions  sessions
	streams   streams
	sealing   [32]byte // key of session ids
	following sync.WaitGroup

	mu     sync.Mutex
	listed map[string]string // hash of each tool that the SDK lists, by name
	// offered are the entries that come from Offers: kind, name, text.
	offered map[string]map[string]string
}

// New makes a Server.
func New(o Options) *Server {
	o.setDefaults()
	s := &Server{options: o, host: o.Host, listed: map[string]string{}, offered: map[string]map[string]string{}}
	s.suspended.all = map[string]*conversation{}
	s.sessions = sessions{most: o.MaxSessions, idle: o.SessionTime, now: time.Now, all: map[string]*session{}}
	rand.Read(s.sealing[:])
	options := &mcp.ServerOptions{
		Instructions: o.Instructions,
		Logger:       slog.New(atLeast{o.Logger.Handler(), slog.LevelWarn}),
		Capabilities: capabilities(),
	}
	if o.Offers != nil {
		options.Capabilities.Resources = &mcp.ResourceCapabilities{ListChanged: true}
		options.CompletionHandler = s.complete
	}
	if o.Ended != nil {
		options.InitializedHandler = s.followed
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: o.Name, Title: o.Title, Version: o.Version}, options)
	s.mcp.AddReceivingMiddleware(negotiating, s.noting, s.listing)
	s.mcp.AddSendingMiddleware(keeping)
	s.Changed()
	return s
}

func (o *Options) setDefaults() {
	setDefault(&o.Name, "hukilau")
	setDefault(&o.Version, "0.0.0")
	setDefault(&o.MaxMessage, 8<<20)
	setDefault(&o.MaxSessions, 1000)
	setDefault(&o.MaxInFlight, 128)
	setDefault(&o.Grace, 2*time.Second)
	setDefault(&o.SessionTime, time.Hour)
	setDefault(&o.AskTime, 5*time.Minute)
	setDefault(&o.WriteTime, 30*time.Second)
	setDefault(&o.Silence, 15*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// Drain ends what only waits: streams for what happens, and calls whose user does not answer between two requests.
// Calls that run go on. A program does it when it begins to shut down, as all that would keep it.
func (s *Server) Drain() {
	s.suspended.close()
	s.streams.close()
}

// Close ends all sessions, with what runs and waits in them.
func (s *Server) Close() {
	s.Drain()
	s.sessions.end()
	for session := range s.mcp.Sessions() {
		session.Close()
	}
	s.following.Wait()
}

// atLeast passes records of a level on. The SDK tells of each session and request at level info.
type atLeast struct {
	slog.Handler
	level slog.Level
}

func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}
