package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// offers are what strangers offer.
type offers struct {
	mu                            sync.Mutex
	resources, templates, prompts []string
	read                          func(uri string) (string, error)
}

func raw(list []string) (all []json.RawMessage) {
	for _, text := range list {
		all = append(all, json.RawMessage(text))
	}
	return all
}

func (o *offers) Resources() []json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	return raw(o.resources)
}
func (o *offers) Templates() []json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	return raw(o.templates)
}
func (o *offers) Prompts() []json.RawMessage { o.mu.Lock(); defer o.mu.Unlock(); return raw(o.prompts) }

func (o *offers) ReadResource(_ context.Context, _ toolhost.Caller, uri string) (json.RawMessage, error) {
	text, err := o.read(uri)
	return json.RawMessage(text), err
}

func (o *offers) GetPrompt(_ context.Context, _ toolhost.Caller, name string, args json.RawMessage) (json.RawMessage, error) {
	if name == "fails" {
		return nil, errors.New("the key hunter2 is wrong")
	}
	return json.RawMessage(fmt.Sprintf(`{"messages":[{"role":"user","content":{"type":"text","text":%q}}]}`, args)), nil
}

func (o *offers) Complete(_ context.Context, _ toolhost.Caller, params json.RawMessage) (json.RawMessage, error) {
	if strings.Contains(string(params), "fails") {
		return nil, errors.New("no")
	}
	return json.RawMessage(`{"completion":{"values":["a"],"total":1}}`), nil
}

// client is one of the official SDK, over pipes.
func client(t testing.TB, s *mcpserver.Server, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = s.Stdio(context.Background(), inRead, outWrite) // it ends with its input
		_ = outWrite.Close()
	})
	c, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, o).Connect(t.Context(), &mcp.IOTransport{Reader: outRead, Writer: inWrite}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		_ = inWrite.Close()
		serving.Wait()
	})
	return c
}

// Entries of strangers that are none are left out, and the others are there.
func TestOffersOfStrangers(t *testing.T) {
	o := &offers{
		resources: []string{
			`{"uri":"a://one","name":"one"}`, `{"uri":"a://one","name":"again"}`, `{"uri":"","name":"none"}`, `{"uri":"no uri","name":"relative"}`, `{"uri":":","name":"x"}`,
			`null`, `[]`, `"text"`, `{"uri":5}`, `{"uri":"a://two","name":"two"}`,
		},
		templates: []string{`{"uriTemplate":"a://{","name":"broken"}`, `{"uriTemplate":"a://{x}","name":"t"}`, `{"uriTemplate":"{x}","name":"all"}`, `{}`},
		prompts:   []string{`{"name":"p","arguments":[{"name":"who"}]}`, `{"name":""}`, `{"name":"p"}`, `{"name":"fails"}`, `7`},
	}
	o.read = func(uri string) (string, error) {
		switch uri {
		case "a://one":
			return `{"contents":[{"uri":"a://one","text":"1"}]}`, nil
		case "a://empty":
			return `{"contents":[{"uri":"a://empty","text":""}]}`, nil
		case "a://wrong":
			return `[]`, nil
		case "a://fails":
			return "", errors.New("the key hunter2 is wrong")
		}
		return "", mcpserver.ErrNotOffered
	}
	redact := strings.NewReplacer("hunter2", "***").Replace
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{Offers: o, Redact: redact})
	changed := make(chan string, 10)
	c := client(t, f.server, &mcp.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { changed <- "resources" },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { changed <- "prompts" },
	})
	listed := func() string {
		t.Helper()
		names := []string{}
		resources, err := c.ListResources(t.Context(), nil)
		require.NoError(t, err)
		for _, r := range resources.Resources {
			names = append(names, r.URI)
		}
		templates, err := c.ListResourceTemplates(t.Context(), nil)
		require.NoError(t, err)
		for _, r := range templates.ResourceTemplates {
			names = append(names, r.URITemplate)
		}
		prompts, err := c.ListPrompts(t.Context(), nil)
		require.NoError(t, err)
		for _, p := range prompts.Prompts {
			names = append(names, p.Name)
		}
		return strings.Join(names, " ")
	}
	first := listed()
	for _, there := range []string{"a://one", "a://two", "a://{x}", "p", "fails"} {
		require.Contains(t, strings.Fields(first), there)
	}
	require.NotContains(t, strings.Fields(first), "a://{")

	read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "a://one"})
	require.NoError(t, err)
	require.Equal(t, "1", read.Contents[0].Text)
	read, err = c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "a://empty"})
	require.NoError(t, err)
	encoded, err := json.Marshal(read.Contents)
	require.NoError(t, err)
	require.JSONEq(t, `[{"uri":"a://empty","blob":""}]`, string(encoded), "clients want a text or a blob")
	for uri, code := range map[string]int64{"a://none": jsonrpc.CodeInvalidParams, "a://fails": jsonrpc.CodeInternalError, "b://none": jsonrpc.CodeInvalidParams} {
		_, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		var refused *jsonrpc.Error
		require.ErrorAs(t, err, &refused, uri)
		require.Equal(t, code, refused.Code, uri)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err = c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "a://wrong"})
	require.Error(t, err)
	got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p"})
	require.NoError(t, err)
	require.Equal(t, "{}", got.Messages[0].Content.(*mcp.TextContent).Text)
	_, err = c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "fails"})
	require.ErrorContains(t, err, "the key *** is wrong")
	complete := func(name string) (*mcp.CompleteResult, error) {
		return c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: name}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: ""}})
	}
	done, err := complete("p")
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, done.Completion.Values)
	_, err = complete("fails")
	require.Error(t, err)

	o.mu.Lock()
	o.resources, o.prompts = o.resources[:1], append(o.prompts, `{"name":"new"}`)
	o.mu.Unlock()
	f.server.Changed()
	require.ElementsMatch(t, []string{"resources", "prompts"}, []string{<-changed, <-changed})
	require.NotContains(t, listed(), "a://two")
	require.Contains(t, strings.Fields(listed()), "new")
}

// Whatever number is offered, a list stays a list.
func TestOffersAreBounded(t *testing.T) {
	o := &offers{}
	for i := range 12_000 {
		o.resources = append(o.resources, fmt.Sprintf(`{"uri":"a://%d","name":"n"}`, i))
	}
	c := client(t, servingWith(t, toolhost.Options{}, mcpserver.Options{Offers: o}).server, nil)
	count := 0
	for _, err := range c.Resources(t.Context(), nil) {
		require.NoError(t, err)
		count++
	}
	require.Equal(t, 10_000, count)
}
