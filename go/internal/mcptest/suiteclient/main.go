// Command suiteclient is the client that the official conformance suite starts, with the URL of a server of its own:
// suiteclient URL. It connects as the gateway does, and uses all that the server offers once.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream/oauth"
)

// patience is a little less than the suite has.
const patience = 25 * time.Second

func main() {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	err := run(ctx, os.Args[len(os.Args)-1], os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// mostLogins is how often a person would log in before they give up.
const mostLogins = 2

func run(ctx context.Context, url, about string) error {
	dir, err := os.MkdirTemp("", "suiteclient")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store := oauth.Files{Dir: dir}
	for logins := 0; ; logins++ {
		err := use(ctx, url, store)
		var refused *upstream.Error
		if logins == mostLogins || !errors.As(err, &refused) || refused.Code != upstream.CodeUnauthorized && refused.Status != http.StatusForbidden {
			return err
		}
		if err := login(ctx, url, about, store); err != nil {
			return err
		}
	}
}

// login does what `luau gateway login` does, with a browser that agrees to everything.
func login(ctx context.Context, url, about string, store oauth.Store) error {
	var known struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	if about != "" {
		if err := json.Unmarshal([]byte(about), &known); err != nil {
			return err
		}
	}
	l := oauth.Login{Name: serverName, URL: url, ClientID: known.ClientID, ClientSecret: known.ClientSecret, Store: store}
	return l.Run(ctx, func(page string) error {
		go browse(ctx, page)
		return nil
	})
}

// browse opens a page and follows it back. That it did is seen by whoever waits for it.
func browse(ctx context.Context, page string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return
	}
	if r, err := http.DefaultClient.Do(req); err == nil {
		_ = r.Body.Close()
	}
}

const serverName = "suite"

// use connects, and uses each tool, resource and prompt once.
func use(ctx context.Context, url string, store oauth.Store) error {
	s := upstream.Open(
		upstream.Config{Name: serverName, URL: url},
		upstream.Options{
			Logger:    slog.New(slog.NewTextHandler(os.Stderr, nil)),
			Authorize: oauth.NewSource(store, serverName, url, nil),
			Client:    upstream.Client{Elicitation: true, Sampling: true}, Version: "1.0.0",
		})
	defer s.Close()
	if err := s.Ready(ctx); err != nil {
		return err
	}
	offered := s.Snapshot()
	var failed []error
	for i, tool := range offered.Tools {
		args, _ := example(tool.InputSchema).(map[string]any)
		if _, wanted := args["schema"]; wanted && i > 0 { // it is to get that of the tool before it back
			args["schema"] = offered.Tools[i-1].InputSchema
		}
		failed = append(failed, call(ctx, s, tool, args))
	}
	for _, r := range offered.Resources {
		_, err := s.ReadResource(ctx, r.Key, upstream.CallOptions{Elicit: accept})
		failed = append(failed, err)
	}
	for _, p := range offered.Prompts {
		var entry struct{ Arguments []struct{ Name string } }
		if err := json.Unmarshal(p.Raw, &entry); err != nil {
			failed = append(failed, err)
			continue
		}
		args := map[string]string{}
		for _, a := range entry.Arguments {
			args[a.Name] = "text"
		}
		text, err := json.Marshal(args)
		if err == nil {
			_, err = s.GetPrompt(ctx, p.Key, text, upstream.CallOptions{Elicit: accept})
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func call(ctx context.Context, s *upstream.Server, tool upstream.Tool, args map[string]any) error {
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	result, err := s.Call(ctx, tool.Name, text, upstream.CallOptions{
		Elicit: accept, Sample: sample, Progress: func(json.RawMessage) {}, Repeatable: tool.Hints.Repeatable(),
	})
	if err != nil {
		return err
	}
	fmt.Println(tool.Name, string(result.Raw))
	return nil
}

// accept answers a form as a user who leaves all as it is filled in.
func accept(_ context.Context, params json.RawMessage) (json.RawMessage, error) {
	var form struct {
		Schema any `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &form); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"action": "accept", "content": example(form.Schema)})
}

func sample(context.Context, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"aloha"},"model":"none","stopReason":"endTurn"}`), nil
}

// example is a value that a schema of the suite takes.
func example(schema any) any {
	s, _ := schema.(map[string]any)
	if value, given := s["default"]; given {
		return value
	}
	if values, _ := s["enum"].([]any); len(values) > 0 {
		return values[0]
	}
	switch s["type"] {
	case "string":
		return "a word of ʻōlelo Hawaiʻi" // one that no header can hold as it is
	case "number", "integer":
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		return []any{}
	}
	object := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	for name, property := range properties {
		// A scenario says in a description alone that it wants to see nothing sent.
		if about, _ := property.(map[string]any)["description"].(string); !strings.Contains(about, "will be null") {
			object[name] = example(property)
		}
	}
	return object
}
