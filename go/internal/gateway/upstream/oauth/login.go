package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Login is one login of a person to a server. The zero value of a field is its default.
type Login struct {
	Name    string            // of the server
	URL     string            // of the server
	Headers map[string]string // that are sent to it anyway

	ClientID     string   // that the authorization server knows already; "" makes us known there
	ClientSecret string   // of that
	Scopes       []string // to ask for; nil are those that the server names
	Port         int      // of this machine, which the browser is sent back to; 0 is a free one

	Store Store
	HTTP  http.RoundTripper // nil is the default transport
}

// ErrNotNeeded is about a server that answers whoever asks.
var ErrNotNeeded = errors.New("the server does not ask who we are: no login is needed")

// Run has a person log in. show is given the address to open in a browser. The grant is kept in the store.
func (l Login) Run(ctx context.Context, show func(url string) error) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Port)))
	if err != nil {
		return fmt.Errorf("the browser's answer cannot be listened for: %w", err)
	}
	back := newReturning(listener)
	defer back.close()
	challenged, refused, err := l.challenge(ctx)
	if err != nil {
		return err
	}
	handler, err := auth.NewAuthorizationCodeHandler(l.config(back, show))
	if err != nil {
		_ = refused.Body.Close()
		return err
	}
	if err := handler.Authorize(ctx, challenged, refused); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("the login to %q failed: %w", l.Name, plain(err))
	}
	if !back.saved {
		return fmt.Errorf("the login to %q failed: the server refuses access, and asks for no login", l.Name)
	}
	return nil
}

// hellos are what a server is asked until it refuses: some let everybody begin, and want to know who asks for more.
var hellos = []string{
	`"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"hukilau","version":""},"io.modelcontextprotocol/clientCapabilities":{}}}`,
	`"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hukilau","version":""}}`,
	`"tools/list"`,
}

// challenge asks the server for something, and gives its refusal.
func (l Login) challenge(ctx context.Context) (*http.Request, *http.Response, error) {
	var why error
	for _, hello := range hellos {
		req, r, err := l.ask(ctx, hello)
		if err != nil {
			return nil, nil, err
		}
		if r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden {
			return req, r, nil
		}
		_ = r.Body.Close()
		if r.StatusCode < 300 {
			why = ErrNotNeeded
		} else if why == nil {
			why = fmt.Errorf("the server answered with HTTP status %d where it should ask who we are: check the url", r.StatusCode)
		}
	}
	return nil, nil, why
}

// ask sends one request. hello is its method, with its params.
func (l Login) ask(ctx context.Context, hello string) (*http.Request, *http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":`+hello+`}`))
	if err != nil {
		return nil, nil, errors.New("the url of the server is not usable")
	}
	for name, value := range l.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	r, err := client(l.HTTP).Do(req)
	if err != nil {
		var asked *url.Error
		if errors.As(err, &asked) { // its text has the whole address
			err = asked.Err
		}
		return nil, nil, fmt.Errorf("the server cannot be reached: %w", err)
	}
	return req, r, nil
}

func (l Login) config(back *returning, show func(string) error) *auth.AuthorizationCodeHandlerConfig {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back.url, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: client(l.HTTP),
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return back.fetch(ctx, args.URL, show)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			if err := l.Store.Save(l.Name, newGrant(l.URL, c, t)); err != nil {
				return nil, fmt.Errorf("the login cannot be kept: %w", err)
			}
			back.saved = true
			return oauth2.StaticTokenSource(t), nil
		},
	}
	c.ScopeFilter = l.scopes
	if l.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: l.ClientID}
		if l.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: l.ClientSecret}
		}
		return c
	}
	c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
		ClientName: "Hukilau", RedirectURIs: []string{back.url}, TokenEndpointAuthMethod: "none",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}}
	return c
}

// scopes are those to ask for: what is configured or else what the server names, what a login had before, and what the
// server has asked for since.
func (l Login) scopes(named []string) []string {
	if l.Scopes != nil {
		named = l.Scopes
	}
	if before, err := l.Store.Load(l.Name); err == nil && before != nil && before.URL == l.URL && len(before.Wanted) > 0 {
		named = union(named, union(before.Scopes, before.Wanted))
	}
	return named
}

// returning is where the browser comes back to.
type returning struct {
	url    string
	server *http.Server
	done   chan struct{}
	came   chan url.Values
	saved  bool

	mu     sync.Mutex
	wanted string // the state that is waited for
}

const callback = "/callback"

func newReturning(listener net.Listener) *returning {
	b := &returning{
		url:  "http://" + listener.Addr().String() + callback,
		done: make(chan struct{}), came: make(chan url.Values, 1),
	}
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() {
		_ = b.server.Serve(listener) // ends by close
		close(b.done)
	}()
	return b
}

func (b *returning) close() {
	_ = b.server.Close()
	<-b.done
}

// ServeHTTP implements http.Handler. What does not know the state of this login is somebody else's.
func (b *returning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if r.URL.Path != callback || !b.wants(query.Get("state")) {
		http.Error(w, "This is not the login that is waited for.", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	said := "You are logged in. This window can be closed.\n"
	if query.Get("code") == "" {
		said = "You are not logged in. The terminal says why.\n"
	}
	_, _ = io.WriteString(w, said)
	b.came <- query
}

// wants says whether a state is the one that is waited for, once.
func (b *returning) wants(state string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if state == "" || state != b.wanted {
		return false
	}
	b.wanted = ""
	return true
}

// fetch shows the address to log in at, and waits for the browser to come back.
func (b *returning) fetch(ctx context.Context, address string, show func(string) error) (*auth.AuthorizationResult, error) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" {
		return nil, errors.New("the address to log in at is none for a browser")
	}
	b.mu.Lock()
	b.wanted = at.Query().Get("state")
	b.mu.Unlock()
	if err := show(address); err != nil {
		return nil, err
	}
	select {
	case query := <-b.came:
		if query.Get("code") == "" {
			return nil, fmt.Errorf("the authorization server says %.100q", query.Get("error"))
		}
		return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
