package mcpserver

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

// HTTP serves the protocol's streamable HTTP transport, all revisions at one address: requests of the stateless
// revision by themselves, the others in sessions. Who calls is what toolhost.WithCaller says in the request's
// context; a session belongs to who began it.
func (s *Server) HTTP() http.Handler {
	serve := func(*http.Request) *mcp.Server { return s.mcp }
	options := mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes:        int64(s.options.MaxMessage),
		DisableLocalhostProtection: s.options.HostChecked, PropagateRequestCancellation: true,
	}
	alone := options
	alone.Stateless = true
	return &endpoint{s, mcp.NewStreamableHTTPHandler(serve, &options), mcp.NewStreamableHTTPHandler(serve, &alone)}
}

type endpoint struct {
	*Server
	inSession, alone http.Handler
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := newReply(w, e.options.WriteTime, e.options.Silence)
	defer out.end()
	if r.Method == http.MethodPost {
		out.body = hear(r)
		r.Body = out.body
	}
	r.Header.Del(requestHeader)
	var body message
	if r.Method == http.MethodPost {
		taken, free, ok := e.take(out, r)
		if !ok {
			return
		}
		defer free()
		body = taken
	}
	if id := r.Header.Get(sessionHeader); id != "" {
		inner, ok := e.unseal(id, toolhost.CallerOf(r.Context()).Name)
		if !ok {
			http.Error(out, "session not found", http.StatusNotFound)
			return
		}
		r.Header.Set(sessionHeader, inner)
		in, done := e.sessions.use(inner)
		defer done()
		switch {
		case in == nil: // it has ended, or does so
			http.Error(out, "session not found", http.StatusNotFound)
			return
		case r.Method == http.MethodPost && e.answered(out, r, body, in):
			return
		case r.Method == http.MethodDelete && ofSessions(r.Header):
			in.end() // the SDK waits for what runs
		case in.ended.Err() != nil:
			http.Error(out, "session not found", http.StatusNotFound)
			return
		default:
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(in.ended, cancel)()
			r = r.WithContext(ctx)
		}
	}
	out.seal = func(id string) string { return e.seal(id, toolhost.CallerOf(r.Context()).Name) }
	handler, waits, ok := e.route(out, r, body)
	if !ok {
		return
	}
	if waits {
		ctx, end, ok := e.streams.begin(r.Context())
		if !ok {
			http.Error(out, "the server is shutting down", http.StatusServiceUnavailable)
			return
		}
		defer end()
		r = r.WithContext(ctx)
	}
	if r.Method == http.MethodPost {
		defer e.requests.begin(r, out)()
	}
	handler.ServeHTTP(out, r)
}

// route says whose request it is, and whether it waits for what happens. A request within a session says so by its
// header alone; into the others one has to look: initialize begins a session, whatever revision it names.
func (e *endpoint) route(w http.ResponseWriter, r *http.Request, body message) (handler http.Handler, waits, ok bool) {
	isNew := r.Header.Get(versionHeader) >= stateless
	if r.Method != http.MethodPost || !isNew && r.Header.Get(sessionHeader) != "" {
		return e.pick(isNew), r.Method == http.MethodGet, true
	}
	var method string
	_ = json.Unmarshal(body.members["method"], &method) // what is no message is refused by either
	inBody := bytes.Contains(body.text, []byte(mcp.MetaKeyProtocolVersion))
	switch {
	case method != "initialize":
		// What names the new revision in its body alone is told what is missing by the handler that knows it.
		return e.pick(isNew || inBody), method == "subscriptions/listen", true
	case isNew && inBody: // speaks the revision that has no initialize, and is told so
		return e.alone, false, true
	}
	r.Header.Del(versionHeader)
	if !e.makeRoom() {
		w.Header().Set("Retry-After", "60")
		http.Error(w, fmt.Sprintf("%d sessions are open; try again later", e.options.MaxSessions), http.StatusServiceUnavailable)
		return nil, false, false
	}
	return e.inSession, false, true
}

func (e *endpoint) pick(isNew bool) http.Handler {
	if isNew {
		return e.alone
	}
	return e.inSession
}

// take reads the body of a request, and puts it back for the SDK, which reads all of it as well. What it takes to
// read a large one is accounted for until free is called.
func (e *endpoint) take(out *reply, r *http.Request) (body message, free func(), ok bool) {
	text, err := io.ReadAll(http.MaxBytesReader(out, r.Body, int64(e.options.MaxMessage)))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		http.Error(out, fmt.Sprintf("the request has more than %d bytes", tooLong.Limit), http.StatusRequestEntityTooLarge)
		return body, nil, false
	case err != nil:
		http.Error(out, "the request could not be read", http.StatusBadRequest)
		return body, nil, false
	}
	body, wrong := oneMessage(text)
	if wrong != nil {
		out.refuseWith(http.StatusBadRequest, wire{Error: wrong})
		return body, nil, false
	}
	free, failed := e.options.Host.Room(jsonvalue.Weight(text))
	if failed != nil {
		out.Header().Set("Retry-After", "1")
		http.Error(out, failed.Message, http.StatusServiceUnavailable)
		return body, nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	return body, free, true
}

// oneMessage refuses what the SDK would take apart in another way than it was meant: several messages at once, of
// which it answers one, and ids that it writes as other numbers.
func oneMessage(body []byte) (m message, wrong *jsonrpc.Error) {
	m.text = bytes.TrimLeft(body, " \t\r\n")
	if len(m.text) > 0 && m.text[0] == '[' {
		_, _, wrong = messageOf(bytes.TrimSpace(m.text))
		return m, wrong
	}
	if len(m.text) > 0 && json.Unmarshal(m.text, &m.members) != nil {
		_, _, wrong = messageOf(bytes.TrimSpace(m.text)) // the SDK would take the beginning of it
		return m, wrong
	}
	if id := m.members["id"]; id != nil {
		m.id, wrong = idOf(id)
	}
	return m, wrong
}

// message is the body of a request.
type message struct {
	text    []byte
	id      jsonrpc.ID
	members map[string]json.RawMessage // a struct would take the keys in any case; nil: it is no object
}

// makeRoom says whether one more session may begin. It may end others: some that began at once are too many.
func (e *endpoint) makeRoom() bool {
	for {
		inTheWay, ok := e.sessions.room()
		if inTheWay == nil {
			return ok
		}
		inTheWay.close()
	}
}

// seal binds a session's id to who began it, so that nobody else can use it.
func (s *Server) seal(id, caller string) string {
	mac := hmac.New(sha256.New, s.sealing[:])
	mac.Write([]byte(id + "\x00" + caller))
	return id + "." + hex.EncodeToString(mac.Sum(nil)[:16])
}

func (s *Server) unseal(sealed, caller string) (id string, ok bool) {
	id, _, ok = strings.Cut(sealed, ".")
	return id, ok && hmac.Equal([]byte(sealed), []byte(s.seal(id, caller)))
}
