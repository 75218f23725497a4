package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Offers are the gateway's own resources, about its sources, and those of MCP servers under names of their own.
type Offers struct {
	gateway                func() *Gateway
	noResources, noPrompts bool
}

var _ mcpserver.Offers = (*Offers)(nil)

// NewOffers makes the resources and prompts of the gateway that there is. Those of servers are left out where it is
// said so.
func NewOffers(g func() *Gateway, noResources, noPrompts bool) *Offers {
	return &Offers{g, noResources, noPrompts}
}

// sdkScheme is that of the gateway's own resources.
const sdkScheme = "sdk://"

// Resources implements mcpserver.Offers.
func (o *Offers) Resources() []json.RawMessage {
	var list []json.RawMessage
	for _, s := range o.gateway().Catalog().Sources() {
		for _, part := range []struct{ name, about string }{
			{"overview", "What %s is"}, {"functions", "The functions of %s with their signatures"}, {"schemas", "The types of %s"},
		} {
			list = append(list, entry(map[string]any{
				"uri": sdkScheme + s.Ident + "/" + part.name, "name": s.Ident + " " + part.name,
				"description": fmt.Sprintf(part.about, s.Ident), "mimeType": "text/plain",
			}))
		}
	}
	if o.noResources {
		return list
	}
	o.each(func(m *MCPSource, s *upstream.Snapshot) {
		for _, item := range s.Resources {
			list = append(list, changed(item.Raw, "uri", func(uri string) string { return namespacedURI(o.authority(m), uri) }))
		}
	})
	return list
}

// Templates implements mcpserver.Offers.
func (o *Offers) Templates() []json.RawMessage {
	list := []json.RawMessage{entry(map[string]any{
		"uriTemplate": sdkScheme + "{source}/schemas/{name}", "name": "schema", "description": "One type of a source", "mimeType": "text/plain",
	})}
	if o.noResources {
		return list
	}
	o.each(func(m *MCPSource, s *upstream.Snapshot) {
		for _, item := range s.Templates {
			list = append(list, changed(item.Raw, "uriTemplate", func(uri string) string { return namespacedURI(o.authority(m), uri) }))
		}
	})
	// What links in results lead to need not be in any list.
	return append(list, entry(map[string]any{
		"uriTemplate": mcpScheme + "{server}/{+uri}", "name": "upstream resource", "description": "A resource of an MCP server, by the server's name and its URI there",
	}))
}

// Prompts implements mcpserver.Offers.
func (o *Offers) Prompts() []json.RawMessage {
	var list []json.RawMessage
	if o.noPrompts {
		return list
	}
	o.each(func(m *MCPSource, s *upstream.Snapshot) {
		for _, item := range s.Prompts {
			list = append(list, changed(item.Raw, "name", func(name string) string { return m.Name() + "." + name }))
		}
	})
	return list
}

func entry(fields map[string]any) json.RawMessage {
	text, _ := jsonvalue.Encode(fields)
	return text
}

// changed is an entry of a list with another value of one field.
func changed(raw json.RawMessage, field string, change func(string) string) json.RawMessage {
	tree, err := jsonvalue.Decode(raw, jsonvalue.Options{})
	object, ok := tree.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	text, _ := object[field].(string)
	object[field] = change(text)
	return entry(object)
}

// each goes through the servers that are known.
func (o *Offers) each(do func(m *MCPSource, s *upstream.Snapshot)) {
	for _, u := range o.gateway().options.Upstreams {
		if m, ok := u.(*MCPSource); ok {
			if s := m.server.Snapshot(); s != nil {
				do(m, s)
			}
		}
	}
}

// authority names a server in URIs.
func (o *Offers) authority(m *MCPSource) string {
	return authority(m.Name(), o.gateway().Catalog().Ident(expectedOf(m)))
}

// server finds the one that a namespaced name is of, a URI where a slash is between: names of servers may be beginnings
// of each other.
func (o *Offers) server(name, between string) (found *MCPSource, rest string) {
	longest := 0
	for _, u := range o.gateway().options.Upstreams {
		m, ok := u.(*MCPSource)
		if !ok {
			continue
		}
		own := m.Name()
		if between == "/" {
			own = o.authority(m)
		}
		if inner, ok := strings.CutPrefix(name, own+between); ok && len(own) >= longest {
			found, rest, longest = m, inner, len(own)
		}
	}
	return found, rest
}

// ReadResource implements mcpserver.Offers.
func (o *Offers) ReadResource(ctx context.Context, caller toolhost.Caller, uri string) (json.RawMessage, error) {
	o.gateway().awaitSources(ctx, uri)
	if own, ok := strings.CutPrefix(uri, sdkScheme); ok {
		text, found := o.own(own)
		if !found {
			return nil, mcpserver.ErrNotOffered
		}
		return entry(map[string]any{"contents": []any{map[string]any{"uri": uri, "mimeType": "text/plain", "text": text}}}), nil
	}
	name, ok := strings.CutPrefix(uri, mcpScheme)
	if !ok || o.noResources {
		return nil, mcpserver.ErrNotOffered
	}
	m, inner := o.server(name, "/")
	if m == nil {
		return nil, mcpserver.ErrNotOffered
	}
	server, leave, err := m.connection(clientOf(caller))
	if err != nil {
		return nil, err
	}
	defer leave()
	raw, err := server.ReadResource(ctx, inner, upstream.CallOptions{})
	var refused *upstream.Error
	if errors.As(err, &refused) && refused.Code == upstream.CodeNotFound {
		return nil, mcpserver.ErrNotOffered
	}
	if err != nil {
		return nil, err
	}
	return renamedContents(raw, o.authority(m)), nil
}

