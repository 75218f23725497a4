package oauth

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
)

var _ upstream.Authorizer = (*Source)(nil)

// Source proves who we are to one server, by its grant in a store. Many goroutines may use it.
type Source struct {
	store  Store
	name   string
	url    string
	client *http.Client

	turn   chan struct{} // holds one: whoever took it may look at what follows
	loaded bool
	grant  *Grant
}

// NewSource gives a Source for the server of that name and URL; requests to its authorization server go through http,
// or the default transport where that is nil.
func NewSource(store Store, name, url string, http http.RoundTripper) *Source {
	s := &Source{store: store, name: name, url: url, client: client(http), turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

func (s *Source) lock(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Source) unlock() { s.turn <- struct{}{} }

// early is how long before its end a token is renewed.
const early = 30 * time.Second

// Authorization implements upstream.Authorizer.
func (s *Source) Authorization(ctx context.Context) (string, error) {
	if err := s.lock(ctx); err != nil {
		return "", err
	}
	defer s.unlock()
	if !s.loaded {
		if err := s.load(); err != nil {
			return "", err
		}
	}
	g := s.grant
	if g == nil || g.Expiry.IsZero() || time.Until(g.Expiry) > early || g.Refresh == "" {
		return g.header(), nil
	}
	if err := s.renew(ctx); err != nil {
		if time.Now().Before(g.Expiry) {
			return g.header(), nil
		}
		return "", fmt.Errorf("the login has expired and was not renewed (%w)", err)
	}
	return s.grant.header(), nil
}

// load reads the grant. One for another address is none.
func (s *Source) load() error {
	g, err := s.store.Load(s.name)
	if err != nil {
		return fmt.Errorf("the login cannot be read: %w", err)
	}
	if g != nil && g.URL != s.url {
		g = nil
	}
	s.grant, s.loaded = g, true
	return nil
}

// Refused implements upstream.Authorizer.
func (s *Source) Refused(ctx context.Context, authorization string) bool {
	if s.lock(ctx) != nil {
		return false
	}
	defer s.unlock()
	if s.grant.header() != authorization { // renewed meanwhile
		return s.grant != nil
	}
	if s.load() == nil && s.grant.header() != authorization { // by another process, or somebody has logged in
		return s.grant != nil
	}
	return s.grant != nil && s.grant.Refresh != "" && s.renew(ctx) == nil
}

// Wanting implements upstream.Authorizer: the next login asks for these rights, too.
func (s *Source) Wanting(ctx context.Context, authorization string, scopes []string) bool {
	if s.lock(ctx) != nil {
		return false
	}
	defer s.unlock()
	if err := s.load(); err != nil || s.grant == nil {
		return false
	}
	if s.grant.header() != authorization { // somebody has logged in
		return true
	}
	g := *s.grant
	g.Wanted = union(g.Wanted, scopes)
	if len(g.Wanted) > len(s.grant.Wanted) && s.store.Save(s.name, &g) == nil {
		s.grant = &g
	}
	return false
}

// union are the scopes of both lists.
func union(a, b []string) []string {
	all := append([]string(nil), a...)
	for _, scope := range b {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all[:min(len(all), mostScopes)]
}

// mostScopes bounds what a server can have us keep.
const mostScopes = 100

// renew gets a new token. Another process may have done it before us; then its own is taken, since the right to
// renew is often good for one time only.
func (s *Source) renew(ctx context.Context) error {
	before := s.grant
	if s.load() == nil && s.grant != nil && s.grant.Access != before.Access && time.Until(s.grant.Expiry) > early {
		return nil
	}
	if s.grant == nil {
		s.grant = before
	}
	// Whoever asks first may give up; the token is for all.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	g, err := s.grant.renewed(ctx, s.client)
	if err != nil {
		return err
	}
	s.grant = g
	return s.store.Save(s.name, g)
}
