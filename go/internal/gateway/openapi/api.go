package openapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/redact"
)

// API is one document with what it takes to call its operations. Goroutines may share it.
type API struct {
	config     Config
	options    Options
	model      *model
	operations map[string]*operation
	hidden     map[string]bool // parameters that the configuration gives: "header X-Key"
	auth       *authenticator
	client     *http.Client
	own        *http.Transport // nil: it was given
	redactor   *redact.Redactor
	warnings   []string
}

// Load reads a document and what it refers to. ctx bounds that alone.
func Load(ctx context.Context, c Config, options Options) (*API, error) {
	a := &API{config: c, options: options.withDefaults(), redactor: redact.New(c.secrets())}
	if a.options.HTTP == nil {
		a.own = ownTransport()
		a.options.HTTP = a.own
	}
	if err := a.load(ctx); err != nil {
		a.Close()
		return nil, fmt.Errorf("api %s: %s", c.Name, a.redact(err.Error()))
	}
	for _, warning := range a.warnings {
		a.options.Logger.Warn("openapi document", "api", c.Name, "problem", a.redact(warning))
	}
	return a, nil
}

// keptConnections is how many connections to a server stay open when nothing is sent.
const keptConnections = 64

func ownTransport() *http.Transport {
	shared, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		shared = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	own := shared.Clone()
	own.MaxIdleConnsPerHost = keptConnections
	return own
}

// Close gives kept connections up. Calls that run are not harmed.
func (a *API) Close() {
	if a.own != nil {
		a.own.CloseIdleConnections()
	}
}

func (a *API) load(ctx context.Context) error {
	if err := a.config.check(); err != nil {
		return err
	}
	m, err := loadModel(ctx, &a.config, a.options, a.redact)
	if err != nil {
		return fmt.Errorf("%s: %w", a.config.Spec, err)
	}
	a.model, a.warnings = m, slices.Clone(m.Warnings)
	a.operations = map[string]*operation{}
	for _, op := range m.Operations {
		if a.config.selects(op) {
			a.operations[op.Name] = op
		}
	}
	if len(a.operations) == 0 {
		return a.nothing()
	}
	if err := a.unknownVariables(); err != nil {
		return err
	}
	if err := a.checkServers(); err != nil {
		return err
	}
	if a.auth, err = newAuthenticator(a); err != nil {
		return err
	}
	a.hidden = a.given()
	a.warnOfPlainText()
	a.client = &http.Client{Transport: a.options.HTTP, CheckRedirect: checkRedirect}
	return nil
}

// nothing is why there are no functions.
func (a *API) nothing() error {
	switch {
	case len(a.model.Operations) > 0:
		return fmt.Errorf("include and exclude leave none of its %d operations", len(a.model.Operations))
	case len(a.warnings) > 0:
		return fmt.Errorf("it has no operations that can be called; %s", a.warnings[0])
	}
	return fmt.Errorf("it has no operations")
}

// checkServers fails where no operation at all can be called; else those that cannot be say so when they are.
func (a *API) checkServers() error {
	var first error
	for _, name := range sortedKeys(a.operations) {
		_, err := a.serverOf(a.operations[name])
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// warnOfPlainText is for credentials that everybody on the way can read.
func (a *API) warnOfPlainText() {
	if len(a.config.Auth) == 0 {
		return
	}
	seen := map[string]bool{}
	for _, name := range sortedKeys(a.operations) {
		u, err := a.serverOf(a.operations[name])
		if err == nil && u.Scheme == "http" && !isLocal(u) && !seen[u.Host] {
			seen[u.Host] = true
			a.warnings = append(a.warnings, fmt.Sprintf("credentials go to %s without encryption: set base_url to its https address", u.Host))
		}
	}
}

// Warnings are what is wrong in the document and was worked around.
func (a *API) Warnings() []string { return a.warnings }

func (a *API) redact(text string) string {
	text = a.redactor.Text(text)
	if a.auth != nil {
		text = a.auth.redact(text)
	}
	if a.options.Redact != nil {
		text = a.options.Redact(text)
	}
	return text
}

// given are the parameters that the configuration gives by itself.
func (a *API) given() map[string]bool {
	hidden := map[string]bool{}
	for name := range a.config.Headers {
		hidden["header "+strings.ToLower(name)] = true
	}
	for _, s := range a.auth.schemes() {
		if s.Type != "apiKey" {
			continue
		}
		name := s.Name
		if s.In == "header" {
			name = strings.ToLower(name)
		}
		hidden[s.In+" "+name] = true
	}
	return hidden
}

func (a *API) isHidden(p *parameter) bool {
	name := p.Name
	if p.In == "header" {
		name = strings.ToLower(name)
	}
	return a.hidden[p.In+" "+name]
}

// selects says whether an operation is one of those that are configured.
func (c *Config) selects(op *operation) bool {
	include := len(c.Include.Tags)+len(c.Include.Paths)+len(c.Include.Operations) == 0 || c.Include.has(op)
	return include && !c.Exclude.has(op)
}

func (s Selection) has(op *operation) bool {
	any := func(patterns []string, texts ...string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			return slices.ContainsFunc(texts, func(text string) bool { return text != "" && config.Pattern(pattern).Matches(text) })
		})
	}
	return any(s.Tags, op.Tags...) || any(s.Paths, op.Path, op.Method+" "+op.Path) || any(s.Operations, op.ID, op.Name, op.Suggested)
}
