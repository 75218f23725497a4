package config

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/units"
)

// The names that programs have for the ways to a server.
var transports = map[string]Transport{
	"stdio": Stdio, "local": Stdio,
	"http": StreamableHTTP, "streamable-http": StreamableHTTP, "streamable_http": StreamableHTTP, "streamablehttp": StreamableHTTP, "remote": StreamableHTTP,
	"sse": SSE,
}

// server reads one server with every key that some program has for what we know.
func (f *clientFile) server(t *table) MCPServer {
	off := t.bool("disabled")
	if on := t.choice("enabled"); on != nil && !*on {
		off = true
	}
	if !off { // what is switched off may name variables that nobody sets
		for key, v := range t.values {
			t.values[key] = f.expandIn(t.at(key), v)
		}
	}
	s := MCPServer{
		Disabled: off, Description: t.string("description"), Timeout: f.timeout(t),
		Command: t.string("command"), Args: t.looseList("args"), Env: t.looseTexts("env"), Cwd: t.string("cwd"),
		URL: t.firstText("url", "serverUrl", "httpUrl"), Headers: t.looseTexts("headers"), Auth: f.auth(t),
		Allow: t.firstPatterns("allowedTools", "includeTools", "enabledTools", "tools"),
		Deny:  t.firstPatterns("excludeTools", "disabledTools"),
	}
	t.checkHeaders("headers", s.Headers)
	s.Env = f.withFile(t, s.Env)
	f.finish(t, &s)
	return s
}

// finish decides how the server is reached, and notes what cannot be.
func (f *clientFile) finish(t *table, s *MCPServer) {
	key := "type"
	for _, other := range []string{"transportType", "transport"} {
		if !t.has("type") && t.has(other) {
			key = other
		}
	}
	kind := t.string(key)
	transport, known := transports[strings.ToLower(kind)]
	if kind != "" && !known {
		t.fail(key, `must be one of stdio, http, sse`)
		return
	}
	switch {
	case s.Command == "" && s.URL == "":
		f.reader.fail(t.path, "needs command or url: what starts the server, or where it runs")
	case s.Command != "" && s.URL != "" && !known:
		f.reader.fail(t.path, "has command and url: a server is started, or runs elsewhere; leave one of them out")
	case transport == Stdio && s.Command == "":
		f.reader.fail(t.path, "needs command, as its type is "+kind)
	case known && transport != Stdio && s.URL == "":
		f.reader.fail(t.path, "needs url, as its type is "+kind)
	case transport == Stdio, !known && s.Command != "":
		f.finishCommand(t, s)
	default:
		s.finishURL(t, transport)
	}
}

func (f *clientFile) finishCommand(t *table, s *MCPServer) {
	for _, key := range []string{"url", "serverUrl", "httpUrl", "headers", "auth", "oauth"} {
		if t.has(key) {
			f.warn(t.at(key), "is not used: the server is a command")
		}
	}
	s.URL, s.Headers, s.Auth = "", nil, ServerAuth{}
	if s.Cwd != "" && !filepath.IsAbs(s.Cwd) {
		s.Cwd = filepath.Join(f.options.Workspace, filepath.FromSlash(s.Cwd))
	}
	s.startedIn(f.options.Workspace)
}

func (s *MCPServer) finishURL(t *table, transport Transport) {
	for _, key := range []string{"url", "serverUrl", "httpUrl"} {
		if t.has(key) && !s.Disabled {
			t.webAddress(key, s.URL)
			break
		}
	}
	s.Command, s.Args, s.Env, s.Cwd = "", nil, nil, ""
	if transport == "" {
		transport = StreamableHTTP
		if address, _, _ := strings.Cut(s.URL, "?"); !t.has("httpUrl") && strings.HasSuffix(strings.TrimSuffix(address, "/"), "/sse") {
			transport = SSE // these programs try one way and then the other; the name tells
		}
	}
	s.Transport = transport
}

// timeout reads a time. Some programs count seconds, others milliseconds: a number from 1000 on is of the latter.
func (f *clientFile) timeout(t *table) time.Duration {
	return measured(t, "timeout", func(v any) (time.Duration, error) {
		if n, is := v.(float64); is && n >= 1000 {
			v = n / 1000
		}
		return units.ParseDuration(v)
	})
}

// auth reads what Claude Code calls oauth, and Cursor auth.
func (f *clientFile) auth(t *table) (a ServerAuth) {
	for _, key := range []string{"oauth", "auth"} {
		if _, is := t.values[key].(map[string]any); !is {
			continue
		}
		o := t.section(key)
		a = ServerAuth{
			Type: OAuth, ClientID: o.firstText("clientId", "CLIENT_ID", "client_id"), ClientSecret: o.firstText("clientSecret", "CLIENT_SECRET", "client_secret"),
			RedirectPort: o.port("callbackPort"),
		}
		if text, is := o.values["scopes"].(string); is {
			o.asked = append(o.asked, "scopes")
			a.Scopes = strings.Fields(text)
		} else {
			a.Scopes = o.strings("scopes")
		}
		for _, rest := range sortedNames(o.rest()) {
			f.warn(o.at(rest), "is not used")
		}
	}
	return a
}

// firstText is the first text that is there under one of several names.
func (t *table) firstText(keys ...string) (text string) {
	for _, key := range keys {
		if found := t.string(key); text == "" {
			text = found
		}
	}
	return text
}

func (t *table) firstPatterns(keys ...string) (list []Pattern) {
	for _, key := range keys {
		if found := t.patterns(key, false); list == nil {
			list = found
		}
	}
	return list
}

// looseText takes numbers and booleans as these programs do, who write them into variables as they stand.
func looseText(v any) (text string, is bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64, bool, json.Number:
		encoded, err := jsonvalue.Encode(v)
		return string(encoded), err == nil
	}
	return "", false
}

func (t *table) looseList(key string) []string {
	items, is := t.values[key].([]any)
	if !is {
		return t.strings(key)
	}
	items = slices.Clone(items)
	for i, item := range items {
		if text, is := looseText(item); is {
			items[i] = text
		}
	}
	t.values[key] = items
	return t.strings(key)
}

func (t *table) looseTexts(key string) map[string]string {
	items, is := t.values[key].(map[string]any)
	if !is {
		return t.texts(key)
	}
	plain := map[string]any{}
	for name, item := range items {
		if text, is := looseText(item); is {
			plain[name] = text
		} else if item != nil { // null takes a variable away that was never given on
			plain[name] = item
		}
	}
	t.values[key] = plain
	return t.texts(key)
}
