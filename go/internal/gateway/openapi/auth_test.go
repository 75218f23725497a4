package openapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const secured = head + `
security: [{key: []}, {basic: []}]
paths:
  /plain: {get: {operationId: plain}}
  /none: {get: {operationId: none, security: []}}
  /either: {get: {operationId: either, security: [{cookie: [], query: []}, {bearer: []}]}}
  /maybe: {get: {operationId: maybe, security: [{}, {bearer: []}]}}
  /param:
    get:
      operationId: param
      parameters: [{name: x-key, in: header, required: true, schema: {type: string}}, {name: q, in: query, schema: {type: string}}]
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    query: {type: apiKey, in: query, name: api key}
    cookie: {type: apiKey, in: cookie, name: sid}
    basic: {type: http, scheme: Basic}
    bearer: {type: http, scheme: bearer}
`

func with(auth map[string]Credential) func(*Config, *Options) {
	return func(c *Config, _ *Options) { c.Auth = auth }
}

func TestSecuritySchemes(t *testing.T) {
	r := record(t)
	for _, test := range []struct {
		name, function string
		auth           map[string]Credential
		want           string // target, then the headers that matter
	}{
		{"the first alternative that is configured", "plain", map[string]Credential{"basic": {Username: "u", Password: "pass:word"}}, "/plain Authorization=Basic dTpwYXNzOndvcmQ="},
		{"order of the document", "plain", map[string]Credential{"basic": {Username: "u"}, "key": {Key: "k1"}}, "/plain X-Key=k1"},
		{"an operation that wants none", "none", map[string]Credential{"key": {Key: "k1"}}, "/none"},
		{"all of an alternative", "either", map[string]Credential{"cookie": {Key: "c;1"}, "query": {Key: "q&1"}, "bearer": {Bearer: "b1"}}, "/either?api%20key=q%261 Cookie=sid=c%3B1"},
		{"not half of one", "either", map[string]Credential{"cookie": {Key: "c1"}, "bearer": {Bearer: "b1"}}, "/either Authorization=Bearer b1"},
		{"anonymous where nothing fits", "maybe", map[string]Credential{"key": {Key: "k1"}}, "/maybe"},
		{"not anonymous where something does", "maybe", map[string]Credential{"bearer": {Bearer: "b1"}}, "/maybe Authorization=Bearer b1"},
		{"without a name", "maybe", map[string]Credential{"": {Bearer: "b1"}}, "/maybe Authorization=Bearer b1"},
		{"a named one goes before", "plain", map[string]Credential{"": {Key: "any"}, "key": {Key: "k1"}}, "/plain X-Key=k1"},
		{"nothing", "plain", nil, "/plain"},
	} {
		call(t, spec(t, r, secured, with(test.auth)), test.function, nil, nil)
		target, header, _ := r.last(t)
		for _, name := range []string{"Authorization", "Cookie", "X-Key"} {
			if value := header.Get(name); value != "" {
				target += " " + name + "=" + value
			}
		}
		require.Equal(t, test.want, target, test.name)
	}
}

// What the configuration gives is no parameter.
func TestGivenParametersAreHidden(t *testing.T) {
	r := record(t)
	a := spec(t, r, secured, with(map[string]Credential{"key": {Key: "k1"}}))
	for _, f := range a.Source().Functions {
		if f.Name == "param" {
			require.Equal(t, []string{"q"}, sortedKeys(f.Params["properties"].(table)))
			require.Nil(t, f.Params["required"])
		}
	}
	call(t, a, "param", table{"q": "1"}, nil)
	_, header, _ := r.last(t)
	require.Equal(t, "k1", header.Get("X-Key"))
	require.ErrorContains(t, fails(t, a, "param", table{"x-key": "mine"}, nil), "there is no parameter")

	a = spec(t, r, secured, func(c *Config, _ *Options) { c.Headers = map[string]string{"x-KEY": "h1", "X-Version": "2"} })
	call(t, a, "param", nil, nil)
	_, header, _ = r.last(t)
	require.Equal(t, "h1", header.Get("X-Key"))
	require.Equal(t, "2", header.Get("X-Version"))
}

