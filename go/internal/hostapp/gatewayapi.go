package hostapp

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/openapi"
)

// maxDocument bounds one file of an OpenAPI document, in bytes.
const maxDocument = 64 << 20

func (h *Host) openAPI(name string, c config.API) gateway.Upstream {
	spec := c.Spec
	if !strings.Contains(spec, "://") {
		spec = h.Project.Config().Path(spec)
	}
	of := openapi.Config{
		Name: name, Spec: spec, BaseURL: c.BaseURL, Auth: credentials(c), Headers: c.Headers, ServerVariables: c.Variables,
		Include: selection(c.Include), Exclude: selection(c.Exclude),
	}
	return gateway.OpenAPISource(of, openapi.Options{
		ReadFile: readDocument, CacheRead: h.Project.cached, CacheWrite: h.Project.cache, Logger: h.Logger, Redact: h.Project.redact,
	}, c.Description, c.Timeout, h.upstreamChanged)
}

func selection(f config.Filter) openapi.Selection {
	return openapi.Selection{Tags: texts(f.Tags), Paths: texts(f.Paths), Operations: texts(f.Operations)}
}

func texts(patterns []config.Pattern) []string {
	var list []string
	for _, p := range patterns {
		list = append(list, string(p))
	}
	return list
}

// credentials are those of a configuration by security scheme; "" is for whatever scheme they fit.
func credentials(c config.API) map[string]openapi.Credential {
	all := map[string]openapi.Credential{}
	add := func(scheme string, a config.APIAuth) {
		switch a.Type {
		case config.BearerAuth:
			all[scheme] = openapi.Credential{Bearer: a.Token}
		case config.BasicAuth:
			all[scheme] = openapi.Credential{Username: a.User, Password: a.Password}
		case config.KeyAuth:
			all[scheme] = openapi.Credential{Key: a.Key, In: a.In, Name: a.Name}
			if a.Name != "" && a.In == "" {
				all[scheme] = openapi.Credential{Key: a.Key, In: "header", Name: a.Name}
			}
		case config.OAuth2:
			all[scheme] = openapi.Credential{ClientID: a.ClientID, ClientSecret: a.ClientSecret, TokenURL: a.TokenURL, Scopes: a.Scopes}
		}
	}
	add("", c.Auth)
	for scheme, auth := range c.Schemes {
		add(scheme, auth)
	}
	return all
}

// readDocument reads a file of a document. Links that lead out of its folder are errors.
func readDocument(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.FromSlash(folder))
	if err != nil {
		return nil, withoutPath(err)
	}
	defer root.Close()
	text, err := readIn(root, filepath.FromSlash(name), maxDocument)
	return text, withoutPath(err)
}
