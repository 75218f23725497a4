package hostapp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream/oauth"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/typecheck"
	"github.com/hukilau/hukilau/libs"
)

// StartServer starts the program of an MCP server; main sets it.
var StartServer func(upstream.Command) (*upstream.Process, error)

// SourceFlags are sources that a command line names, beside those of the configuration or in their place.
type SourceFlags struct {
	MCP   []string // name=command or name=URL
	APIs  []string // name=spec or spec
	Specs []string // arguments that are the same as APIs
	Files []string // of other programs, as .mcp.json
	Face  string   // in place of the configuration's; "": as that says
}

// clientsFile is the file of MCP servers that several programs read in a folder.
const clientsFile = ".mcp.json"

// gateways is the gateway of a host; it changes with the configuration.
type gateways struct {
	start    string // names this start of the host
	flags    SourceFlags
	only     bool      // no other tools are served
	from     time.Time // when servers may be started; zero: at once
	current  atomic.Pointer[gateway.Gateway]
	sources  []source
	settings config.Gateway
	checker  *typecheck.Checker
	changed  atomic.Pointer[func()] // hears that a server offers something else
}

// source is an upstream with what it was made of.
type source struct {
	config   any
	upstream gateway.Upstream
}

// Gateway is the one of the host; nil where there are no sources.
func (h *Host) Gateway() *gateway.Gateway { return h.gateways.current.Load() }

// maxNamed is how many sources are named in the instructions for models.
const maxNamed = 30

// sessionEnded forgets what was kept for the session of a client.
func (h *Host) sessionEnded(caller toolhost.Caller) {
	if g := h.Gateway(); g != nil {
		g.Forget(caller)
	}
}

// instructions say to a model how the gateway's tools belong together; "" without a gateway.
func (h *Host) instructions() string {
	g := h.Gateway()
	if g == nil {
		return ""
	}
	var names []string
	for _, s := range g.Sources() {
		names = append(names, s.Ident)
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", len(names)-maxNamed))
	}
	sources := strings.Join(names, ", ")
	if h.gateways.settings.Face == config.ProxyFace {
		return "Servers: " + sources + ". Find tools with list-server-tools and tool-details; call them from one script with execute."
	}
	return "Sources: " + sources + ". Find functions with search_docs, read their types with get_function_docs, call them from one script with execute_script."
}

// sourcesFor are those that the tool of a call may use.
func (h *Host) sourcesFor(calling toolhost.Calling) sdkmod.Host {
	if g := h.Gateway(); g != nil {
		return g.ForTool(calling)
	}
	return nil
}

// sources are those of the configuration and of the command line.
func (p *Project) sources(flags SourceFlags) (config.Sources, config.Gateway, error) {
	c := p.Config()
	all := config.Sources{MCPServers: maps.Clone(c.MCPServers), APIs: maps.Clone(c.APIs)}
	settings := c.Gateway
	named, err := config.ParseFlags(config.Flags{MCP: flags.MCP, APIs: flags.APIs, Specs: flags.Specs})
	if err != nil {
		return all, settings, &usageError{err.Error()}
	}
	p.clientWarnings, p.unsetClients = nil, map[string]string{}
	files := flags.Files
	if usual := filepath.Join(p.Folder, clientsFile); len(files)+len(flags.MCP)+len(flags.APIs)+len(flags.Specs) == 0 && p.file == "" && exists(usual) {
		files = []string{usual}
		p.tellFile(usual)
	}
	for _, name := range files {
		clients, err := p.readClients(name)
		if err != nil {
			return all, settings, err
		}
		all.Override(clients.Sources)
		if settings.Face == "" {
			settings.Face = clients.Face
		}
	}
	all.Override(named)
	if flags.Face != "" {
		settings.Face = config.Face(flags.Face)
	}
	return all, settings, nil
}

// tellFile says that a file of other programs is used: it names programs that are started.
func (p *Project) tellFile(path string) {
	if logger, err := p.newLogger(); err == nil {
		logger.Warn("the servers of this file are used, as there is no hukilau.toml", "file", p.Shown(path))
	}
}

