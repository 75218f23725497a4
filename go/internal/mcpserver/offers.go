package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Offers are resources and prompts that come from elsewhere. Entries and results are JSON as the protocol has it.
type Offers interface {
	// Resources, Templates and Prompts are the entries of the lists.
	Resources() []json.RawMessage
	Templates() []json.RawMessage
	Prompts() []json.RawMessage
	// ReadResource gives a ReadResourceResult; ErrNotOffered where there is no such resource.
	ReadResource(ctx context.Context, caller toolhost.Caller, uri string) (json.RawMessage, error)
	// GetPrompt gives a GetPromptResult; args is a JSON object.
	GetPrompt(ctx context.Context, caller toolhost.Caller, name string, args json.RawMessage) (json.RawMessage, error)
	// Complete gives a CompleteResult for the params of completion/complete.
	Complete(ctx context.Context, caller toolhost.Caller, params json.RawMessage) (json.RawMessage, error)
}

// ErrNotOffered says that there is no such resource.
var ErrNotOffered = errors.New("there is no such resource")

// maxOffered is how many entries of one kind are listed.
const maxOffered = 10_000

// offerAll makes the lists of resources and prompts what there is now. The lock is held.
func (s *Server) offerAll() {
	o := s.options.Offers
	if o == nil {
		return
	}
	s.offerKind("resource", o.Resources(), func(raw json.RawMessage) (string, func(), error) {
		r := &mcp.Resource{}
		err := json.Unmarshal(raw, r)
		return r.URI, func() { s.mcp.AddResource(r, s.readOffered) }, err
	}, func(gone []string) { s.mcp.RemoveResources(gone...) })
	s.offerKind("template", o.Templates(), func(raw json.RawMessage) (string, func(), error) {
		t := &mcp.ResourceTemplate{}
		err := json.Unmarshal(raw, t)
		return t.URITemplate, func() { s.mcp.AddResourceTemplate(t, s.readOffered) }, err
	}, func(gone []string) { s.mcp.RemoveResourceTemplates(gone...) })
	s.offerKind("prompt", o.Prompts(), func(raw json.RawMessage) (string, func(), error) {
		p := &mcp.Prompt{}
		err := json.Unmarshal(raw, p)
		return p.Name, func() { s.mcp.AddPrompt(p, s.getOffered) }, err
	}, func(gone []string) { s.mcp.RemovePrompts(gone...) })
}

// offerKind adds what is new or has changed of one kind, and takes away what is gone. What the SDK refuses is left
// out: entries are those of strangers.
func (s *Server) offerKind(kind string, entries []json.RawMessage, read func(json.RawMessage) (string, func(), error), remove func([]string)) {
	before := s.offered[kind]
	now := map[string]string{}
	for _, raw := range entries[:min(len(entries), maxOffered)] {
		name, add, err := read(raw)
		if err != nil || name == "" || now[name] != "" {
			continue
		}
		if before[name] != string(raw) {
			if err := unrefused(add); err != nil {
				s.options.Logger.Warn("what a server offers cannot be passed on", slog.String("kind", kind), slog.String("name", clipped(name)), slog.String("error", clipped(err.Error())))
				continue
			}
		}
		now[name] = string(raw)
	}
	var gone []string
	for name := range before {
		if now[name] == "" {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		remove(gone)
	}
	s.offered[kind] = now
}

// unrefused makes an error of the SDK's panic.
func unrefused(add func()) (err error) {
	defer func() {
		if refused := recover(); refused != nil {
			err = fmt.Errorf("%v", refused)
		}
	}()
	add()
	return nil
}

func (s *Server) readOffered(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text, err := s.options.Offers.ReadResource(ctx, callerIn(ctx, req.Session), req.Params.URI)
	if errors.Is(err, ErrNotOffered) {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, s.offerFailed(err)
	}
	result := &mcp.ReadResourceResult{}
	err = json.Unmarshal(text, result)
	for _, c := range result.Contents {
		if c != nil && c.Text == "" && c.Blob == nil {
			c.Blob = []byte{} // the SDK leaves out a text that is empty, and clients want one of the two
		}
	}
	return result, err
}

func (s *Server) getOffered(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	args, err := json.Marshal(req.Params.Arguments)
	if err != nil || req.Params.Arguments == nil {
		args = []byte("{}")
	}
	text, err := s.options.Offers.GetPrompt(ctx, callerIn(ctx, req.Session), req.Params.Name, args)
	if err != nil {
		return nil, s.offerFailed(err)
	}
	result := &mcp.GetPromptResult{}
	return result, json.Unmarshal(text, result)
}

func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	params, err := json.Marshal(req.Params)
	if err != nil {
		return nil, err
	}
	text, err := s.options.Offers.Complete(ctx, callerIn(ctx, req.Session), params)
	if err != nil {
		return nil, s.offerFailed(err)
	}
	result := &mcp.CompleteResult{}
	return result, json.Unmarshal(text, result)
}

// offerFailed is an error of whoever offers, for a client.
func (s *Server) offerFailed(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: s.options.Redact(clipped(err.Error()))}
}
