package config

import (
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"time"
)

// read takes all sections. Each key is asked for by name; what nobody asked for is unknown.
func (c *Config) read(root *table) {
	c.Tools = readTools(c, root.section("tools"))
	c.Server = readServer(root.section("server"))
	c.Models = map[string]Model{}
	for name, t := range root.section("models").sections() {
		c.Models[name] = readModel(c, t)
	}
	c.Limits = readLimits(root.section("limits"))
	permissions := root.section("permissions")
	c.Permissions = readPermissions(c, permissions)
	permissions.end()
	state := root.section("state")
	c.StateDir = c.Path(state.string("dir"))
	c.MaxState = state.size("max_size")
	c.MaxKept = state.size("max_kept")
	state.end()
	c.Log = readLog(root.section("log"))
	c.Music = readMusic(c, root.section("music"))
	c.Sources = readSources(c, root)
	c.Gateway = readGateway(c, root.section("gateway"))
	root.end()
}

func readTools(c *Config, t *table) Tools {
	tools := Tools{Scripts: map[string]Script{}, Policies: map[string]Policy{}}
	for _, dir := range t.strings("dirs") {
		tools.Dirs = append(tools.Dirs, c.Path(dir))
	}
	for name, script := range t.section("script").sections() {
		tools.Scripts[name] = readScript(c, script)
	}
	for name, policy := range t.section("policy").sections() {
		tools.Policies[name] = readPolicy(c, policy)
	}
	t.end()
	return tools
}

// readScript takes the keys that are ours; all others are the script's own.
func readScript(c *Config, t *table) Script {
	s := Script{Path: t.string("path"), Timeout: t.duration("timeout"), Approve: t.bool("approve"), Rate: t.rate("rate")}
	if s.Path == "" {
		t.missing("path", `the tool's file, as "tools/echo.lua"`)
	}
	s.Path = c.Path(s.Path)
	s.Config = t.rest()
	return s
}

func readPolicy(c *Config, t *table) Policy {
	p := Policy{
		Memory: t.size("memory"), Timeout: t.duration("timeout"), Approve: t.choice("approve"), Rate: t.rate("rate"),
		Isolation:   Isolation(t.oneOf("isolation", string(Pristine), string(Thread))),
		Permissions: readPermissions(c, t),
	}
	t.end()
	return p
}

func readPermissions(c *Config, t *table) Permissions {
	p := Permissions{
		Net: t.strings("net"), NetPrivate: t.strings("net_private"), Env: t.strings("env"),
		Read: t.strings("read"), Write: t.strings("write"),
		Models: t.strings("models"), Tools: t.strings("tools"), Servers: t.strings("servers"),
	}
	for _, paths := range [][]string{p.Read, p.Write} {
		for i, name := range paths {
			if name != "*" {
				paths[i] = c.Path(name)
			}
		}
	}
	return p
}

var errBind = errors.New(`must be an address with a port, as "127.0.0.1:8787"`)

// CheckBind says what is wrong with an address to listen on.
func CheckBind(address string) error {
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return errBind
	}
	return nil
}

func readServer(t *table) Server {
	s := Server{
		Bind: t.string("bind"), Token: t.string("token"), OperatorToken: t.string("operator_token"), OperatorApproves: t.bool("operator_approves"),
		Cors: t.strings("cors"), Hosts: t.strings("hosts"), BodyLimit: t.size("body_limit"),
		MaxRuns: t.count("max_runs", 1), QueueSet: t.has("queue"), Queue: t.count("queue", 0),
		HeaderTimeout: t.duration("header_timeout"), RequestTimeout: t.duration("request_timeout"),
		IdleTimeout: t.duration("idle_timeout"), Drain: t.duration("drain"),
	}
	if err := CheckBind(s.Bind); s.Bind != "" && err != nil {
		t.fail("bind", err.Error())
	}
	for _, key := range []string{"token", "operator_token"} {
		if text, is := t.values[key].(string); is && text == "" {
			t.fail(key, "is empty, which would be none: give it a value, or leave the key out")
		}
	}
	if t.has("drain") && s.Drain == 0 {
		s.Drain = time.Nanosecond // at once; 0 is the usual time
	}
	if s.Token != "" && s.Token == s.OperatorToken {
		t.fail("operator_token", "must not be the same as server.token: who calls tools could approve its own calls")
	}
	for _, origin := range s.Cors {
		if origin != "*" && !strings.Contains(origin, "://") {
			t.fail("cors", `must list origins, as "https://app.example.com"`)
		}
	}
	t.end()
	return s
}

func readModel(c *Config, t *table) Model {
	m := Model{
		Provider: t.oneOf("provider", Providers...), Model: t.string("model"), BaseURL: t.string("base_url"),
		APIKey: t.string("api_key"), Headers: t.texts("headers"), Timeout: t.duration("timeout"),
		RetriesSet: t.has("max_retries"), MaxRetries: t.count("max_retries", 0), Script: c.Path(t.string("script")),
	}
	if m.Provider == "" && !t.has("provider") {
		t.missing("provider", "one of "+strings.Join(Providers, ", "))
	}
	if (m.Provider == "openai" || m.Provider == "anthropic" || m.Provider == "gemini") && m.Model == "" && !t.has("model") {
		t.missing("model", "the name by which the provider knows it")
	}
	if m.Provider == "openai-compatible" && m.BaseURL == "" {
		t.missing("base_url", `the server's address, as "http://127.0.0.1:11434/v1"`)
	}
	if m.Provider == "script" && m.Script == "" {
		t.missing("script", "the Luau file that plays the model")
	}
	if m.BaseURL != "" && !strings.HasPrefix(m.BaseURL, "http://") && !strings.HasPrefix(m.BaseURL, "https://") {
		t.fail("base_url", "must begin with http:// or https://")
	}
	t.end()
	return m
}

func readLimits(t *table) Limits {
	l := Limits{
		Time: t.duration("time"), Memory: t.size("memory"), HostCalls: t.count("host_calls", 1), Output: t.size("output"),
		Log: t.size("log"), Tokens: t.count("tokens", 1), Depth: t.count("depth", 1),
	}
	t.end()
	return l
}

func readLog(t *table) Log {
	l := Log{
		Retention: t.duration("retention"), MaxSize: t.size("max_size"), Level: t.oneOf("level", "debug", "info", "warn", "error"),
		Format: t.oneOf("format", "text", "json"),
	}
	t.end()
	return l
}

func readMusic(c *Config, t *table) Music {
	m := Music{Folder: c.Path(t.string("folder")), Output: t.string("output")}
	if strings.HasSuffix(strings.ToLower(m.Output), ".wav") {
		m.Output = c.Path(m.Output)
	}
	t.end()
	return m
}

// sortedNames gives names in order, so that errors come in order too.
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
