package upstream

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
)

// stateless is the revision without sessions: each request says who asks and what they can, and a question to the
// user is an answer to the request, which comes again with what the user said.
const stateless = "2026-07-28"

// revisions are those with a handshake, newest first.
var revisions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Names of what each request of the stateless revision says.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// session is a connection after its handshake.
type session struct {
	*peer
	owner     *Server
	version   string
	said      hello
	questions questions
	changes   chan struct{} // a list has changed; holds one
	began     time.Time
	process   *Process // nil: it is reached over HTTP
	reading   sync.WaitGroup
}

// hello is what a server says of itself.
type hello struct {
	Version      string   // of the protocol
	Supported    []string // of server/discover
	Capabilities map[string]json.RawMessage
	Info         json.RawMessage
	Instructions string
}

func parseHello(raw json.RawMessage) hello {
	h := hello{Capabilities: map[string]json.RawMessage{}}
	members(raw, func(key, value []byte) {
		switch string(key) {
		case "protocolVersion":
			h.Version = str(value)
		case "supportedVersions":
			elements(value, func(v []byte) { h.Supported = append(h.Supported, str(v)) })
		case "capabilities":
			members(value, func(name, value []byte) { h.Capabilities[string(name)] = value })
		case "serverInfo":
			h.Info = value
		case "instructions":
			h.Instructions = str(value)
		case "_meta":
			members(value, func(name, value []byte) {
				if string(name) == metaServer {
					h.Info = value
				}
			})
		}
	})
	return h
}

// can says whether the server has declared something.
func (h hello) can(name string) bool {
	value, ok := h.Capabilities[name]
	return ok && string(value) != "null"
}

// tells says whether the server announces changes of one of its lists.
func (h hello) tells(name string) bool {
	changes := false
	members(h.Capabilities[name], func(key, value []byte) {
		changes = changes || string(key) == "listChanged" && string(value) == "true"
	})
	return changes
}

// shake agrees with a server on the revision: the stateless one first, and the others if it does not know that.
func (s *session) shake(ctx context.Context, older bool) *Error {
	if older {
		return s.initialize(ctx, nil)
	}
	// A server that starts slowly, or ignores what it does not know, is not asked for the newest revision for ever.
	// What it answers after all is not lost: it may speak that revision only.
	found := make(chan answer, 1)
	discovering, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		result, err := s.discover(discovering)
		found <- answer{result, err}
	}()
	patience := time.NewTimer(discoverTime)
	defer patience.Stop()
	select {
	case a := <-found:
		if a.err != nil && s.understands(a.err) { // it may have changed its mind: it is asked once more
			a.result, a.err = s.discover(discovering)
		}
		if a.err == nil && s.chose(a.result) {
			return nil
		}
		if a.err != nil && (a.err.broken || a.err.Code == CodeUnauthorized || ctx.Err() != nil) {
			return a.err
		}
		return s.initialize(ctx, nil)
	case <-patience.C:
		return s.initialize(ctx, found)
	}
}

// discoverTime is how long a server may take to say that it does not know server/discover.
const discoverTime = 5 * time.Second

// discover asks what a server is.
func (s *session) discover(ctx context.Context) (json.RawMessage, *Error) {
	var f fields
	f.raw("_meta", s.owner.meta(stateless, s.owner.options.Client, 0))
	return s.roundTrip(ctx, "server/discover", f.end())
}

// understands says whether a server that refuses the revision of a request names that very revision as one it speaks.
func (s *session) understands(refused *Error) bool {
	found := false
	if refused.Number == numberBadVersion {
		members(refused.Data, func(key, value []byte) {
			if string(key) == "supported" {
				elements(value, func(v []byte) { found = found || str(v) == stateless })
			}
		})
	}
	return found
}

// chose takes what server/discover answered. It is false where we do not speak alike.
func (s *session) chose(result json.RawMessage) bool {
	h := parseHello(result)
	if !slices.Contains(h.Supported, stateless) {
		return false
	}
	s.said, s.version = h, stateless
	s.conn.settled(stateless)
	return true
}

// initialize is the handshake of the revisions with sessions. found may still have an answer to server/discover.
func (s *session) initialize(ctx context.Context, found <-chan answer) *Error {
	var f fields
	f.string("protocolVersion", revisions[0])
	f.raw("capabilities", capabilities(s.owner.options.Client, revisions[0]))
	f.raw("clientInfo", s.owner.clientInfo())
	began := make(chan answer, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		result, err := s.roundTrip(ctx, "initialize", f.end())
		began <- answer{result, err}
	}()
	for {
		select {
		case a := <-found:
			found = nil
			if a.err == nil && s.chose(a.result) {
				return nil
			}
		case a := <-began:
			if a.err == nil {
				return s.initialized(ctx, a.result)
			}
			if s.lateChoice(found) {
				return nil
			}
			return a.err
		}
	}
}

// lateChoice takes the answer to server/discover that came just before initialize was refused.
func (s *session) lateChoice(found <-chan answer) bool {
	if found == nil {
		return false
	}
	moment := time.NewTimer(momentTime)
	defer moment.Stop()
	select {
	case a := <-found:
		return a.err == nil && s.chose(a.result)
	case <-moment.C:
		return false
	}
}

// momentTime is more than it takes from one goroutine to another.
const momentTime = 200 * time.Millisecond

func (s *session) initialized(ctx context.Context, result json.RawMessage) *Error {
	h := parseHello(result)
	if !slices.Contains(revisions, h.Version) {
		return &Error{Code: CodeInvalidAnswer, Message: "it speaks the revision " + shown(h.Version) + " of the protocol, which is not known here"}
	}
	s.said, s.version = h, h.Version
	if err := s.conn.send(ctx, request(0, "notifications/initialized", nil), nil); err != nil {
		return asError(err)
	}
	s.conn.settled(h.Version)
	return nil
}

// capabilities are what our client can, as a revision writes it.
func capabilities(c Client, version string) []byte {
	var f fields
	if c.Elicitation {
		var kinds fields
		if version >= "2025-11-25" {
			kinds.raw("form", []byte("{}"))
		}
		f.raw("elicitation", kinds.end())
	}
	if c.Sampling {
		f.raw("sampling", []byte("{}"))
	}
	return f.end()
}

func (s *Server) clientInfo() []byte {
	var f fields
	f.string("name", "hukilau")
	f.string("version", s.options.Version)
	return f.end()
}

// meta is the _meta of a request: what the revision wants, with a token where progress is wanted. It is nil where there
// is nothing to say.
func (s *Server) meta(version string, client Client, token int64) []byte {
	var f fields
	if version >= stateless {
		f.string(metaVersion, version)
		f.raw(metaClient, s.clientInfo())
		f.raw(metaCapabilities, capabilities(client, version))
	}
	if token != 0 {
		f.raw("progressToken", strconv.AppendInt(nil, token, 10))
	}
	if f.text == nil {
		return nil
	}
	return f.end()
}
