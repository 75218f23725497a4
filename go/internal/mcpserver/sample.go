package mcpserver

//lint:file-ignore SA1019 Sampling is deprecated from 2026-07-28 on, and goes on to work; servers of before have nothing else.

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sampling asks the client's model, and waits for what it says.
type sampling func(context.Context, *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error)

// canSample says whether the client lets servers use its model: as its request says, or else its session.
func canSample(req *mcp.CallToolRequest) bool {
	if said, ok := req.Params.GetMeta()[mcp.MetaKeyClientCapabilities].(map[string]any); ok {
		return said["sampling"] != nil
	}
	began := req.Session.InitializeParams()
	return began != nil && began.Capabilities != nil && began.Capabilities.Sampling != nil
}

// sessionSample asks by a request to the client, within the answer to its own.
func (s *Server) sessionSample(request context.Context, client peer) sampling {
	return func(ctx context.Context, params *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
		// What is sent to the client finds its way by the request's context.
		to, cancel := context.WithTimeoutCause(request, s.options.AskTime, errNoAnswer)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		answer, err := client.CreateMessageWithTools(to, params)
		if err != nil && context.Cause(to) == errNoAnswer {
			return nil, errNoAnswer
		}
		return answer, err
	}
}

// Samples says whether the client's model can be asked.
func (s *sink) Samples() bool { return s.sample != nil }

// Sample asks the client's model: params and result are those of sampling/createMessage.
func (s *sink) Sample(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	if s.sample == nil {
		return nil, errors.New("this client has no model for servers")
	}
	asked := &mcp.CreateMessageWithToolsParams{}
	if err := json.Unmarshal(params, asked); err != nil {
		return nil, err
	}
	answer, err := s.sample(ctx, asked)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// sample is ask for the client's model.
func (c *conversation) sample(ctx context.Context, params *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
	return askOf[*mcp.CreateMessageWithToolsResult](ctx, c, params)
}
