package mcpserver

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Revisions of the protocol at which something changed here.
const (
	// stateless has no sessions: each request says what its client is and can, and a question to the user is an
	// answer to the request, which comes again with what the user said.
	stateless = "2026-07-28"
	// toolsRefuse makes arguments that a tool does not take an error of the tool, so that a model sees it.
	toolsRefuse = "2025-11-25"
)

// negotiating settles the revision of a session before the SDK sees the offer. The SDK would answer well, but go
// on as if the client spoke whatever it offered.
func negotiating(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if params, ok := req.GetParams().(*mcp.InitializeParams); ok && params != nil {
			params.ProtocolVersion = settled(params.ProtocolVersion)
		}
		return next(ctx, method, req)
	}
}

// settled is the revision that an offer leads to: the same where a session can speak it, else our latest.
func settled(offered string) string {
	known := mcp.SupportedProtocolVersions()
	if offered < stateless && slices.Contains(known, offered) {
		return offered
	}
	for _, version := range known { // newest first
		if version < stateless {
			return version
		}
	}
	return toolsRefuse
}
