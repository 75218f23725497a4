package openapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// authenticator puts credentials on requests.
type authenticator struct {
	api    *API
	byName map[string]bound // what is configured, by scheme
	always []bound          // credentials for which the document has no scheme
}

// bound is a scheme with its credential.
type bound struct {
	scheme     scheme
	credential Credential
	tokens     *tokens // of OAuth 2
}

func newAuthenticator(a *API) (*authenticator, error) {
	made := &authenticator{api: a, byName: map[string]bound{}}
	for _, name := range sortedKeys(a.config.Auth) {
		credential := a.config.Auth[name]
		if name == "" {
			if err := made.anywhere(credential); err != nil {
				return nil, err
			}
			continue
		}
		s, ok := a.model.Schemes[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("auth %q: the document has no such security scheme; it has %s", name, listOf(sortedKeys(a.model.Schemes)))
		case !credential.fits(s):
			return nil, fmt.Errorf("auth %q: the scheme wants %s", name, s.wants())
		}
		if err := made.bind(name, s, credential); err != nil {
			return nil, fmt.Errorf("auth %q: %w", name, err)
		}
	}
	return made, nil
}

func listOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names[:min(len(names), 20)], ", ")
}

// anywhere binds a credential to all schemes that it fits and that have none of their own.
func (t *authenticator) anywhere(credential Credential) error {
	fits := false
	if credential.Name != "" {
		t.always = append(t.always, bound{scheme: credential.ownScheme(), credential: credential})
		return nil
	}
	for _, name := range sortedKeys(t.api.model.Schemes) {
		s := t.api.model.Schemes[name]
		if _, own := t.api.config.Auth[name]; own || !credential.fits(s) {
			continue
		}
		fits = true
		if err := t.bind(name, s, credential); err != nil {
			return fmt.Errorf("auth: %w", err)
		}
	}
	if fits {
		return nil
	}
	switch {
	case credential.Key != "":
		return fmt.Errorf("auth: the document has no apiKey scheme, so it is unknown where the key belongs: set its name and what it is in")
	case credential.ClientID != "" && credential.TokenURL == "":
		return fmt.Errorf("auth: the document has no OAuth 2 scheme with client credentials: set token_url")
	}
	b, err := t.bound(credential.ownScheme(), credential)
	if err == nil {
		t.always = append(t.always, b)
	}
	return err
}

func (t *authenticator) bind(name string, s scheme, credential Credential) error {
	b, err := t.bound(s, credential)
	t.byName[name] = b
	return err
}

func (t *authenticator) bound(s scheme, credential Credential) (bound, error) {
	b := bound{scheme: s, credential: credential}
	if credential.Name != "" {
		b.scheme = credential.ownScheme()
	}
	if credential.ClientID == "" {
		return b, nil
	}
	var err error
	b.tokens, err = newTokens(t.api, s, credential)
	return b, err
}

// fits says whether a credential is of the kind that a scheme wants.
func (c Credential) fits(s scheme) bool {
	switch s.Type {
	case "apiKey":
		return c.Key != ""
	case "http":
		if s.HTTP == "basic" {
			return c.Username != "" || c.Password != ""
		}
		return c.Bearer != ""
	case "oauth2":
		return c.Bearer != "" || c.ClientID != "" && (s.TokenURL != "" || c.TokenURL != "")
	case "openIdConnect":
		return c.Bearer != "" || c.ClientID != "" && c.TokenURL != ""
	}
	return false
}

// ownScheme is the usual scheme of a credential.
func (c Credential) ownScheme() scheme {
	switch {
	case c.ClientID != "":
		return scheme{Type: "oauth2"}
	case c.Bearer != "":
		return scheme{Type: "http", HTTP: "bearer"}
	case c.Key != "":
		return scheme{Type: "apiKey", In: c.In, Name: c.Name}
	}
	return scheme{Type: "http", HTTP: "basic"}
}

// wants is what a scheme asks an operator for.
func (s scheme) wants() string {
	switch s.Type {
	case "apiKey":
		return "a key (" + s.In + " " + s.Name + ")"
	case "http":
		if s.HTTP == "basic" {
			return "a user name and a password"
		}
		return "a bearer token"
	case "oauth2", "openIdConnect":
		return "an access token (bearer), or a client id and secret for client credentials"
	}
	return "what this program does not have (" + s.Type + ")"
}

