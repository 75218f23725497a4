package openapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

// tokens are the access tokens of one client, by the scopes that they were asked for.
type tokens struct {
	api     *API
	config  clientcredentials.Config
	client  *http.Client
	fixed   bool // the scopes are configured
	turn    chan struct{}
	current map[string]*oauth2.Token // guarded by turn
	secrets atomic.Pointer[redact.Redactor]
}

const (
	tokenTime  = 30 * time.Second
	mostTokens = 50
	// early is how long before its end a token is not used any more.
	early = 10 * time.Second
)

func newTokens(a *API, s scheme, credential Credential) (*tokens, error) {
	address := credential.TokenURL
	if address == "" {
		u, err := a.tokenURL(s)
		if err != nil {
			return nil, err
		}
		address = u
	}
	return &tokens{
		api: a, turn: make(chan struct{}, 1), current: map[string]*oauth2.Token{}, fixed: credential.Scopes != nil,
		config: clientcredentials.Config{
			ClientID: credential.ClientID, ClientSecret: credential.ClientSecret, TokenURL: address, Scopes: credential.Scopes,
		},
		client: &http.Client{Transport: a.options.HTTP, CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the token server redirects, which is not followed")
		}},
	}, nil
}

// tokenURL is where a document sends the secret of a client: over TLS, or to this machine.
func (a *API) tokenURL(s scheme) (string, error) {
	u, err := url.Parse(s.TokenURL)
	if err != nil {
		return "", fmt.Errorf("the token URL of the document, %.200q, is no URL", s.TokenURL)
	}
	if base := cmp.Or(s.Base, a.model.Base); !u.IsAbs() && base != "" {
		from, err := url.Parse(base)
		if err != nil {
			return "", err
		}
		u = from.ResolveReference(u)
	}
	if u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u)) {
		return "", fmt.Errorf("the document wants the client secret to be sent to %.200q, which is not https: set token_url if that is right", s.TokenURL)
	}
	return u.String(), nil
}

// isLocal says whether an address is on this machine.
func isLocal(u *url.URL) bool {
	return u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
}

// get gives a token. stale is one that the server has refused: another one is fetched for it.
func (t *tokens) get(ctx context.Context, scopes []string, stale string) (string, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	config := t.config
	if !t.fixed {
		config.Scopes = slices.Compact(slices.Sorted(slices.Values(scopes)))
	}
	key := strings.Join(config.Scopes, " ")
	token := t.current[key]
	if token != nil && token.AccessToken != stale && (token.Expiry.IsZero() || t.api.options.Now().Add(early).Before(token.Expiry)) {
		return token.AccessToken, nil
	}
	fetched, err := t.fetch(ctx, &config)
	if err != nil {
		return "", err
	}
	if len(t.current) >= mostTokens {
		clear(t.current)
	}
	t.current[key] = fetched
	var texts []string
	for _, token := range t.current {
		texts = append(texts, token.AccessToken)
	}
	t.secrets.Store(redact.New(texts))
	return fetched.AccessToken, nil
}

func (t *tokens) fetch(ctx context.Context, config *clientcredentials.Config) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, t.client), tokenTime)
	defer cancel()
	token, err := config.Token(ctx)
	if err == nil && !validHeaderValue(token.AccessToken) {
		err = errors.New("the token has line ends or control characters")
	}
	if err == nil {
		return token, nil
	}
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		text := refused.ErrorCode
		if refused.ErrorDescription != "" {
			text += " (" + spelling.Clip(refused.ErrorDescription, 200) + ")"
		}
		if text == "" {
			text = refused.Response.Status
		}
		return nil, &Error{Code: CodePermission, Message: "the token server refused the client credentials: " + t.api.redact(text), Status: refused.Response.StatusCode}
	}
	return nil, &Error{
		Code: CodeUpstream, Message: "no access token came from the token server: " + t.api.redact(plainCause(err)), Retryable: true, cause: err,
	}
}