// readClients reads a file of another program.
func (p *Project) readClients(name string) (*config.Clients, error) {
	text, err := readWhole(name, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("the file %s: %w", name, withoutPath(err))
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // "" is none
	clients, err := config.ParseClients(text, config.ClientOptions{
		Name: name, Dir: filepath.Dir(path), Home: home, LookupEnv: os.LookupEnv, Placeholder: redact.Mark,
		ReadFile: func(name string) ([]byte, error) { return readWhole(name, maxConfig) },
	})
	if err != nil {
		return nil, err
	}
	p.addSecrets(clients.Secrets())
	for _, u := range clients.Unset() {
		if len(u.Path) > 1 {
			p.unsetClients[u.Path[1]] = u.Err.Error()
		}
	}
	p.clientWarnings = append(p.clientWarnings, clients.Warnings...)
	if clients.Bind != "" && !clients.Stdio {
		p.clientBind = clients.Bind
	}
	return clients, nil
}

// addSecrets hides further texts. Those that were hidden stay so: calls that run have them.
func (p *Project) addSecrets(secrets []string) {
	for _, text := range secrets {
		if !slices.Contains(p.moreSecrets, text) { // a file is read again at each change
			p.moreSecrets = append(p.moreSecrets, text)
		}
	}
	p.redactor.Store(redact.New(slices.Concat(p.secrets, p.moreSecrets)))
}

// openGateway makes the gateway anew where its sources or its settings have changed. What stays the same of the
// sources goes on.
func (h *Host) openGateway() error {
	sources, settings, err := h.Project.sources(h.gateways.flags)
	if err != nil {
		return err
	}
	old := h.gateways.current.Load()
	next, fresh := h.connect(sources)
	if old != nil && len(fresh) == 0 && len(next) == len(h.gateways.sources) && reflect.DeepEqual(settings, h.gateways.settings) {
		return nil
	}
	if len(next) == 0 && h.gateways.only {
		return config.ErrNoSources
	}
	var made *gateway.Gateway
	if len(next) > 0 {
		if made, err = h.newGateway(next, sources, settings); err != nil {
			closeSources(fresh)
			return err
		}
	}
	gone := h.gateways.sources
	h.gateways.sources, h.gateways.settings = next, settings
	h.gateways.current.Store(made)
	if old != nil {
		old.Close()
	}
	go closeSources(slices.DeleteFunc(gone, func(s source) bool {
		return slices.ContainsFunc(next, func(kept source) bool { return kept.upstream == s.upstream })
	}))
	return nil
}

// closeSources waits until all have ended.
func closeSources(list []source) {
	var closing sync.WaitGroup
	for _, s := range list {
		closing.Go(s.upstream.Close)
	}
	closing.Wait()
}

// connect opens the sources that were not open before: those are fresh.
func (h *Host) connect(all config.Sources) (list, fresh []source) {
	open := func(section, name string, of any, make func() gateway.Upstream) {
		why := h.unsetIn(section, name)
		for _, s := range h.gateways.sources {
			if why == "" && s.upstream.Name() == name && reflect.DeepEqual(s.config, of) {
				list = append(list, s)
				return
			}
		}
		made := source{config: of}
		if why != "" {
			made.upstream = &gateway.Unready{Called: name, Of: kinds[section], Reason: why}
		} else {
			made.upstream = make()
		}
		fresh, list = append(fresh, made), append(list, made)
	}
	for _, name := range slices.Sorted(maps.Keys(all.MCPServers)) {
		server := all.MCPServers[name]
		if !server.Disabled {
			open("mcp_servers", name, server, func() gateway.Upstream { return h.openServer(name, server) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all.APIs)) {
		api := all.APIs[name]
		if !api.Disabled {
			open("apis", name, api, func() gateway.Upstream { return h.openAPI(name, api) })
		}
	}
	return list, fresh
}

var kinds = map[string]catalog.Kind{"mcp_servers": catalog.MCP, "apis": catalog.OpenAPI}

// unsetIn says which variable a source needs that is not set; "" is none.
func (h *Host) unsetIn(section, name string) string {
	if why := h.Project.unsetClients[name]; why != "" && section == "mcp_servers" {
		return why
	}
	for _, u := range h.Project.Config().Unset() {
		if len(u.Path) > 1 && u.Path[0] == section && u.Path[1] == name {
			return u.Err.Error()
		}
	}
	return ""
}

func (h *Host) openServer(name string, c config.MCPServer) gateway.Upstream {
	var who upstream.Authorizer
	if c.URL != "" && (c.Auth.Type == "" || c.Auth.Type == config.OAuth) {
		who = oauth.NewSource(h.Project.grants(), name, c.URL, nil)
	}
	server := upstream.Open(
		upstream.Config{
			Name: name, Command: c.Command, Args: c.Args, Env: c.Env, Dir: c.Cwd, URL: c.URL, Transport: transportOf(c), Headers: headersOf(c),
			Stateless: c.Stateless, CallTimeout: c.Timeout, Allows: c.Allows, MaxConcurrent: mostConcurrent,
		},
		upstream.Options{
			Logger: h.Logger, Start: h.startServer, Environ: os.Environ(), Redact: h.Project.redact, OnChange: h.upstreamChanged,
			Client: upstream.Client{Elicitation: true, Sampling: true}, Authorize: who,
		})
	return gateway.NewMCPSource(server, c.Description)
}

// clientFirst is how long servers wait with their start for a client's first answers. They take longer to be ready by far.
const clientFirst = 25 * time.Millisecond

func (h *Host) startServer(c upstream.Command) (*upstream.Process, error) {
	time.Sleep(time.Until(h.gateways.from))
	return StartServer(c)
}

// mostConcurrent bounds requests to one server at once. How many calls of scripts there may be is decided before, in the
// gateway, by what is configured.
const mostConcurrent = 1024

func transportOf(c config.MCPServer) string {
	if c.Command != "" {
		return ""
	}
	return string(c.Transport)
}

// headersOf are those of each request, with what shows who calls.
func headersOf(c config.MCPServer) map[string]string {
	if c.Auth.Type != config.BearerAuth {
		return c.Headers
	}
	headers := maps.Clone(c.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	headers["Authorization"] = "Bearer " + c.Auth.Token
	return headers
}

// upstreamChanged tells faces that a server offers something else.
func (h *Host) upstreamChanged() {
	if changed := h.gateways.changed.Load(); changed != nil {
		(*changed)()
	}
}

func (h *Host) newGateway(list []source, all config.Sources, c config.Gateway) (*gateway.Gateway, error) {
	o := gateway.Options{
		Face: c.Face, Check: c.Check, MaxCalls: c.MaxCalls, Concurrency: c.Concurrency, Timeout: c.Timeout, Memory: c.Memory,
		MaxResult: c.MaxResult, MaxBytes: c.MaxBytes, NoSamples: c.NoSamples, Policy: c.Policy,
		Files: h.scratch, Redact: h.Project.redact, Logger: h.Logger,
		Limits: func(source string) int {
			if server, ok := all.MCPServers[source]; ok {
				return server.MaxConcurrent
			}
			return all.APIs[source].MaxConcurrent
		},
	}
	if old := h.Gateway(); old != nil {
		o.Before = old.Catalog()
	}
	for _, s := range list {
		o.Upstreams = append(o.Upstreams, s.upstream)
	}
	if c.SaveScripts {
		o.Save = h.saveScript
	}
	resolver, err := gatewayResolver()
	if err != nil {
		return nil, err
	}
	o.Resolver = resolver
	if c.Check != config.CheckOff {
		o.Checker = gateway.NewTypeChecker(h.checker(), modulesOf("sdk", resolver))
	}
	return gateway.New(o)
}

// checkPatience is how long a script waits for the checks of others before it runs unchecked.
const checkPatience = 3 * time.Second

// checker is the type checker of scripts; its process starts with the first of them.
func (h *Host) checker() *typecheck.Checker {
	if h.gateways.checker == nil {
		h.gateways.checker = typecheck.New(typecheck.Options{
			Start: StartChecker, Patience: checkPatience, Warn: func(message string) { h.Logger.Warn(message) },
		})
	}
	return h.gateways.checker
}

// gatewayResolver finds the SDK for scripts that a model wrote, and no file.
func gatewayResolver() (engine.Resolver, error) {
	return module.New(module.Options{Embedded: libs.FS, Hosted: true})
}

// closeGateway ends the sources, and what their programs have started.
func (h *Host) closeGateway() {
	if g := h.gateways.current.Swap(nil); g != nil {
		g.Close()
	}
	closeSources(h.gateways.sources)
	h.gateways.sources = nil
	if h.gateways.checker != nil {
		h.gateways.checker.Close()
	}
}

// withGateway are the tools of a project and those of its gateway.
type withGateway struct {
	*granted
	gateway *gateway.Gateway
	all     []*tooldef.Tool
}

var _ toolhost.Tools = (*withGateway)(nil)

// join puts the gateway's tools beside those of the project, of which one may have such a name.
func join(g *granted, gw *gateway.Gateway) *withGateway {
	w := &withGateway{granted: g, gateway: gw}
	w.all = slices.Clone(g.Tools())
	for _, t := range gw.Tools() {
		if _, taken := g.Find(t.Name); !taken {
			w.all = append(w.all, t)
		}
	}
	slices.SortFunc(w.all, func(a, b *tooldef.Tool) int { return strings.Compare(a.Name, b.Name) })
	return w
}

// Tools implements toolhost.Tools.
func (w *withGateway) Tools() []*tooldef.Tool { return w.all }

// Find implements toolhost.Tools.
func (w *withGateway) Find(name string) (*tooldef.Tool, bool) {
	if t, ok := w.granted.Find(name); ok {
		return t, true
	}
	return w.gateway.Find(name)
}
