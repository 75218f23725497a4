package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// proxyFace are the tools of the other face.
func (g *Gateway) proxyFace() []face {
	const toolParams = `"luaServerName":{"type":"string","description":"As list-servers gives it"},"luaToolName":{"type":"string","description":"As list-server-tools gives it"}`
	return []face{
		{
			name: "execute", run: g.executeProxy,
			description: `Run a Luau script that calls tools of servers: local sum = calculator.add({ a = 1, b = 2 }):await() result(sum). Calls begin at once, so those that are awaited later run in parallel. End with result(value).`,
			params:      `{"type":"object","properties":{"script":{"type":"string"}},"required":["script"],"additionalProperties":false}`,
		},
		{
			name: "list-servers", readOnly: true, run: g.listServers,
			description: "List the servers that scripts can call, with the names that they have there.",
			params:      `{"type":"object","properties":{},"additionalProperties":false}`,
		},
		{
			name: "list-server-tools", readOnly: true, run: g.listServerTools,
			description: "List the tools of one server.",
			params:      `{"type":"object","properties":{"luaServerName":{"type":"string"}},"required":["luaServerName"],"additionalProperties":false}`,
		},
		{
			name: "tool-details", readOnly: true, run: g.toolDetails,
			description: "Signature, description and schemas of one tool.",
			params:      `{"type":"object","properties":{` + toolParams + `},"required":["luaServerName","luaToolName"],"additionalProperties":false}`,
		},
		{
			name: "inspect-tool-response", run: g.inspectTool,
			description: "Call a tool once with sample arguments to see the shape of what it gives. It really runs.",
			params:      `{"type":"object","properties":{` + toolParams + `,"sampleArgs":{"type":"object"}},"required":["luaServerName","luaToolName"],"additionalProperties":false}`,
		},
	}
}

// executeProxy gives what a script said by result as a result of the protocol.
func (g *Gateway) executeProxy(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	t, err := g.execute(ctx, textArg(args, "script"), 0, true)
	if err != nil {
		return tooldef.Output{}, err
	}
	content, err := processed(t.Result)
	return tooldef.Output{JSON: t.Result, MCP: content}, err
}

// processed makes a CallToolResult of a value: one stays what it is; an object is structured content, too; anything
// else is text.
func processed(value json.RawMessage) ([]byte, error) {
	if isToolResult(value) {
		return value, nil
	}
	text := string(value)
	if len(value) > 0 && value[0] == '"' {
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, err
		}
	}
	result := map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	if len(value) > 0 && value[0] == '{' {
		result["structuredContent"] = value
	}
	return marshal(result)
}

// isToolResult says whether a value is a CallToolResult: an object whose content is a list of items with types.
func isToolResult(value json.RawMessage) bool {
	if !bytes.HasPrefix(value, []byte("{")) {
		return false
	}
	var result struct {
		Content []struct {
			Type string `json:"type"`
		} `json:"content"`
	}
	if json.Unmarshal(value, &result) != nil || len(result.Content) == 0 {
		return false
	}
	for _, item := range result.Content {
		if item.Type == "" {
			return false
		}
	}
	return true
}

type serverEntry struct {
	Name        string `json:"name"`
	LuaName     string `json:"luaServerName"`
	Description string `json:"description,omitempty"`
	Tools       int    `json:"tools"`
	Status      string `json:"status"`
}

func (g *Gateway) listServers(ctx context.Context, _ map[string]any) (tooldef.Output, error) {
	g.awaitSources(ctx, "")
	list := []serverEntry{}
	c := g.Catalog()
	for _, u := range g.options.Upstreams {
		entry := serverEntry{Name: u.Name(), LuaName: c.Ident(expectedOf(u)), Status: g.shownStatus(u.Status())}
		if s := u.Source(); s != nil {
			entry.Description, entry.Tools = summary(s), len(s.Functions)
		}
		list = append(list, entry)
	}
	return jsonOutput(map[string]any{"servers": list})
}