// renamedContents are those of a resource with the names that our clients know.
func renamedContents(raw json.RawMessage, server string) json.RawMessage {
	tree, err := jsonvalue.Decode(raw, jsonvalue.Options{})
	result, ok := tree.(map[string]any)
	if err != nil || !ok {
		return raw
	}
	contents, _ := result["contents"].([]any)
	for _, item := range contents {
		if content, ok := item.(map[string]any); ok {
			rename(content, server)
		}
	}
	return entry(result)
}

// own is the text of a resource of the gateway's.
func (o *Offers) own(path string) (string, bool) {
	c := o.gateway().Catalog()
	name, part, _ := strings.Cut(path, "/")
	s := c.Source(name)
	if s == nil {
		return "", false
	}
	switch part {
	case "overview":
		return overview(s), true
	case "functions":
		var lines []string
		for _, f := range s.Callables {
			lines = append(lines, luautype.Signature(f))
		}
		return strings.Join(lines, "\n"), true
	case "schemas":
		if names := slices.Sorted(maps.Keys(typesOf(s))); len(names) > 0 {
			return strings.Join(names, "\n"), true
		}
		return s.Ident + " has no named types", true
	}
	if schema, ok := strings.CutPrefix(part, "schemas/"); ok {
		text, found := typesOf(s)[schema]
		return text, found
	}
	return "", false
}

func overview(s *catalog.Scope) string {
	lines := []string{s.Ident + " (" + string(s.Kind) + ")"}
	if s.Name != s.Ident {
		lines = append(lines, "configured as "+s.Name)
	}
	for _, text := range []string{s.Title, s.Description, s.Instructions} {
		if text != "" {
			lines = append(lines, text)
		}
	}
	if s.Version != "" {
		lines = append(lines, "version "+s.Version)
	}
	lines = append(lines, counted(len(s.Callables), "function"))
	for _, tag := range slices.Sorted(maps.Keys(s.Tags)) {
		lines = append(lines, strings.TrimSpace("tag "+tag+": "+s.Tags[tag]))
	}
	return strings.Join(lines, "\n")
}

// typesOf are the definitions of a source, by name, as JSON Schema.
func typesOf(s *catalog.Scope) map[string]string {
	return s.Memo("types", func() any {
		types := map[string]string{}
		add := func(defs map[string]any) {
			for name, schema := range defs {
				if types[name] == "" {
					text, _ := jsonvalue.Indent(schema)
					types[name] = string(text)
				}
			}
		}
		add(s.Defs)
		for _, f := range s.Callables {
			if s.Kind == catalog.MCP {
				add(f.Defs)
			}
		}
		return types
	}).(map[string]string)
}

// GetPrompt implements mcpserver.Offers.
func (o *Offers) GetPrompt(ctx context.Context, caller toolhost.Caller, name string, args json.RawMessage) (json.RawMessage, error) {
	m, inner := o.server(name, ".")
	if m == nil || o.noPrompts {
		return nil, fmt.Errorf("there is no prompt %q", name)
	}
	server, leave, err := m.connection(clientOf(caller))
	if err != nil {
		return nil, err
	}
	defer leave()
	return server.GetPrompt(ctx, inner, args, upstream.CallOptions{})
}

// Complete implements mcpserver.Offers.
func (o *Offers) Complete(ctx context.Context, caller toolhost.Caller, params json.RawMessage) (json.RawMessage, error) {
	tree, err := jsonvalue.Decode(params, jsonvalue.Options{})
	if err != nil {
		return nil, err
	}
	object, _ := tree.(map[string]any)
	ref, _ := object["ref"].(map[string]any)
	field, between, name := "name", ".", ""
	if ref["type"] == "ref/resource" {
		field, between = "uri", "/"
		uri, _ := ref["uri"].(string)
		ref["uri"] = strings.TrimPrefix(uri, mcpScheme)
	}
	name, _ = ref[field].(string)
	m, inner := o.server(name, between)
	if m == nil || o.noPrompts && between == "." || o.noResources && between == "/" {
		return noCompletion, nil
	}
	ref[field] = inner
	asked, err := jsonvalue.Encode(object)
	if err != nil {
		return nil, err
	}
	server, leave, err := m.connection(clientOf(caller))
	if err != nil {
		return nil, err
	}
	defer leave()
	completed, err := server.Complete(ctx, asked, upstream.CallOptions{})
	var refused *upstream.Error
	if errors.As(err, &refused) && refused.Number == methodNotFound {
		return noCompletion, nil
	}
	return completed, err
}

const methodNotFound = -32601 // of JSON-RPC

// noCompletion is of a server that completes nothing.
var noCompletion = json.RawMessage(`{"completion":{"values":[]}}`)