// A document that names no schemes, as GitHub's, gets its credentials with each call.
func TestDocumentsWithoutSecurity(t *testing.T) {
	r := record(t)
	call(t, spec(t, r, plainGet, with(map[string]Credential{"": {Bearer: "b1"}})), "get", nil, nil)
	_, header, _ := r.last(t)
	require.Equal(t, "Bearer b1", header.Get("Authorization"))
	call(t, spec(t, r, plainGet+"\ncomponents: {securitySchemes: {k: {type: apiKey, in: header, name: K}}}", with(map[string]Credential{"k": {Key: "k1"}})), "get", nil, nil)
	_, header, _ = r.last(t)
	require.Equal(t, "k1", header.Get("K"))
}

// An operator may say where a key belongs.
func TestKeysWithAPlace(t *testing.T) {
	r := record(t)
	for _, test := range []struct {
		document, function string
		auth               map[string]Credential
		want               string
	}{
		{plainGet, "get", map[string]Credential{"": {Key: "k 1", In: "query", Name: "key"}}, "/?key=k%201 "},
		{plainGet, "get", map[string]Credential{"": {Key: "k1", In: "cookie", Name: "sid"}}, "/ sid=k1"},
		{secured, "plain", map[string]Credential{"": {Key: "k1", In: "query", Name: "key"}}, "/plain?key=k1 "},
		{secured, "plain", map[string]Credential{"key": {Key: "k1", In: "query", Name: "other"}}, "/plain?other=k1 "},
	} {
		call(t, spec(t, r, test.document, with(test.auth)), test.function, nil, nil)
		target, header, _ := r.last(t)
		require.Equal(t, test.want, target+" "+header.Get("Cookie"))
		require.Empty(t, header.Get("X-Key"))
	}
}

func TestWrongCredentials(t *testing.T) {
	for _, test := range []struct {
		auth map[string]Credential
		want string
	}{
		{map[string]Credential{"kay": {Key: "k"}}, `auth "kay": the document has no such security scheme; it has basic, bearer, cookie, key, query`},
		{map[string]Credential{"key": {Bearer: "k"}}, `auth "key": the scheme wants a key (header X-Key)`},
		{map[string]Credential{"key": {}}, "it is empty"},
		{map[string]Credential{"key": {Key: "a", Bearer: "b"}}, "several kinds"},
		{map[string]Credential{"key": {Key: "a\r\nb"}}, "control characters"},
		{map[string]Credential{"": {Key: "a", In: "body", Name: "b"}}, "header, query or cookie"},
		{map[string]Credential{"": {Key: "a", In: "header", Name: "b c"}}, "no name of a header"},
		{map[string]Credential{"basic": {Username: "a:b"}}, "no colon"},
		{map[string]Credential{"": {ClientID: "a"}}, "client_id and client_secret go together"},
		{map[string]Credential{"": {ClientID: "a", ClientSecret: "b"}}, "set token_url"},
	} {
		_, err := load(t, secured, with(test.auth))
		require.ErrorContains(t, err, test.want)
	}
}

func TestAHintWhereCredentialsAreMissing(t *testing.T) {
	r := record(t, answer("401 Unauthorized", "", ""))
	require.Equal(t, "shop.either: the server answered 401 Unauthorized; this call needs the security scheme cookie + query, or bearer: set auth",
		fails(t, spec(t, r, secured), "either", nil, nil).Error())
}