type toolEntry struct {
	LuaName     string `json:"luaToolName"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

func (g *Gateway) listServerTools(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	g.awaitSources(ctx, textArg(args, "luaServerName"))
	v := g.view()
	scope := v.catalog.Source(textArg(args, "luaServerName"))
	if scope == nil {
		return tooldef.Output{}, notFound(v.catalog.Unknown(textArg(args, "luaServerName")))
	}
	list := []toolEntry{}
	for _, c := range scope.Callables {
		if !g.hidden(c) {
			list = append(list, toolEntry{c.Ident, c.Name, firstLine(c.Description, maxSummary)})
		}
	}
	return jsonOutput(map[string]any{"tools": list})
}

// proxied finds the tool that two arguments name.
func (g *Gateway) proxied(ctx context.Context, args map[string]any) (*catalog.Callable, error) {
	g.awaitSources(ctx, textArg(args, "luaServerName"))
	known := g.view().catalog
	scope := known.Source(textArg(args, "luaServerName"))
	if scope == nil {
		return nil, notFound(known.Unknown(textArg(args, "luaServerName")))
	}
	c := scope.Function(textArg(args, "luaToolName"))
	if c == nil {
		return nil, notFound(scope.Unknown(textArg(args, "luaToolName")))
	}
	return c, nil
}

func (g *Gateway) toolDetails(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	c, err := g.proxied(ctx, args)
	if err != nil {
		return tooldef.Output{}, err
	}
	details := map[string]any{
		"luaServerName": c.Scope.Ident, "luaToolName": c.Ident, "name": c.Name, "description": c.Description,
		"usage": usage(c), "types": luautype.Docs(g.withSample(c)), "inputSchema": orEmpty(c.Params),
	}
	if c.Result != nil {
		details["outputSchema"] = c.Result
	}
	if len(c.Defs) > 0 {
		details["$defs"] = reachable([]any{c.Params, c.Result}, c.Defs)
	}
	return jsonOutput(details)
}

func orEmpty(schema map[string]any) map[string]any {
	if schema == nil {
		return map[string]any{"type": "object"}
	}
	return schema
}

// usage is how a script of this face calls a tool.
func usage(c *catalog.Callable) string {
	if c.Scope.Global && c.Scope.Kind == catalog.MCP {
		return fmt.Sprintf("%s.%s({ ... }):await()", c.Scope.Ident, c.Ident)
	}
	return InnerName(c) + "({ ... })"
}

// inspectTool calls a tool to see what it gives.
func (g *Gateway) inspectTool(ctx context.Context, args map[string]any) (tooldef.Output, error) {
	c, err := g.proxied(ctx, args)
	if err != nil {
		return tooldef.Output{}, err
	}
	if g.options.NoSamples {
		return tooldef.Output{}, &toolhost.Error{Code: toolhost.Permission, Detail: "policy", Message: "the operator does not allow sample calls ([gateway] samples)"}
	}
	sample, _ := args["sampleArgs"].(map[string]any)
	if sample == nil {
		sample = map[string]any{}
	}
	text, err := Arguments(c, sample)
	if err != nil {
		return tooldef.Output{}, err
	}
	calling, _ := toolhost.CallingOf(ctx)
	answer, failed := calling.Call(ctx, InnerName(c), text, toolhost.InnerFace)
	if failed != nil && failed.Code == toolhost.BadRequest { // it is about sampleArgs, not about our own arguments
		return tooldef.Output{}, &toolhost.Error{
			Code: toolhost.ToolError, Detail: "invalid_params", Message: (&raised{failed, c, text}).Error() + " (in sampleArgs)",
		}
	}
	if failed != nil {
		return tooldef.Output{}, failed
	}
	result, err := resultOf(c, answer)
	if err != nil {
		return tooldef.Output{}, err
	}
	return g.inspected(c, result)
}

// inspected tells the shape of a sample, and the sample itself where it is not long.
func (g *Gateway) inspected(c *catalog.Callable, result *Result) (tooldef.Output, error) {
	kind, text, err := result.as(sdkmod.Parsed, authorityOf(c.Scope))
	if err != nil {
		return tooldef.Output{}, err
	}
	about := map[string]any{"type": "string"}
	switch kind {
	case sdkmod.Absent:
		about["type"] = "nil"
	case sdkmod.JSON:
		tree, err := jsonvalue.Decode([]byte(text), jsonvalue.Options{})
		if err != nil {
			return tooldef.Output{}, err
		}
		g.samples.note(c, tree)
		about["type"] = luautype.Shape(tree)
	}
	if len(text) <= g.options.MaxResult/10 {
		about["sample"] = strings.ToValidUTF8(text, "\uFFFD")
	}
	return jsonOutput(about)
}
