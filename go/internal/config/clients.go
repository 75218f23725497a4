package config

import (
	"fmt"
	"math"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Clients is what a file of another program says about MCP servers: of a desktop client (mcpServers), of VS Code
// (servers, with inputs), or of a proxy for Lua scripts (mcpClients).
type Clients struct {
	Sources
	Face     Face     // ProxyFace for mcpClients; else ""
	Bind     string   // where that proxy listens; "" where it does not say
	Stdio    bool     // that proxy serves standard input and output
	Warnings []*Error // what is there and not used

	secrets []string
	unset   []Unset
}

// Secrets lists the texts that must never be shown.
func (c *Clients) Secrets() []string { return sorted(append(c.Sources.secrets(), c.secrets...)) }

// Unset are places that a variable without a value was to fill; none unless ClientOptions.Placeholder was given.
func (c *Clients) Unset() []Unset { return c.unset }

// ClientOptions is how ParseClients reads.
type ClientOptions struct {
	Name        string                            // of the file, for messages; empty means .mcp.json
	Dir         string                            // of the file
	Workspace   string                            // where relative paths start; "" is Dir, or the folder around it where Dir is an editor's own
	Home        string                            // of the user
	LookupEnv   func(string) (string, bool)       // nil has no variables
	ReadFile    func(name string) ([]byte, error) // for files of variables; nil: those are not read, which is a warning
	Placeholder string                            // as in Options
}

// ParseClients reads a file of another program. Comments and trailing commas are fine, keys that it does not know are
// warnings. Its error is always of type Errors; messages show no secret.
func ParseClients(data []byte, options ClientOptions) (*Clients, error) {
	if options.Name == "" {
		options.Name = ".mcp.json"
	}
	if options.Workspace == "" {
		options.Workspace = options.Dir
		if base := path.Base(filepath.ToSlash(options.Dir)); base == ".vscode" || base == ".cursor" {
			options.Workspace = filepath.Dir(options.Dir)
		}
	}
	f := &clientFile{options: options, clients: &Clients{Sources: Sources{MCPServers: map[string]MCPServer{}}}}
	f.reader = &reader{
		options: Options{Name: options.Name, Dir: options.Workspace, LookupEnv: options.LookupEnv, Placeholder: options.Placeholder},
		secrets: map[string]bool{},
	}
	if tree := f.reader.parseJSON(data); len(f.reader.errors) == 0 {
		f.read(f.reader.table(nil, tree))
	}
	if len(f.reader.errors) > 0 {
		return nil, inJSONsWords(f.reader.failed())
	}
	f.clients.secrets, f.clients.unset = f.reader.secretList(), f.reader.unset
	slices.SortStableFunc(f.clients.Warnings, byPlace)
	return f.clients, nil
}

var objects = strings.NewReplacer("a table", "an object", "of tables", "of objects")

// inJSONsWords has objects where TOML has tables.
func inJSONsWords(list Errors) Errors {
	for _, e := range list {
		if wanted, got, is := strings.Cut(e.Problem, ", not "); is && strings.HasPrefix(wanted, "must be ") {
			wanted, _, _ = strings.Cut(wanted, ", as [[")
			e.Problem = objects.Replace(wanted) + ", not " + objects.Replace(got)
		}
	}
	return list
}

// clientFile is one reading of a file.
type clientFile struct {
	options ClientOptions
	reader  *reader
	clients *Clients
	inputs  map[string]input
}

func (f *clientFile) warn(path []string, problem string) {
	f.clients.Warnings = append(f.clients.Warnings, f.reader.errorAt(path, path, problem))
}

// read finds the servers, by any of the names that programs have for them.
func (f *clientFile) read(root *table) {
	if root.has("mcp") { // settings of an editor
		if values, is := root.values["mcp"].(map[string]any); is && values["servers"] != nil {
			f.read(root.section("mcp"))
			return
		}
	}
	f.inputs = f.readInputs(root)
	known := []string{"mcpServers", "servers", "mcpClients"}
	if !slices.ContainsFunc(known, root.has) {
		f.reader.fail(root.path, "has no servers: it needs mcpServers, servers or mcpClients, an object with a server under each name")
		return
	}
	for _, key := range known {
		for name, t := range root.section(key).sections() {
			f.add(name, t)
		}
	}
	if root.has("mcpClients") {
		f.readProxy(root)
	}
	if rest := sortedNames(root.rest()); len(rest) > 0 {
		f.warn(append(root.path, rest[0]), "is not used"+others(rest[1:]))
	}
}

func others(names []string) string {
	const most = 5
	if len(names) == 0 {
		return ""
	}
	text := "; nor are " + strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

func (f *clientFile) add(name string, t *table) {
	t.sourceName(name)
	if _, there := f.clients.MCPServers[name]; there {
		f.reader.fail(t.path, "is there a second time: a name is for one server")
	}
	f.clients.MCPServers[name] = f.server(t)
	for _, key := range sortedNames(t.rest()) {
		f.warn(t.at(key), "is not used"+nearest(key, t.asked))
	}
}

// readProxy takes what a proxy says about itself.
func (f *clientFile) readProxy(root *table) {
	c := f.clients
	c.Face = ProxyFace
	c.Stdio = root.oneOf("transport", "http", "stdio") == "stdio"
	host, port := root.string("host"), root.count("port", 0)
	if port > math.MaxUint16 {
		root.fail("port", "must be a port, at most 65535")
	}
	if root.has("port") {
		if host == "" {
			host = "localhost"
		}
		c.Bind = net.JoinHostPort(host, strconv.Itoa(port))
	}
	allowed := root.patterns("allowedTools", false)
	for name, s := range c.MCPServers {
		if s.Allow == nil {
			s.Allow = allowed
			c.MCPServers[name] = s
		}
	}
}