// Servers repeat what they are sent, and errors of connections name addresses.
func TestSecretsAreNotInErrors(t *testing.T) {
	auth := map[string]Credential{"cookie": {Key: "cookie-secret"}, "query": {Key: "query secret"}, "basic": {Username: "u", Password: "pass-secret"}}
	all := func(c *Config, o *Options) {
		c.Auth, c.Headers = auth, map[string]string{"X-Token": "header-secret"}
		o.Redact = func(text string) string { return strings.ReplaceAll(text, "global-secret", "[redacted]") }
	}
	echo := `{"title":"no query secret","detail":"Basic dTpwYXNzLXNlY3JldA== pass-secret header-secret cookie-secret global-secret","url":"/?k=query%20secret"}`
	for _, text := range []string{answer("400 Bad Request", "application/json", echo), answer("400 Bad Request", "text/plain", echo), answer("200 OK", "application/json", echo[1:]), "", "garbage query secret\r\n\r\n"} {
		for _, function := range []string{"either", "plain"} {
			failed := fails(t, spec(t, record(t, text), secured, all), function, nil, nil)
			shown := fmt.Sprintf("%v %+v", failed, failed)
			if failed.Response != nil {
				shown += failed.Response.Text + string(failed.Response.JSON)
			}
			require.NotContains(t, shown, "secret", text)
			require.NotContains(t, shown, "dTpwYXNzLXNlY3JldA", text)
		}
	}
}

// hosts are servers by name, on one transport.
type hosts map[string]func(*http.Request) (status int, header http.Header, body string)

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	serve, ok := h[r.URL.Scheme+"://"+r.URL.Host]
	if !ok {
		return nil, fmt.Errorf("no host %s", r.URL.Host)
	}
	status, header, body := serve(r)
	return &http.Response{StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Header: header,
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func redirect(status int, to string) func(*http.Request) (int, http.Header, string) {
	return func(*http.Request) (int, http.Header, string) { return status, http.Header{"Location": {to}}, "" }
}

func TestCredentialsDoNotFollowRedirects(t *testing.T) {
	const document = head + `
security: [{key: [], query: [], bearer: []}]
paths:
  /: {get: {operationId: get, parameters: [{name: X-Param, in: header}, {name: c, in: cookie}]}, post: {operationId: post, requestBody: {content: {application/json: {}}}}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    query: {type: apiKey, in: query, name: key}
    bearer: {type: http, scheme: bearer}
`
	run := func(first func(*http.Request) (int, http.Header, string), function string, other string) (seen []*http.Request, err error) {
		last := func(r *http.Request) (int, http.Header, string) {
			seen = append(seen, r)
			return 204, http.Header{}, ""
		}
		network := hosts{other: last, "https://api.example.com": func(r *http.Request) (int, http.Header, string) {
			if r.URL.Path == "/final" {
				return last(r)
			}
			return first(r)
		}}
		a := spec(t, nil, document, func(c *Config, o *Options) {
			c.BaseURL, o.HTTP = "https://api.example.com", network
			c.Auth = map[string]Credential{"key": {Key: "k1"}, "query": {Key: "q1"}, "bearer": {Bearer: "b1"}}
			c.Headers = map[string]string{"X-Configured": "c1"}
		})
		var params map[string]any
		var body any = table{}
		if function == "get" {
			params, body = table{"X-Param": "p", "c": "v"}, nil
		}
		_, err = a.Call(t.Context(), function, params, body)
		return seen, err
	}
	for _, other := range []string{"https://evil.example.com", "https://sub.api.example.com", "http://api.example.com", "https://api.example.com:8443"} {
		seen, err := run(redirect(302, other+"/x"), "get", other)
		require.NoError(t, err, other)
		require.Len(t, seen, 1, other)
		require.Equal(t, "/x", seen[0].URL.RequestURI())
		require.Equal(t, []string{"Accept", "User-Agent"}, sortedKeys(seen[0].Header), other)

		seen, err = run(redirect(307, other+"/x"), "post", other)
		require.ErrorContains(t, err, "does not follow to another server", other)
		require.Empty(t, seen, other)
	}
	seen, err := run(redirect(301, "/final"), "get", "")
	require.NoError(t, err)
	require.Equal(t, []string{"k1", "Bearer b1", "c1", "p", "c=v", ""}, []string{
		seen[0].Header.Get("X-Key"), seen[0].Header.Get("Authorization"), seen[0].Header.Get("X-Configured"), seen[0].Header.Get("X-Param"),
		seen[0].Header.Get("Cookie"), seen[0].Header.Get("Referer")})
	seen, err = run(redirect(307, "/final"), "post", "")
	require.NoError(t, err)
	require.Equal(t, http.MethodPost, seen[0].Method)
	_, err = run(redirect(302, "/again"), "get", "")
	require.ErrorContains(t, err, "redirects more than 10 times")
	_, err = run(redirect(302, "file:///etc/passwd"), "get", "")
	require.Error(t, err)
	_, err = run(redirect(302, ""), "get", "")
	require.ErrorContains(t, err, "without an address that could be followed")
}

const oauthDocument = head + `
security: [{o: [read]}]
paths: {/: {get: {operationId: get}, post: {operationId: post, security: [{o: [write, read]}]}}}
components: {securitySchemes: {o: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'TOKENS', scopes: {}}}}}}
`

// tokenServer gives tokens of an hour.
type tokenServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	status   int
	body     string
}