// redact takes access tokens out of a text.
func (t *authenticator) redact(text string) string {
	for _, b := range t.all() {
		if b.tokens != nil {
			text = b.tokens.secrets.Load().Text(text)
		}
	}
	return text
}

// all is everything that is configured.
func (t *authenticator) all() []bound {
	list := slices.Clone(t.always)
	for _, name := range sortedKeys(t.byName) {
		list = append(list, t.byName[name])
	}
	return list
}

// schemes are those that have a credential.
func (t *authenticator) schemes() []scheme {
	var list []scheme
	for _, b := range t.all() {
		list = append(list, b.scheme)
	}
	return list
}

// choose gives the credentials for an operation. missing names the schemes that it wants where there are none for it.
func (t *authenticator) choose(op *operation) (chosen []bound, scopes []string, missing []string) {
	alternatives := op.Security
	if alternatives == nil {
		alternatives = t.api.model.Security
	}
	if alternatives == nil {
		return t.unsaid(), nil, nil
	}
	if len(alternatives) == 0 {
		return nil, nil, nil // it says that it wants none
	}
	anonymous := false
	for _, names := range alternatives {
		anonymous = anonymous || len(names) == 0
		all := len(names) > 0
		for name := range names {
			_, there := t.byName[name]
			all = all && there
		}
		if all {
			for _, name := range sortedKeys(names) {
				chosen = append(chosen, t.byName[name])
				scopes = append(scopes, names[name]...)
			}
			return chosen, scopes, nil
		}
	}
	if len(t.always) > 0 || anonymous {
		return t.always, nil, nil
	}
	for _, names := range alternatives {
		missing = append(missing, strings.Join(sortedKeys(names), " + "))
	}
	return nil, nil, missing
}

// unsaid is for documents that do not say what is wanted: where they never do, everything configured is sent.
func (t *authenticator) unsaid() []bound {
	if t.api.model.SecuritySaid {
		return t.always
	}
	return t.all()
}

// apply puts credentials on a request. It gives the access token that it used, if any; stale is one that was refused.
func (t *authenticator) apply(ctx context.Context, request *http.Request, chosen []bound, scopes []string, stale string) (token string, err error) {
	for _, b := range chosen {
		switch {
		case b.tokens != nil:
			if token, err = b.tokens.get(ctx, scopes, stale); err != nil {
				return "", err
			}
			request.Header.Set("Authorization", "Bearer "+token)
		case b.scheme.Type == "apiKey":
			applyKey(request, b.scheme, b.credential.Key)
		case b.credential.Bearer != "":
			request.Header.Set("Authorization", authorizationWord(b.scheme)+" "+b.credential.Bearer)
		default:
			request.Header.Set("Authorization", "Basic "+basic(b.credential.Username, b.credential.Password))
		}
	}
	return token, nil
}

// authorizationWord is the scheme of HTTP that a document names, as digest or token; bearer is the usual one.
func authorizationWord(s scheme) string {
	if s.Type == "http" && s.HTTP != "" && s.HTTP != "bearer" && validHeaderValue(s.HTTP) && !strings.ContainsAny(s.HTTP, " \t") {
		return strings.ToUpper(s.HTTP[:1]) + s.HTTP[1:]
	}
	return "Bearer"
}

func applyKey(request *http.Request, s scheme, key string) {
	switch s.In {
	case "query":
		if request.URL.RawQuery != "" {
			request.URL.RawQuery += "&"
		}
		request.URL.RawQuery += escapeAll(s.Name) + "=" + escapeAll(key)
	case "cookie":
		addCookies(request, []string{s.Name + "=" + escape(key, cookieSafe)})
	default:
		request.Header.Set(s.Name, key)
	}
}

// addCookies adds pairs to the one Cookie header that a request may have.
func addCookies(request *http.Request, pairs []string) {
	if len(pairs) == 0 {
		return
	}
	if before := request.Header.Get("Cookie"); before != "" {
		pairs = append([]string{before}, pairs...)
	}
	request.Header.Set("Cookie", strings.Join(pairs, "; "))
}
