package hostapp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream/oauth"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

// grants are where logins to MCP servers are kept: in the keyring of the operating system, else in a folder that is
// its owner's alone.
func (p *Project) grants() oauth.Store {
	return oauth.Either{First: oauth.Keyring{}, Second: oauth.Files{Dir: filepath.Join(filepath.Dir(p.StatePath()), "logins")}}
}

// server finds an MCP server of the configuration or of flags.
func (p *Project) server(name string, flags SourceFlags) (config.MCPServer, error) {
	all, _, err := p.sources(flags)
	if err != nil {
		return config.MCPServer{}, err
	}
	server, ok := all.MCPServers[name]
	switch {
	case !ok:
		hint := "; `luau gateway add` adds one"
		if _, is := all.APIs[name]; is {
			hint = fmt.Sprintf(": it is an OpenAPI document, whose login stands in [apis.%s.auth]", name)
		} else if near := spelling.Nearest(name, slices.Collect(maps.Keys(all.MCPServers))); near != "" {
			hint = fmt.Sprintf(", did you mean %s?", near)
		}
		return server, &usageError{fmt.Sprintf("there is no MCP server %q%s", name, hint)}
	case server.URL == "":
		return server, &usageError{fmt.Sprintf("the MCP server %s is a command of this machine: nobody logs in to it", name)}
	}
	return server, nil
}

// Login has a person log in to an MCP server. show is given the address to open in a browser.
func (p *Project) Login(ctx context.Context, name string, flags SourceFlags, show func(url string) error) error {
	server, err := p.server(name, flags)
	if err != nil {
		return err
	}
	if t := server.Auth.Type; t == config.BearerAuth || t == config.NoAuth {
		return &usageError{fmt.Sprintf("the MCP server %s has auth.type = %q: a login would not be used", name, t)}
	}
	return oauth.Login{
		Name: name, URL: server.URL, Headers: server.Headers, ClientID: server.Auth.ClientID, ClientSecret: server.Auth.ClientSecret,
		Scopes: server.Auth.Scopes, Port: server.Auth.RedirectPort, Store: p.grants(),
	}.Run(ctx, show)
}

// Logout forgets a login.
func (p *Project) Logout(name string, flags SourceFlags) error {
	if _, err := p.server(name, flags); err != nil {
		return err
	}
	return p.grants().Delete(name)
}
