package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// official is a server by the SDK, with a tool for each thing that can happen in a call.
func official(versions ...string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "official", Version: "2"}, &mcp.ServerOptions{
		Instructions: "use it well", PageSize: 2, SupportedProtocolVersions: versions,
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "!"}}}, nil
		},
	})
	for _, name := range []string{"echo", "progress", "ask", "sample", "slow"} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}, tools[name])
	}
	for i := range 3 {
		s.AddResource(&mcp.Resource{URI: fmt.Sprintf("test://%d", i), Name: fmt.Sprint(i)},
			func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "content"}}}, nil
			})
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://{id}", Name: "any"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) { return nil, nil })
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hello " + r.Params.Arguments["who"]}}}}, nil
		})
	return s
}

func oneText(text string) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

var tools = map[string]mcp.ToolHandler{
	"echo": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return oneText(string(r.Params.Arguments))
	},
	"progress": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 3})
			if err != nil {
				return nil, err
			}
		}
		return oneText("done")
	},
	"ask": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer, ok := r.Params.InputResponses["q"].(*mcp.ElicitResult); ok {
			return oneText(fmt.Sprint(answer.Action, " ", answer.Content["name"], " ", r.Params.RequestState))
		}
		return &mcp.CallToolResult{RequestState: "kept", InputRequests: mcp.InputRequestMap{
			"q": &mcp.ElicitParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)},
		}}, nil
	},
	"sample": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer, ok := r.Params.InputResponses["s"]; ok {
			text, _ := json.Marshal(answer)
			return oneText(string(text))
		}
		//lint:ignore SA1019 servers may ask for it as long as the protocol has it
		message := &mcp.CreateMessageParams{MaxTokens: 7, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"s": message}}, nil
	},
	"slow": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	},
}

// piped runs a server of the SDK behind the pipes of a Process.
func piped(s *mcp.Server) func(Command) (*Process, error) {
	return func(Command) (*Process, error) {
		inRead, inWrite := io.Pipe()
		outRead, outWrite := io.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.Run(context.Background(), &mcp.IOTransport{Reader: inRead, Writer: outWrite}) // ends with its input
		}()
		return &Process{In: inWrite, Out: outRead, Err: io.NopCloser(strings.NewReader("")), Stop: func() {
			inWrite.Close()
			outRead.Close()
			<-ended
		}}, nil
	}
}

// peers are the ways to reach a server of the SDK, and the revision that is spoken then.
var peers = map[string]struct {
	version string
	reach   func(t *testing.T, s *mcp.Server) (Config, Options)
	before  []string // revisions that the server knows; nil: all
}{
	"pipes":         {stateless, reachPipes, nil},
	"pipes, older":  {"2025-11-25", reachPipes, []string{"2025-11-25", "2025-06-18"}},
	"pipes, oldest": {"2024-11-05", reachPipes, []string{"2024-11-05"}},
	"sse":           {"2025-11-25", reachHTTP(SSE, false), []string{"2025-11-25"}},
	"sessions":      {"2025-11-25", reachHTTP("", false), nil},
	"stateless":     {stateless, reachHTTP("", true), nil},
	"JSON":          {"2025-11-25", reachHTTP("JSON", false), nil},
}

func reachPipes(t *testing.T, s *mcp.Server) (Config, Options) {
	return Config{Name: "official", Command: "official"}, Options{Start: piped(s)}
}

func reachHTTP(transport string, alone bool) func(*testing.T, *mcp.Server) (Config, Options) {
	return func(t *testing.T, s *mcp.Server) (Config, Options) {
		serve := func(*http.Request) *mcp.Server { return s }
		var handler http.Handler = mcp.NewStreamableHTTPHandler(serve, &mcp.StreamableHTTPOptions{
			Stateless: alone, JSONResponse: transport == "JSON", PropagateRequestCancellation: true,
		})
		if transport == "JSON" {
			transport = ""
		}
		if transport == SSE {
			handler = mcp.NewSSEHandler(serve, nil)
		}
		h := httptest.NewServer(handler)
		t.Cleanup(h.Close)
		return Config{Name: "official", URL: h.URL, Transport: transport}, Options{}
	}
}

