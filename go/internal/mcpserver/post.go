package mcpserver

//lint:file-ignore SA1019 Sampling and logging are deprecated from 2026-07-28 on, and go on to work; sessions have nothing else.

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// post is a call of a tool over HTTP that does not go through the SDK, for the reasons that direct has: what is told
// and asked while it runs goes to the client in the answer to its own request.
type post struct {
	server *Server
	in     *session
	out    *reply
}

// answered says whether a request within a session is answered here: a plain call of a listed tool, its cancellation,
// or an answer to a question that was asked within one. Whatever the transport refuses is left to the SDK.
func (e *endpoint) answered(out *reply, r *http.Request, m message, in *session) bool {
	body := m.members
	if string(body["jsonrpc"]) != `"2.0"` || !e.options.HostChecked || !plainPost(r.Header) {
		return false
	}
	began := in.sdk.InitializeParams()
	if began == nil || began.ProtocolVersion >= stateless {
		return false
	}
	id, isCall := body["id"]
	var method string
	switch text := body["method"]; {
	case text == nil && isCall:
		return in.hear(id, body["result"], body["error"]) && accepted(out)
	case json.Unmarshal(text, &method) != nil:
		return false
	case method == "notifications/cancelled" && !isCall:
		name, ok := cancelled(body["params"])
		return ok && in.cancelCall(name) && accepted(out)
	case method != "tools/call" || !isCall:
		return false
	}
	params := plainCall(body["params"])
	if params == nil || !e.lists(params.Name) {
		return false
	}
	p := &post{e.Server, in, out}
	p.call(r, m, params)
	return true
}

func accepted(out *reply) bool {
	out.WriteHeader(http.StatusAccepted)
	return true
}

// plainPost says whether the headers are those that clients of the transport send.
func plainPost(header http.Header) bool {
	if !ofSessions(header) {
		return false
	}
	if kind := header.Get("Content-Type"); kind != "application/json" {
		if kind, _, err := mime.ParseMediaType(kind); err != nil || kind != "application/json" {
			return false
		}
	}
	accept := header["Accept"]
	return len(accept) == 1 && len(header["Last-Event-Id"]) == 0 && accepts(accept[0], "application/json") && accepts(accept[0], eventStream)
}

// ofSessions says whether the headers name a revision that has sessions, or none.
func ofSessions(header http.Header) bool {
	version := header.Get(versionHeader)
	return version == "" || version < stateless && slices.Contains(mcp.SupportedProtocolVersions(), version)
}

// accepts says whether a kind is one of a list.
func accepts(list, kind string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if base, _, _ := strings.Cut(one, ";"); strings.TrimSpace(base) == kind {
			return true
		}
	}
	return false
}

// call runs the tool and answers.
func (p *post) call(r *http.Request, m message, params *mcp.CallToolParamsRaw) {
	id := m.members["id"]
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if err := p.in.begin(m.id, cancel); err == errTwice {
		p.out.refuseWith(http.StatusBadRequest, wire{ID: id, Error: err})
		return
	} else if err != nil {
		p.out.refuseWith(http.StatusNotFound, wire{ID: id, Error: err})
		return
	}
	defer p.in.done(m.id)
	header := p.out.Header()
	header["Content-Type"], header["Cache-Control"], header["Connection"] = eventHeader, cacheHeader, aliveHeader
	p.out.calling()
	text, err := p.server.answer(ctx, &mcp.CallToolRequest{Session: p.in.sdk, Params: params}, p)
	message := append(append(append(make([]byte, 0, len(text)+len(id)+64), eventStart...), `{"jsonrpc":"2.0","id":`...), id...)
	if err != nil {
		failed, _ := json.Marshal(mended(err))
		message = append(append(message, `,"error":`...), failed...)
	} else {
		message = append(append(message, `,"result":`...), text...)
	}
	_, _ = p.out.Write(append(message, "}\n\n"...)) // a client that is gone needs no answer
}

