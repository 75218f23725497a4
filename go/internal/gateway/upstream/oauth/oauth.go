// Package oauth proves to MCP servers who we are, by OAuth 2.1: a person logs in once with their browser, and the
// grant is kept, used and renewed. How a server says whom it trusts, and how a client is made known there, is the work
// of the SDK.
package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// Grant is what a login has given: the right to use one server, and what is needed to renew it.
type Grant struct {
	URL          string           `json:"url"` // of the MCP server; it is shown to no other
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	TokenURL     string           `json:"token_url"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Scopes       []string         `json:"scopes,omitempty"`
	Access       string           `json:"access_token"`
	Refresh      string           `json:"refresh_token,omitempty"`
	Type         string           `json:"token_type,omitempty"`
	Expiry       time.Time        `json:"expiry,omitzero"`
	Wanted       []string         `json:"wanted,omitempty"` // scopes that the server has asked for since
}

func newGrant(url string, c *oauth2.Config, t *oauth2.Token) *Grant {
	g := &Grant{
		URL: url, ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL,
		AuthStyle: c.Endpoint.AuthStyle, Scopes: c.Scopes,
	}
	g.take(t)
	return g
}

// take takes what a token says. A server that gives no new right to renew leaves the old one.
func (g *Grant) take(t *oauth2.Token) {
	g.Access, g.Type, g.Expiry = t.AccessToken, t.Type(), t.Expiry
	if t.RefreshToken != "" {
		g.Refresh = t.RefreshToken
	}
}

// header is the value of the Authorization header.
func (g *Grant) header() string {
	if g == nil || g.Access == "" {
		return ""
	}
	return g.Type + " " + g.Access
}

// renewed asks for a new token.
func (g *Grant) renewed(ctx context.Context, client *http.Client) (*Grant, error) {
	config := oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.AuthStyle},
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: g.Refresh}).Token()
	if err != nil {
		return nil, plain(err)
	}
	n := *g
	n.take(token)
	return &n, nil
}

// plain is an error without the body of the answer, in which there may be anything.
func plain(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.ErrorCode != "":
		return fmt.Errorf("the authorization server says %.100q", refused.ErrorCode)
	case refused.Response != nil:
		return fmt.Errorf("the authorization server answered with HTTP status %d", refused.Response.StatusCode)
	}
	return errors.New("the authorization server refused")
}

// Store keeps grants by the names of servers.
type Store interface {
	Load(name string) (*Grant, error) // nil and no error where there is none
	Save(name string, g *Grant) error
	Delete(name string) error
}

func decode(text []byte) (*Grant, error) {
	var g Grant
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, errors.New("what is kept is no grant: log in again")
	}
	return &g, nil
}

// client is an HTTP client for authorization servers. Redirects of requests that carry secrets are not followed.
func client(next http.RoundTripper) *http.Client {
	return &http.Client{Transport: next, Timeout: 30 * time.Second, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if via[0].Method != http.MethodGet || len(via) > 5 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}