func TestServersOfTheSDK(t *testing.T) {
	for name, peer := range peers {
		t.Run(name, func(t *testing.T) {
			server := official(peer.before...)
			c, o := peer.reach(t, server)
			changed := make(chan struct{}, 10)
			o.OnChange = func() { changed <- struct{}{} }
			o.Client = Client{Elicitation: true, Sampling: true}
			s := open(t, c, o)
			require.Equal(t, peer.version, s.Status().Version)
			<-changed

			snapshot := s.Snapshot()
			require.Equal(t, "ask echo progress sample slow", names(snapshot), "all pages")
			require.Len(t, snapshot.Resources, 3)
			require.Len(t, snapshot.Templates, 1)
			require.Len(t, snapshot.Prompts, 1)
			require.Equal(t, "greet", snapshot.Prompts[0].Key)
			require.Contains(t, string(snapshot.Prompts[0].Raw), `"arguments":[{"name":"who","required":true}]`)
			require.Equal(t, "use it well", snapshot.Instructions)
			require.Empty(t, snapshot.Warnings)
			require.Equal(t, "official", s.Snapshot().Source("x", "").Title)

			result, err := call(t, s, "echo", `{"n":12345678901234567890}`, CallOptions{})
			require.NoError(t, err)
			require.Equal(t, `{"n":12345678901234567890}`, textOf(t, result))
			theRest(t, s)
			if name != "JSON" { // there the server has no way to say anything before its answer
				whileCalling(t, s)
			}

			server.AddTool(&mcp.Tool{Name: "new", InputSchema: json.RawMessage(`{"type":"object"}`)}, tools["echo"])
			server.RemoveTools("slow")
			eventually(t, func() bool { return names(s.Snapshot()) == "ask echo new progress sample" })
			<-changed
			_, err = call(t, s, "new", "{}", CallOptions{})
			require.NoError(t, err)
		})
	}
}

func theRest(t *testing.T, s *Server) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	raw, err := s.ReadResource(ctx, "test://1", CallOptions{})
	require.NoError(t, err)
	require.Contains(t, string(raw), `"content"`)
	_, err = s.ReadResource(ctx, "none://1", CallOptions{})
	require.NotZero(t, failure(t, err).Number)
	raw, err = s.GetPrompt(ctx, "greet", json.RawMessage(`{"who":"Hilo"}`), CallOptions{})
	require.NoError(t, err)
	require.Contains(t, string(raw), "hello Hilo")
	raw, err = s.Complete(ctx, json.RawMessage(`{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"x"}}`), CallOptions{})
	require.NoError(t, err)
	require.Contains(t, string(raw), `"x!"`)
	_, err = call(t, s, "none", "{}", CallOptions{})
	require.NotZero(t, failure(t, err).Number)
}

func whileCalling(t *testing.T, s *Server) {
	t.Helper()
	heard := 0
	_, err := call(t, s, "progress", "{}", CallOptions{Progress: func(json.RawMessage) { heard++ }})
	require.NoError(t, err)
	require.Equal(t, 3, heard)

	asks := CallOptions{
		Elicit: func(_ context.Context, params json.RawMessage) (json.RawMessage, error) {
			if !strings.Contains(string(params), `"who?"`) {
				return nil, fmt.Errorf("it asks for %s", params)
			}
			return json.RawMessage(`{"action":"accept","content":{"name":"Ana"}}`), nil
		},
		Sample: func(_ context.Context, params json.RawMessage) (json.RawMessage, error) {
			if !strings.Contains(string(params), `"maxTokens":7`) {
				return nil, fmt.Errorf("it asks for %s", params)
			}
			return json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"aloha"}}`), nil
		},
	}
	result, err := call(t, s, "ask", "{}", asks)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(textOf(t, result), "accept Ana"), textOf(t, result))
	result, err = call(t, s, "sample", "{}", asks)
	require.NoError(t, err)
	require.Contains(t, textOf(t, result), "aloha")

	result, err = call(t, s, "ask", "{}", CallOptions{})
	if err != nil {
		require.Contains(t, err.Error(), "elicit")
	} else {
		require.True(t, result.IsError, "nobody is there to answer")
	}

	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for under(s) == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	_, err = s.Call(ctx, "slow", nil, CallOptions{})
	require.ErrorIs(t, err, context.Canceled)
}
