package gateway_test

import (
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
	"github.com/hukilau/hukilau/go/internal/mcpserver"
)

// Resources and prompts of servers are ours under names of their own, and what they give is what the servers gave.
func TestOffersOfServers(t *testing.T) {
	s := newSite(t, oneTool)
	s.prompts = `[{"name":"greet","arguments":[{"name":"who","required":true}]}]`
	m := s.source(t, "my.site", upstream.Config{}, upstream.Options{})
	f := newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{m}}, pets(t))
	client := connected(t, served(t, f), nil)

	resources, err := client.ListResources(t.Context(), nil)
	require.NoError(t, err)
	uris := []string{}
	for _, r := range resources.Resources {
		uris = append(uris, r.URI)
	}
	require.ElementsMatch(t, []string{
		"sdk://my_site/overview", "sdk://my_site/functions", "sdk://my_site/schemas",
		"sdk://pets/overview", "sdk://pets/functions", "sdk://pets/schemas", "mcp://my.site/file:///a b.txt",
	}, uris)
	read := func(uri string) *mcp.ResourceContents {
		t.Helper()
		r, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		require.NoError(t, err, uri)
		require.Len(t, r.Contents, 1)
		require.Equal(t, uri, r.Contents[0].URI)
		return r.Contents[0]
	}
	require.Contains(t, read("sdk://pets/overview").Text, "A shop")
	require.Contains(t, read("sdk://pets/functions").Text, "sdk.pets.create_pet(body: NewPet)")
	require.Equal(t, "NewPet\nTag", read("sdk://pets/schemas").Text)
	require.Contains(t, read("sdk://pets/schemas/Tag").Text, `"required"`)
	require.Contains(t, read("sdk://my_site/functions").Text, "sdk.my_site.one")
	require.Equal(t, "of session-1", read("mcp://my.site/file:///a b.txt").Text)
	require.Equal(t, "of session-1", read("mcp://my.site/file:///whatever?x=1#y").Text, "what no list has can be read, too")
	for _, none := range []string{"sdk://pets/none", "sdk://none/overview", "sdk://pets/schemas/None", "mcp://none/file:///a", "mcp://", "sdk://", "mcp://my.site", "file:///etc/passwd"} {
		_, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: none})
		require.Error(t, err, none)
		require.NotContains(t, err.Error(), "internal", none)
	}

	templates, err := client.ListResourceTemplates(t.Context(), nil)
	require.NoError(t, err)
	patterns := []string{}
	for _, r := range templates.ResourceTemplates {
		patterns = append(patterns, r.URITemplate)
	}
	require.ElementsMatch(t, []string{"sdk://{source}/schemas/{name}", "mcp://my.site/file:///{path}", "mcp://{server}/{+uri}"}, patterns)

	prompts, err := client.ListPrompts(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "my.site.greet", prompts.Prompts[0].Name)
	require.True(t, prompts.Prompts[0].Arguments[0].Required)
	got, err := client.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "my.site.greet", Arguments: map[string]string{"who": "Ada"}})
	require.NoError(t, err)
	require.Equal(t, `greet{"who":"Ada"}`, got.Messages[0].Content.(*mcp.TextContent).Text)
	_, err = client.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "my.site.none"})
	require.Error(t, err)

	for _, ref := range []*mcp.CompleteReference{
		{Type: "ref/prompt", Name: "my.site.greet"}, {Type: "ref/resource", URI: "mcp://my.site/file:///{path}"},
	} {
		done, err := client.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "H"}})
		require.NoError(t, err)
		require.Equal(t, []string{"Hilo"}, done.Completion.Values)
	}
	none, err := client.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "other"}, Argument: mcp.CompleteParamsArgument{Name: "x", Value: "y"}})
	require.NoError(t, err)
	require.Empty(t, none.Completion.Values)
}

// A name that cannot stand in a URI keeps nobody from what the server offers, and one that completes nothing is no error.
func TestOffersOfOddlyNamedServers(t *testing.T) {
	s := newSite(t, oneTool)
	s.completesNothing = true
	s.prompts = `[{"name":"greet"}]`
	f := newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{s.source(t, "my site", upstream.Config{}, upstream.Options{})}})
	client := connected(t, served(t, f), nil)
	resources, err := client.ListResources(t.Context(), nil)
	require.NoError(t, err)
	uri := "mcp://my_site/file:///a b.txt"
	require.True(t, slices.ContainsFunc(resources.Resources, func(r *mcp.Resource) bool { return r.URI == uri }))
	read, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	require.NoError(t, err)
	require.Equal(t, uri, read.Contents[0].URI)
	schemas, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "sdk://my_site/schemas"})
	require.NoError(t, err)
	require.Equal(t, "my_site has no named types", schemas.Contents[0].Text)
	done, err := client.Complete(t.Context(), &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "my site.greet"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "H"},
	})
	require.NoError(t, err)
	require.Empty(t, done.Completion.Values)
}

// An operator may keep them out.
func TestOffersAreSwitchedOff(t *testing.T) {
	s := newSite(t, oneTool)
	s.prompts = `[{"name":"greet"}]`
	f := newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{s.source(t, "site", upstream.Config{}, upstream.Options{})}})
	server := mcpserver.New(mcpserver.Options{Host: f.host, Offers: gateway.NewOffers(func() *gateway.Gateway { return f.gateway }, true, true)})
	t.Cleanup(server.Close)
	client := connected(t, server, nil)
	resources, err := client.ListResources(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, resources.Resources, 3)
	_, err = client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "mcp://site/file:///a b.txt"})
	require.Error(t, err)
	prompts, err := client.ListPrompts(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, prompts.Prompts)
	_, err = client.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "site.greet"})
	require.Error(t, err)
}

// A client's resources and calls are of its own session with a server, also over HTTP.
func TestOffersAreOfOnesOwnSession(t *testing.T) {
	s := newSite(t, oneTool)
	m := s.source(t, "site", upstream.Config{}, upstream.Options{})
	f := newFixture(t, gateway.Options{MaxResult: 100, Upstreams: []gateway.Upstream{m}})
	face := httptest.NewServer(served(t, f).HTTP())
	t.Cleanup(face.Close)
	execute := func(client *mcp.ClientSession, script string) *mcp.CallToolResult {
		t.Helper()
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_script", Arguments: map[string]any{"script": script}})
		require.NoError(t, err)
		return r
	}
	for i, want := range []string{"session-1", "session-2", "session-3"} {
		client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: face.URL}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		require.NoError(t, err)
		defer client.Close()
		r, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "mcp://site/file:///x"})
		require.NoError(t, err)
		require.Equal(t, "of "+want, r.Contents[0].Text, i)
		require.Contains(t, execute(client, `return sdk.site.one{}.session`).Content[0].(*mcp.TextContent).Text, want)
		require.True(t, execute(client, `return read_result("r1")`).IsError, "nothing of another client is there")
		require.Contains(t, execute(client, `return string.rep("x", 200)`).Content[0].(*mcp.TextContent).Text, `"handle":"r1"`)
	}
}
