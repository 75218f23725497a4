package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Bounds of connections that clients have for themselves.
const (
	maxConnections = 64               // to one server
	connectionTime = 30 * time.Minute // without a call
	sweepTime      = 5 * time.Minute
)

// MCPSource is an MCP server. Clients have connections of their own where it does not say that they need none: what
// one does in its session is not seen by another. The first client gets the connection that was there already.
type MCPSource struct {
	server      *upstream.Server
	description string
	now         func() time.Time

	mu       sync.Mutex
	first    string // the client that has server; "" is none yet
	taken    bool   // there was such a client
	own      map[string]*connection
	closed   bool
	ending   sync.WaitGroup // connections that are being closed
	sweeping *time.Timer    // closes those that nobody uses; nil while there are none
	snapshot *upstream.Snapshot
	source   *catalog.Source // of snapshot
}

type connection struct {
	server *upstream.Server
	last   time.Time
	calls  int // under way
}

// NewMCPSource is a server as a source. The description is the operator's; "" is none. Close ends the server.
func NewMCPSource(server *upstream.Server, description string) *MCPSource {
	return &MCPSource{server: server, description: description, now: time.Now, own: map[string]*connection{}}
}

// Name implements Upstream.
func (m *MCPSource) Name() string { return m.server.Name() }

// Kind implements Upstream.
func (m *MCPSource) Kind() catalog.Kind { return catalog.MCP }

// Server is the connection that tells what the server offers.
func (m *MCPSource) Server() *upstream.Server { return m.server }

// Source implements Upstream.
func (m *MCPSource) Source() *catalog.Source {
	snapshot := m.server.Snapshot()
	if snapshot == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.snapshot != snapshot {
		m.snapshot, m.source = snapshot, snapshot.Source(m.Name(), m.description)
	}
	return m.source
}

// Status implements Upstream.
func (m *MCPSource) Status() Status {
	s := m.server.Status()
	return Status{State: State(s.State), Reason: s.Reason, Notes: s.Stderr}
}

// Ready implements Upstream.
func (m *MCPSource) Ready(ctx context.Context) error { return m.server.Ready(ctx) }

// Call implements Upstream.
func (m *MCPSource) Call(ctx context.Context, c *Call) (*Result, error) {
	server, leave, err := m.connection(c.Client)
	if err != nil {
		return nil, err
	}
	defer leave()
	result, err := server.Call(ctx, c.Function.Name, c.Params, options(ctx, c))
	if err != nil {
		return nil, failed(ctx, err)
	}
	return &Result{Tool: result.Raw}, nil
}

// options pass on what a server asks and tells during a call.
func options(ctx context.Context, c *Call) upstream.CallOptions {
	o := upstream.CallOptions{Repeatable: c.Function.Hints.Repeatable()}
	sink := c.Calling.Sink()
	if sink == nil {
		return o
	}
	o.Progress = func(params json.RawMessage) {
		var told struct {
			Progress, Total float64
			Message         string
		}
		if json.Unmarshal(params, &told) == nil {
			_ = c.Calling.Progress(ctx, told.Progress, told.Total, told.Message) // who does not listen misses it
		}
	}
	if _, ok := sink.(toolhost.Elicitor); ok {
		o.Elicit = func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
			return elicited(ctx, c, params)
		}
	}
	if samples, ok := sink.(Sampler); ok && samples.Samples() {
		o.Sample = samples.Sample
	}
	return o
}

// Sampler is a Sink whose client has a model that it lets servers use.
type Sampler interface {
	Samples() bool
	// Sample answers sampling/createMessage; params and result are those of the protocol.
	Sample(ctx context.Context, params json.RawMessage) (json.RawMessage, error)
}

// elicited asks the user of our client what a server wants to know; who asks is said.
func elicited(ctx context.Context, c *Call, params json.RawMessage) (json.RawMessage, error) {
	var question struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &question); err != nil {
		return nil, err
	}
	if question.Mode == "url" || len(question.Schema) == 0 {
		return nil, errors.New("this client can show forms only")
	}
	return c.Calling.Elicit(ctx, c.Function.Scope.Name+" asks: "+question.Message, question.Schema)
}

// failed is an error of the connection as scripts see it. The end of the call's own time stays what it is.
func failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var e *upstream.Error
	if !errors.As(err, &e) {
		return err
	}
	f := &Failure{Code: e.Code, Message: e.Message, Status: e.Status, Retryable: e.Retryable, Cause: err}
	if e.Number == 0 { // we say it, not the server
		f.Message = e.Error()
	}
	if len(e.Data) > 0 {
		f.Content, _ = jsonvalue.Decode(e.Data, jsonvalue.Options{})
	}
	return f
}

// connection gives that of a client.
func (m *MCPSource) connection(client string) (*upstream.Server, func(), error) {
	none := func() {}
	if m.server.Config().Stateless {
		return m.server, none, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.taken {
		m.first, m.taken = client, true
	}
	if m.first == client {
		return m.server, none, nil
	}
	if m.closed {
		return nil, nil, &Failure{Code: upstream.CodeClosed, Message: "the gateway is closed"}
	}
	found := m.own[client]
	if found == nil {
		if err := m.makeRoom(); err != nil {
			return nil, nil, err
		}
		found = &connection{server: m.server.Another(upstream.Options{})}
		m.own[client] = found
		if m.sweeping == nil {
			m.sweeping = time.AfterFunc(sweepTime, m.sweep)
		}
	}
	found.calls++
	return found.server, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		found.calls--
		found.last = m.now()
	}, nil
}

// sweep closes connections that were not used for long.
func (m *MCPSource) sweep() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for client, c := range m.own {
		if c.calls == 0 && m.now().Sub(c.last) > connectionTime {
			m.drop(client)
		}
	}
	m.sweeping = nil
	if len(m.own) > 0 && !m.closed {
		m.sweeping = time.AfterFunc(sweepTime, m.sweep)
	}
}

// makeRoom closes connections that nobody uses, and the one that was not used for the longest time where there are
// too many.
func (m *MCPSource) makeRoom() error {
	oldest := ""
	for client, c := range m.own {
		switch {
		case c.calls > 0:
		case m.now().Sub(c.last) > connectionTime:
			m.drop(client)
		case oldest == "" || c.last.Before(m.own[oldest].last):
			oldest = client
		}
	}
	if len(m.own) < maxConnections {
		return nil
	}
	if oldest == "" {
		return &Failure{Code: "busy", Retryable: true, Message: "the server " + m.Name() + " has too many connections now; try again later"}
	}
	m.drop(oldest)
	return nil
}

// drop closes the connection of a client, without waiting for it.
func (m *MCPSource) drop(client string) {
	m.ending.Go(m.own[client].server.Close)
	delete(m.own, client)
}

// Forget implements Upstream. A client that comes back begins anew.
func (m *MCPSource) Forget(client string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own[client] != nil {
		m.drop(client)
	}
}

// Close implements Upstream.
func (m *MCPSource) Close() {
	m.mu.Lock()
	m.closed = true
	if m.sweeping != nil {
		m.sweeping.Stop()
	}
	for client := range m.own {
		m.drop(client)
	}
	m.mu.Unlock()
	m.server.Close()
	m.ending.Wait()
}