func newTokenServer(t *testing.T) *tokenServer {
	s := &tokenServer{status: 200}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		user, password, _ := r.BasicAuth()
		s.requests = append(s.requests, user+":"+password+" "+r.FormValue("grant_type")+" "+r.FormValue("scope"))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		body := s.body
		if body == "" {
			body = fmt.Sprintf(`{"access_token":"token-%d","token_type":"bearer","expires_in":3600}`, len(s.requests))
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestOAuthClientCredentials(t *testing.T) {
	tokens := newTokenServer(t)
	r := record(t)
	now := time.Now()
	a := spec(t, r, strings.Replace(oauthDocument, "TOKENS", tokens.URL, 1), func(c *Config, o *Options) {
		c.Auth = map[string]Credential{"": {ClientID: "client", ClientSecret: "client-secret"}}
		o.Now = func() time.Time { return now }
	})
	sentToken := func() string {
		_, header, _ := r.last(t)
		return header.Get("Authorization")
	}
	call(t, a, "get", nil, nil)
	require.Equal(t, "Bearer token-1", sentToken())
	require.Equal(t, []string{"client:client-secret client_credentials read"}, tokens.requests)
	call(t, a, "get", nil, nil)
	require.Equal(t, "Bearer token-1", sentToken())
	call(t, a, "post", nil, nil)
	require.Equal(t, "Bearer token-2", sentToken(), "other scopes")
	require.Equal(t, "client:client-secret client_credentials read write", tokens.requests[1])
	now = now.Add(time.Hour)
	call(t, a, "get", nil, nil)
	require.Equal(t, "Bearer token-3", sentToken(), "the first one has ended")
}

func TestOAuthTokenThatIsRefused(t *testing.T) {
	tokens := newTokenServer(t)
	load := func(r *recorder) *API {
		return spec(t, r, strings.Replace(oauthDocument, "TOKENS", tokens.URL, 1), with(map[string]Credential{"o": {ClientID: "client", ClientSecret: "client-secret", Scopes: []string{"all"}}}))
	}
	r := record(t, answer("401 Unauthorized", "", ""), noContent)
	call(t, load(r), "post", nil, nil)
	require.Len(t, r.requests(), 2)
	_, header, _ := r.last(t)
	require.Equal(t, "Bearer token-2", header.Get("Authorization"))
	require.Contains(t, tokens.requests[0], "client_credentials all")

	r = record(t, answer("401 Unauthorized", "", ""))
	require.Equal(t, CodePermission, fails(t, load(r), "post", nil, nil).Code)
	require.Len(t, r.requests(), 2, "once more, not again and again")
}

func TestOAuthFailures(t *testing.T) {
	tokens := newTokenServer(t)
	r := record(t)
	auth := with(map[string]Credential{"o": {ClientID: "client", ClientSecret: "client-secret"}})
	a := spec(t, r, strings.Replace(oauthDocument, "TOKENS", tokens.URL, 1), auth)
	tokens.status, tokens.body = 400, `{"error":"invalid_client","error_description":"client-secret is wrong"}`
	failed := fails(t, a, "get", nil, nil)
	require.Equal(t, CodePermission, failed.Code)
	require.Equal(t, "the token server refused the client credentials: invalid_client ([redacted] is wrong)", failed.Message)
	tokens.status, tokens.body = 200, `{"access_token":"a\r\nb"}`
	require.Contains(t, fails(t, a, "get", nil, nil).Message, "control characters")
	tokens.status, tokens.body = 200, `<html>`
	require.Contains(t, fails(t, a, "get", nil, nil).Message, "no access token came")
	require.Empty(t, r.requests(), "nothing is sent without a token")

	_, err := load(t, strings.Replace(oauthDocument, "TOKENS", "http://tokens.example.com", 1), auth)
	require.ErrorContains(t, err, "which is not https: set token_url")
	_, err = load(t, strings.Replace(oauthDocument, "TOKENS", "http://tokens.example.com", 1), with(map[string]Credential{"o": {ClientID: "client", ClientSecret: "client-secret", TokenURL: "http://tokens.example.com"}}))
	require.NoError(t, err, "an operator may say so")
}

// The secret is not sent where the token server leads to.
func TestOAuthRedirects(t *testing.T) {
	var seen []string
	a := spec(t, nil, strings.Replace(oauthDocument, "TOKENS", "https://tokens.example.com/t", 1), func(c *Config, o *Options) {
		c.Auth = map[string]Credential{"": {ClientID: "client", ClientSecret: "client-secret"}}
		o.HTTP = hosts{
			"https://tokens.example.com": redirect(307, "https://evil.example.com/"),
			"https://evil.example.com": func(r *http.Request) (int, http.Header, string) {
				seen = append(seen, r.URL.Host)
				return 200, http.Header{}, ""
			},
		}
	})
	require.Contains(t, fails(t, a, "get", nil, nil).Message, "the token server redirects")
	require.Empty(t, seen)
}

// An access token is a secret, too, which no configuration names.
func TestOAuthTokensAreNotInErrors(t *testing.T) {
	tokens := newTokenServer(t)
	r := record(t, answer("400 Bad Request", "text/plain", "what is token-1?", "X-Echo: Bearer token-1"))
	a := spec(t, r, strings.Replace(oauthDocument, "TOKENS", tokens.URL, 1), with(map[string]Credential{"": {ClientID: "client", ClientSecret: "client-secret"}}))
	failed := fails(t, a, "get", nil, nil)
	require.Equal(t, "the server answered 400 Bad Request: what is [redacted]?", failed.Message)
	require.Equal(t, "what is [redacted]?", failed.Response.Text)
	require.Equal(t, "Bearer [redacted]", failed.Response.Headers.Get("X-Echo"))
}

func TestCredentialsInPlainText(t *testing.T) {
	warnings := func(address string) []string {
		return spec(t, nil, secured, with(map[string]Credential{"key": {Key: "k1"}}), func(c *Config, _ *Options) { c.BaseURL = address }).Warnings()
	}
	require.Equal(t, []string{"credentials go to api.example.com without encryption: set base_url to its https address"}, warnings("http://api.example.com"))
	require.Empty(t, warnings("https://api.example.com"))
	require.Empty(t, warnings("http://127.0.0.1:9"))
}

// Calls that start together ask for one token.
func TestOAuthTogether(t *testing.T) {
	tokens := newTokenServer(t)
	r := record(t)
	a := spec(t, r, strings.Replace(oauthDocument, "TOKENS", tokens.URL, 1), with(map[string]Credential{"": {ClientID: "client", ClientSecret: "client-secret"}}))
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { _, _ = a.Call(t.Context(), "get", nil, nil) })
	}
	wait.Wait()
	require.Len(t, r.requests(), 20)
	require.Len(t, tokens.requests, 1)
}
