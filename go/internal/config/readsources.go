package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
)

func readSources(c *Config, root *table) Sources {
	s := Sources{MCPServers: map[string]MCPServer{}, APIs: map[string]API{}}
	for name, t := range root.section("mcp_servers").sections() {
		t.sourceName(name)
		s.MCPServers[name] = readServerSource(c, t)
	}
	for name, t := range root.section("apis").sections() {
		t.sourceName(name)
		if _, is := s.MCPServers[name]; is {
			t.reader.fail(t.path, "has the name of an MCP server: scripts could not tell them apart")
		}
		s.APIs[name] = readAPI(c, t)
	}
	return s
}

func (t *table) sourceName(name string) {
	if problem := sourceNameProblem(name); problem != "" {
		t.reader.fail(t.path, problem)
	}
}

const mostName = 128 // bytes

// sourceNameProblem says why a source cannot have a name. Scripts reach any other as sdk["the name"].
func sourceNameProblem(name string) string {
	switch {
	case name == "":
		return "needs a name that is not empty"
	case len(name) > mostName:
		return fmt.Sprintf("has a name of more than %d bytes", mostName)
	case strings.TrimSpace(name) != name:
		return "has a name that begins or ends with a space"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "has a name with characters that cannot be seen"
	}
	return ""
}

// readServerSource reads all keys, so that each is known, whatever else is wrong.
func readServerSource(c *Config, t *table) MCPServer {
	s := MCPServer{
		Command: t.string("command"), Args: t.strings("args"), Env: t.texts("env"), Cwd: c.Path(t.string("cwd")),
		URL: t.string("url"), Headers: t.headers("headers"), Auth: readServerAuth(t.section("auth")),
		Allow: t.patterns("allow", false), Deny: t.patterns("deny", false), Stateless: t.bool("stateless"),
		MaxConcurrent: t.count("max_concurrent", 1), Timeout: t.duration("timeout"),
		Disabled: t.bool("disabled"), Description: t.string("description"),
	}
	t.any("transport") // which is read where it has a meaning
	t.end()
	switch {
	case t.has("command") && t.has("url"):
		t.reader.fail(t.path, "has command and url: a server is started, or runs elsewhere; leave one of them out")
	case !t.has("command") && !t.has("url"):
		t.reader.fail(t.path, `needs command or url: what starts the server, as "npx", or where it runs, as "https://example.com/mcp"`)
	case t.has("command"):
		t.onlyWith("url", "transport", "headers", "auth")
		s.startedIn(c.Dir)
		if s.Command == "" {
			t.missing("command", `what starts the server, as "npx"`)
		}
	default:
		t.onlyWith("command", "args", "env", "cwd")
		t.webAddress("url", s.URL)
		if s.Transport = Transport(t.oneOf("transport", string(StreamableHTTP), string(SSE))); s.Transport == "" {
			s.Transport = StreamableHTTP
		}
	}
	return s
}

// startedIn completes a server that is a command: relative paths begin at a folder.
func (s *MCPServer) startedIn(dir string) {
	s.Transport = Stdio
	if s.Cwd == "" {
		s.Cwd = dir
	}
	if strings.ContainsRune(s.Command, '/') && !filepath.IsAbs(s.Command) {
		s.Command = filepath.Join(dir, filepath.FromSlash(s.Command))
	}
}

// onlyWith notes keys that have no meaning without another.
func (t *table) onlyWith(other string, keys ...string) {
	for _, key := range keys {
		if t.has(key) {
			t.fail(key, "is for a server with "+other+", and this one has none")
		}
	}
}

// webAddress notes what is no address of the web. Messages do not show it: there may be a secret in it.
func (t *table) webAddress(key, text string) {
	if problem := addressProblem(text); problem != "" {
		t.failOnce(key, problem)
	}
}

func addressProblem(text string) string {
	if text == "" {
		return `must not be empty: an address, as "https://example.com/mcp"`
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is no address: " + urlProblem(err)
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with http:// or https://"
	case u.Hostname() == "":
		return "names no host"
	}
	return ""
}

// urlProblem is an error of package url without the address.
func urlProblem(err error) string {
	if wrapped, is := err.(*url.Error); is {
		err = wrapped.Err
	}
	problem, _, _ := strings.Cut(err.Error(), `"`) // what follows is a part of it
	return strings.TrimSpace(problem)
}
