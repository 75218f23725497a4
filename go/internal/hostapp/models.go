package hostapp

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/scriptmodel"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/libs"
)

// Providers make models, by the names that providers have in a configuration; main sets them.
var Providers map[string]func(models.Options) (models.Provider, error)

// modelSet makes the models of the configuration when they are first asked for.
type modelSet struct {
	host      *Host
	mu        sync.Mutex
	made      map[string]madeModel
	transport *http.Transport
}

// madeModel is a model, and what it was made of: a configuration that changed makes it anew.
type madeModel struct {
	of       string
	provider models.Provider
	close    func()
}

// find implements toolhost.Options.Models.
func (m *modelSet) find(name string) (toolhost.Model, bool) {
	c, known := m.host.Project.Config().Models[name]
	if !known {
		return toolhost.Model{}, false
	}
	tape := m.host.tape
	if tape != nil && tape.session.Replaying() {
		return toolhost.Model{Provider: tape.session.Model(name, nil), Name: providerName(name, c), Timeout: c.Timeout}, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	of := fmt.Sprintf("%#v", c)
	made, there := m.made[name]
	if !there || made.of != of {
		if there {
			made.close()
		}
		provider, end, err := m.newProvider(c)
		if err != nil {
			return toolhost.Model{Provider: failing(err)}, true
		}
		made = madeModel{of, models.WithRetries(provider, models.RetryOptions{Retries: retries(c)}), end}
		if m.made == nil {
			m.made = map[string]madeModel{}
		}
		m.made[name] = made
	}
	if tape != nil {
		return toolhost.Model{Provider: tape.session.Model(name, made.provider), Name: providerName(name, c), Timeout: c.Timeout}, true
	}
	return toolhost.Model{Provider: made.provider, Name: providerName(name, c), Timeout: c.Timeout}, true
}

// providerName is what the provider calls the model; one that is played by a script is called what the configuration
// calls it.
func providerName(name string, c config.Model) string {
	if c.Model == "" && c.Provider == "script" {
		return name
	}
	return c.Model
}

func retries(c config.Model) int {
	if c.RetriesSet && c.MaxRetries == 0 {
		return -1
	}
	return c.MaxRetries
}

func (m *modelSet) newProvider(c config.Model) (models.Provider, func(), error) {
	if m.transport == nil {
		m.transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	o := models.Options{APIKey: c.APIKey, BaseURL: c.BaseURL, Transport: m.transport}
	if len(c.Headers) > 0 {
		o.Transport = withHeaders{m.transport, c.Headers}
	}
	if c.Provider == "script" {
		return m.newScript(c)
	}
	provide := Providers[c.Provider]
	if provide == nil {
		return nil, nil, fmt.Errorf("a gateway has no models, and so no provider %q: luau serve and luau mcp have it", c.Provider)
	}
	p, err := provide(o)
	return p, func() {}, err
}

// newScript makes a model of a Luau file. It is the operator's own and reaches nothing.
func (m *modelSet) newScript(c config.Model) (models.Provider, func(), error) {
	path := m.host.Project.Config().Path(c.Script)
	resolver, err := module.New(module.Options{Embedded: libs.FS, Script: path, Dir: filepath.Dir(path), Hosted: true})
	if err != nil {
		return nil, nil, err
	}
	p, err := scriptmodel.New(scriptmodel.Options{
		Path: path, Config: engine.Config{Modules: builtin.Modules(builtin.Parts{}), Resolver: resolver, MemoryLimit: 64 << 20},
	})
	if err != nil {
		return nil, nil, err
	}
	return p, p.Close, nil
}

// failing is a model that cannot be made; whoever asks it hears why.
func failing(err error) models.Provider {
	return fails{err}
}

func (m *modelSet) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, made := range m.made {
		made.close()
	}
	if m.transport != nil {
		m.transport.CloseIdleConnections()
	}
}