// These are shared by all answers.
var (
	eventHeader = []string{eventStream}
	cacheHeader = []string{"no-cache, no-transform"}
	aliveHeader = []string{"keep-alive"}
)

// tell sends a message before the answer.
func (p *post) tell(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if _, err := p.out.Write(slices.Concat(eventStart, text, []byte("\n\n"))); err != nil {
		return err
	}
	return p.out.FlushError()
}

// told is a notification or a request of ours.
type told struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// NotifyProgress implements peer.
func (p *post) NotifyProgress(_ context.Context, params *mcp.ProgressNotificationParams) error {
	return p.tell(told{Version: "2.0", Method: "notifications/progress", Params: params})
}

// Log implements peer.
func (p *post) Log(_ context.Context, params *mcp.LoggingMessageParams) error {
	if !p.in.wants(params.Level) {
		return nil
	}
	return p.tell(told{Version: "2.0", Method: "notifications/message", Params: params})
}

// Elicit implements peer.
func (p *post) Elicit(ctx context.Context, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	answer := &mcp.ElicitResult{}
	return answer, p.ask(ctx, "elicitation/create", params, answer)
}

// CreateMessageWithTools implements peer.
func (p *post) CreateMessageWithTools(ctx context.Context, params *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
	answer := &mcp.CreateMessageWithToolsResult{}
	return answer, p.ask(ctx, "sampling/createMessage", params, answer)
}

// ask sends a request to the client, and waits for its answer.
func (p *post) ask(ctx context.Context, method string, params, result any) error {
	id, answers := p.in.question()
	defer p.in.asked(id)
	if err := p.tell(told{Version: "2.0", ID: id, Method: method, Params: params}); err != nil {
		return err
	}
	select {
	case a := <-answers:
		if a.failed != nil {
			return a.failed
		}
		if err := json.Unmarshal(a.result, result); err != nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the answer is not one to " + method + ": " + err.Error()}
		}
		return nil
	case <-ctx.Done():
		_ = p.tell(told{Version: "2.0", Method: "notifications/cancelled", Params: map[string]any{"requestId": id, "reason": context.Cause(ctx).Error()}})
		return context.Cause(ctx)
	}
}

// clientAnswer is what a client says to a question.
type clientAnswer struct {
	result json.RawMessage
	failed *jsonrpc.Error
}

// question begins a question, under an id that the SDK gives to none of its own.
func (s *session) question() (id string, answers <-chan clientAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastAsked++
	id = "question-" + strconv.Itoa(s.lastAsked)
	given := make(chan clientAnswer, 1)
	s.questions[id] = given
	return id, given
}

// asked ends a question.
func (s *session) asked(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.questions, id)
}

// hear takes an answer of the client, if it is one to a question here.
func (s *session) hear(id, result, failed json.RawMessage) bool {
	var name string
	if json.Unmarshal(id, &name) != nil {
		return false
	}
	answer := clientAnswer{result: result}
	if failed != nil && json.Unmarshal(failed, &answer.failed) != nil {
		answer.failed = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client answered with an error that is none"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := s.questions[name]
	if waits == nil || result == nil && answer.failed == nil {
		return false
	}
	delete(s.questions, name)
	waits <- answer
	return true
}

var errEnded = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "session not found"}

// begin notes a call that runs, if none of this id does already and the session has not ended.
func (s *session) begin(id jsonrpc.ID, cancel context.CancelFunc) *jsonrpc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended.Err() != nil:
		return errEnded
	case s.calls[id] != nil:
		return errTwice
	}
	s.calls[id] = cancel
	return nil
}

// done takes a call out.
func (s *session) done(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
}

// cancelCall ends a call, if it runs here.
func (s *session) cancelCall(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel := s.calls[id]
	if cancel == nil {
		return false
	}
	cancel()
	return true
}

// end ends all that runs here, for good.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	for _, cancel := range s.calls {
		cancel()
	}
}
