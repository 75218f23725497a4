package mcpserver

//lint:file-ignore SA1019 Sampling and logging are deprecated from 2026-07-28 on, and go on to work; sessions have nothing else.

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// call is tools/call, for every tool.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, leave := s.requests.follow(ctx, header(req))
	defer leave()
	told := &sink{redact: s.options.Redact, tool: req.Params.Name}
	told.attach(ctx, req, req.Session)
	switch {
	case req.Params.RequestState != "":
		return s.resume(ctx, req)
	case req.ProtocolVersion() >= stateless && (canAsk(req) || canSample(req)):
		return s.converse(ctx, req, told)
	}
	return s.finish(req, s.inSession(ctx, req, told, req.Session))
}

// peer is the client of a session, to whom things are told and of whom they are asked while a call runs.
type peer interface {
	Elicit(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error)
	CreateMessageWithTools(context.Context, *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error)
	NotifyProgress(context.Context, *mcp.ProgressNotificationParams) error
	Log(context.Context, *mcp.LoggingMessageParams) error
}

// inSession runs a call whose client is asked, if it can be, by requests of ours.
func (s *Server) inSession(ctx context.Context, req *mcp.CallToolRequest, told *sink, client peer) outcome {
	var can abilities
	if canAsk(req) {
		can.ask = s.sessionAsk(ctx, client)
	}
	if canSample(req) {
		can.sample = s.sessionSample(ctx, client)
	}
	return s.guarded(ctx, req, told, can)
}

// abilities are what a client can do for a call. nil: it cannot.
type abilities struct {
	ask    asking
	sample sampling
}

func header(req *mcp.CallToolRequest) http.Header {
	if req.Extra == nil {
		return nil
	}
	return req.Extra.Header
}

// outcome is how a call ended.
type outcome struct {
	answer  *toolhost.Answer
	failed  *toolhost.Error
	unasked bool // the tool wanted to ask the user, and could not
}

// guarded is run on a goroutine where a panic would end the process.
func (s *Server) guarded(ctx context.Context, req *mcp.CallToolRequest, told *sink, can abilities) (o outcome) {
	defer func() {
		if cause := recover(); cause != nil {
			s.options.Logger.LogAttrs(ctx, slog.LevelError, "a call failed by a panic", slog.String("tool", req.Params.Name),
				slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
			o = outcome{failed: &toolhost.Error{Code: toolhost.ToolError, Detail: "panic", Message: "the server failed; its log has the story"}}
		}
	}()
	return s.run(ctx, req, told, can)
}

// run calls the tool. Where the client can ask its user, they are asked for the tool and for an approval.
func (s *Server) run(ctx context.Context, req *mcp.CallToolRequest, told *sink, can abilities) outcome {
	ask := can.ask
	request := toolhost.Request{
		Tool: req.Params.Name, Args: arguments(req), Caller: callerIn(ctx, req.Session), Sink: told, SameApproval: true,
	}
	told.sample = can.sample
	mute := &muteSink{sink: told}
	if request.Sink = mute; ask != nil {
		request.Sink = &askingSink{told, s, ask}
	}
	answer, failed := s.host.Call(ctx, request)
	if failed != nil && waitsItself(failed, request.Tool) && ask != nil && !s.options.OperatorApproves {
		answer, failed = s.askApproval(ctx, request, failed, ask)
	}
	return outcome{answer, failed, mute.wanted.Load()}
}

// arguments is their text, as it was sent.
func arguments(req *mcp.CallToolRequest) []byte {
	if string(req.Params.Arguments) == "null" { // some clients write it where there are none
		return nil
	}
	return req.Params.Arguments
}

func caller(ctx context.Context) toolhost.Caller {
	c := toolhost.CallerOf(ctx)
	c.Face = "mcp"
	return c
}

// callerIn is the same with the connection that it has.
func callerIn(ctx context.Context, session *mcp.ServerSession) toolhost.Caller {
	who := caller(ctx)
	if session != nil {
		who.Client = session.ID()
	}
	return who
}

// finish makes the answer to the request.
func (s *Server) finish(req *mcp.CallToolRequest, o outcome) (*mcp.CallToolResult, error) {
	switch {
	case o.failed == nil:
		if o.answer.MCP != nil {
			return asGiven(o.answer.MCP)
		}
		return result(o.answer.JSON, s.structured(req))
	case o.unasked && o.failed.Detail == notAvailable && req.ProtocolVersion() >= stateless:
		return nil, &jsonrpc.Error{
			Code: mcp.CodeMissingRequiredClientCapabilities, Message: s.options.Redact(o.failed.Message),
			Data: json.RawMessage(`{"requiredCapabilities":{"elicitation":{}}}`),
		}
	case o.failed.Code == toolhost.NotFound, o.failed.Code == toolhost.BadRequest && req.ProtocolVersion() < toolsRefuse:
		return nil, s.protocolError(o.failed)
	}
	return s.refusal(o.failed), nil
}

// structured says whether a result that is no object is told as it is, and not only as text: where the revision
// knows such results and the tool has a schema of them.
func (s *Server) structured(req *mcp.CallToolRequest) bool {
	if req.ProtocolVersion() < stateless {
		return false
	}
	tool, ok := s.host.Find(req.Params.Name)
	return ok && tool.Result != nil
}
