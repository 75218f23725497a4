package hostapp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
)

// NewSource is a source as a command line says it: a command, a URL or an API.
type NewSource struct {
	Name        string
	Command     []string
	URL         string
	API         string   // path or URL of a document
	Env         []string // NAME=VALUE, for a command
	Headers     []string // "Name: value", but for a command
	Token       string   // shown as a bearer token, but for a command
	Cwd         string   // for a command; "" is the working directory
	Transport   string   // for a URL
	BaseURL     string   // for an API
	Allow, Deny []string // of tools, or of operations
	Description string
}

// AddedSource is what was written.
type AddedSource struct {
	File     string // as a person in the working directory writes it
	Section  string // "mcp_servers.files"
	Replaced bool   // it was there
	Notes    []string
}

// AddSource writes a source into the configuration, in the place of one with its name. All else of the file stays as
// it is.
func AddSource(o Options, s NewSource) (added AddedSource, err error) {
	if err := s.check(); err != nil {
		return added, err
	}
	p := &Project{options: o}
	if err := p.find(); err != nil {
		return added, err
	}
	path := p.file
	if path == "" {
		path = filepath.Join(p.Folder, ConfigName)
	}
	added.File = p.Shown(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // where a link leads is changed, and the link stays
	}
	text, err := readWhole(path, maxConfig)
	if err != nil && !os.IsNotExist(err) {
		return added, fmt.Errorf("the configuration %s: %w", added.File, withoutPath(err))
	}
	if text, err = p.addSource(&added, text, s); err != nil {
		return added, fmt.Errorf("%s is left as it was: %w", added.File, err)
	}
	return added, replaceFile(path, text, 0)
}

// addSource gives the text of the configuration with a source.
func (p *Project) addSource(added *AddedSource, text []byte, s NewSource) ([]byte, error) {
	before, err := config.Parse(text, config.Options{Name: p.configName(), Dir: p.Folder, Placeholder: "-"})
	if err != nil {
		before = &config.Config{} // what is wrong may be what is replaced
	}
	if s.API != "" {
		api, err := p.newAPI(s)
		if err != nil {
			return nil, err
		}
		_, added.Replaced = before.APIs[s.Name]
		added.Section, added.Notes = config.SectionOf("apis", s.Name), clearText(added.File, api.ClearText())
		return config.AddAPI(text, s.Name, api)
	}
	server, err := p.newServer(s)
	if err != nil {
		return nil, err
	}
	_, added.Replaced = before.MCPServers[s.Name]
	added.Section, added.Notes = config.SectionOf("mcp_servers", s.Name), clearText(added.File, server.ClearText())
	return config.AddServer(text, s.Name, server)
}

func clearText(file string, keys []string) (notes []string) {
	for _, key := range keys {
		notes = append(notes, fmt.Sprintf("%s stands in clear text in %s: write '${NAME}', in quotes, for a variable of the environment", key, file))
	}
	return notes
}

// check says what of the command line does not fit together.
func (s *NewSource) check() error {
	kinds := 0
	for _, is := range []bool{len(s.Command) > 0, s.URL != "", s.API != ""} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return &usageError{"say one of --url URL, --api SPEC and -- COMMAND: what is added"}
	}
	for _, rule := range []struct {
		given, fits bool
		flag, wants string
	}{
		{len(s.Env) > 0, len(s.Command) > 0, "--env", "a command"},
		{s.Cwd != "", len(s.Command) > 0, "--cwd", "a command"},
		{len(s.Headers) > 0, len(s.Command) == 0, "--header", "--url and --api"},
		{s.Token != "", len(s.Command) == 0, "--token", "--url and --api"},
		{s.Transport != "", s.URL != "", "--transport", "--url"},
		{s.BaseURL != "", s.API != "", "--base-url", "--api"},
	} {
		if rule.given && !rule.fits {
			return &usageError{rule.flag + " is for " + rule.wants}
		}
	}
	return nil
}

func (p *Project) newServer(s NewSource) (config.MCPServer, error) {
	server := config.MCPServer{URL: s.URL, Transport: config.Transport(s.Transport), Description: s.Description, Allow: patterns(s.Allow), Deny: patterns(s.Deny)}
	var err error
	if server.Env, err = pairs("--env", s.Env, "=", "NAME=VALUE"); err != nil {
		return server, err
	}
	if server.Headers, err = pairs("--header", s.Headers, ":", "'Name: value'"); err != nil {
		return server, err
	}
	switch server.Transport {
	case "", config.StreamableHTTP, config.SSE:
	default:
		return server, &usageError{fmt.Sprintf("--transport %s: write streamable-http or sse", s.Transport)}
	}
	if s.Token != "" {
		server.Auth = config.ServerAuth{Type: config.BearerAuth, Token: s.Token}
	}
	if len(s.Command) == 0 {
		return server, nil
	}
	server.Command, server.Args = s.Command[0], s.Command[1:]
	if strings.ContainsRune(server.Command, '/') {
		server.Command = p.fromFolder(server.Command)
		if !strings.ContainsRune(server.Command, '/') {
			server.Command = "./" + server.Command
		}
	}
	if server.Cwd = p.fromFolder(s.Cwd); server.Cwd == "." {
		server.Cwd = "" // the folder of the configuration
	}
	return server, nil
}

func (p *Project) newAPI(s NewSource) (config.API, error) {
	api := config.API{Spec: s.API, BaseURL: s.BaseURL, Description: s.Description}
	api.Include.Operations, api.Exclude.Operations = patterns(s.Allow), patterns(s.Deny)
	var err error
	if api.Headers, err = pairs("--header", s.Headers, ":", "'Name: value'"); err != nil {
		return api, err
	}
	if s.Token != "" {
		api.Auth = config.APIAuth{Type: config.BearerAuth, Token: s.Token}
	}
	if strings.Contains(s.API, "://") || strings.Contains(s.API, "${") {
		return api, nil
	}
	if info, err := os.Stat(s.API); err != nil {
		return api, &usageError{fmt.Sprintf("--api %s: %s", s.API, withoutPath(err))}
	} else if info.IsDir() {
		return api, &usageError{fmt.Sprintf("--api %s: it is a folder; name the document", s.API)}
	}
	api.Spec = p.fromFolder(s.API)
	return api, nil
}

// fromFolder makes a path of the working directory one that begins at the folder of the configuration.
func (p *Project) fromFolder(path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "${") {
		return path
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	short, err := filepath.Rel(p.Folder, full)
	if err != nil {
		return full
	}
	return filepath.ToSlash(short)
}

func patterns(texts []string) (list []config.Pattern) {
	for _, text := range texts {
		list = append(list, config.Pattern(text))
	}
	return list
}

// pairs reads the values of a flag that may be repeated. Errors do not show values: they may be secret.
func pairs(flag string, texts []string, between, form string) (map[string]string, error) {
	list := map[string]string{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, between)
		if name = strings.TrimSpace(name); !found || name == "" {
			return nil, &usageError{flag + " needs " + form}
		}
		if between == ":" {
			value = strings.TrimSpace(value)
		}
		list[name] = value
	}
	return list, nil
}

// SourceNames are those of the configuration, for completion: where it cannot be read, there are none.
func SourceNames(o Options) []string {
	o.Unset = UnsetLater
	p := &Project{options: o}
	if err := p.find(); err != nil {
		return nil
	}
	c, err := p.readConfig()
	if err != nil {
		return nil
	}
	return slices.Concat(slices.Sorted(maps.Keys(c.MCPServers)), slices.Sorted(maps.Keys(c.APIs)))
}
