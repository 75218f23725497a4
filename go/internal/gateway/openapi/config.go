package openapi

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/hukilau/hukilau/go/internal/redact"
)

// Config is one API, as an operator configures it.
type Config struct {
	Name string
	Spec string // path or URL of the document
	// BaseURL takes the place of all servers that the document names. "" takes those: credentials go where the document
	// says.
	BaseURL string
	// Auth are credentials by the name of the security scheme that they are for. The name "" is for whatever scheme
	// they fit.
	Auth map[string]Credential
	// Headers are sent with each call, and with the request for the document where BaseURL has its origin. A parameter
	// of the same name is hidden from scripts.
	Headers map[string]string
	// ServerVariables are values for the variables in the addresses of servers; the rest have their defaults.
	ServerVariables map[string]string
	// Include says which operations there are, Exclude takes some of them away. The zero Include is all.
	Include, Exclude Selection
}

// Selection is a set of operations: those that one of its lists names. They are patterns as of package config.
type Selection struct {
	Tags       []string
	Paths      []string // "/pets/*", or with a method: "GET /pets/*"
	Operations []string // by operationId, or by the name of the function
}

// Credential is what proves who calls. Exactly one kind of it is set.
type Credential struct {
	Key string // for an apiKey scheme
	// In is header, query or cookie, and Name what Key stands under there: for a document that does not say so, in place
	// of what it says. "" is as the document says.
	In, Name string

	Bearer             string // for http bearer; an access token for oauth2 and openIdConnect
	Username, Password string // for http basic

	// For the client credentials of OAuth 2.
	ClientID, ClientSecret string
	TokenURL               string   // "" is the document's
	Scopes                 []string // nil are those that the called operation asks for
}

// Options are what an API stands on. The zero value reaches the network and no files.
type Options struct {
	// ReadFile reads a file in a folder; name is local to it, with slashes. Links that lead out of the folder are to be
	// errors. nil reads no files.
	ReadFile func(folder, name string) ([]byte, error)
	// HTTP is how servers are reached. nil is a transport of the API's own, as http.DefaultTransport but for its many
	// kept connections: scripts call in parallel.
	HTTP http.RoundTripper
	// MaxSpec bounds the documents of one API together, in bytes; 0 is 64 MiB.
	MaxSpec int64
	// MaxResponse bounds the body of one response, in bytes, as it is after decompression; 0 is 16 MiB.
	MaxResponse int64
	// CacheRead gives what CacheWrite stored under a key, or nil. nil of either caches nothing.
	CacheRead  func(key string) []byte
	CacheWrite func(key string, text []byte)
	// UserAgent is sent with requests; "" is "hukilau".
	UserAgent string
	// Logger hears of what is wrong in a document and of requests made again. nil is silent.
	Logger *slog.Logger
	// Redact takes more secrets out of errors than the configuration's own. nil takes out none.
	Redact func(string) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

const (
	defaultMaxSpec     = 64 << 20
	defaultMaxResponse = 16 << 20
)

func (o Options) withDefaults() Options {
	if o.MaxSpec <= 0 {
		o.MaxSpec = defaultMaxSpec
	}
	if o.MaxResponse <= 0 {
		o.MaxResponse = defaultMaxResponse
	}
	if o.UserAgent == "" {
		o.UserAgent = "hukilau"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// check finds what is wrong with a configuration before anything is read.
func (c *Config) check() error {
	if c.Spec == "" {
		return fmt.Errorf("no document: set spec to the path or the URL of an OpenAPI document")
	}
	if c.BaseURL != "" {
		if _, err := parseServer(c.BaseURL); err != nil {
			return fmt.Errorf("base_url: %w", err)
		}
	}
	for name, value := range c.Headers {
		if err := checkHeader(name, value); err != nil {
			return fmt.Errorf("headers: %w", err)
		}
	}
	for name, credential := range c.Auth {
		if err := credential.check(); err != nil {
			return fmt.Errorf("auth %q: %w", name, err)
		}
	}
	return nil
}

// ownHeaders are written by the client itself.
var ownHeaders = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Trailer", "Te", "Upgrade", "Proxy-Connection", "Keep-Alive"}

func checkHeader(name, value string) error {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return fmt.Errorf("%q is no name of a header", name)
	case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
		return fmt.Errorf("the header %s cannot be set: the client writes it", http.CanonicalHeaderKey(name))
	case !validHeaderValue(value):
		return fmt.Errorf("the value of the header %s has line ends or control characters", http.CanonicalHeaderKey(name))
	}
	return nil
}

func validHeaderValue(text string) bool { return httpguts.ValidHeaderFieldValue(text) }

func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

func (c Credential) check() error {
	kinds := 0
	for _, there := range []bool{c.Key != "", c.Bearer != "", c.Username != "" || c.Password != "", c.ClientID != "" || c.ClientSecret != ""} {
		if there {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return fmt.Errorf("it is empty: set a key, a bearer token, a user name and password, or a client id and secret")
	case kinds > 1:
		return fmt.Errorf("it has several kinds of credentials: keep one")
	case (c.ClientID == "") != (c.ClientSecret == ""):
		return fmt.Errorf("client_id and client_secret go together")
	case strings.Contains(c.Username, ":"):
		return fmt.Errorf("a user name of http basic has no colon")
	case c.Name != "" && !slices.Contains([]string{"header", "query", "cookie"}, c.In):
		return fmt.Errorf("a key stands in header, query or cookie, not in %q", c.In)
	case c.Name != "" && c.In != "query" && !httpguts.ValidHeaderFieldName(c.Name):
		return fmt.Errorf("%q is no name of a header or a cookie", c.Name)
	case !validHeaderValue(c.Key + c.Bearer):
		return fmt.Errorf("it has line ends or control characters")
	}
	if c.TokenURL != "" {
		if u, err := url.Parse(c.TokenURL); err != nil || u.Host == "" {
			return fmt.Errorf("token_url is no URL")
		}
	}
	return nil
}

// secrets are the texts that nobody may see.
func (c *Config) secrets() []string {
	var list []string
	for _, credential := range c.Auth {
		list = append(list, credential.Key, credential.Bearer, credential.Password, credential.ClientSecret)
		if credential.Password != "" {
			list = append(list, basic(credential.Username, credential.Password))
		}
	}
	for name, value := range c.Headers {
		if redact.SecretName(name) {
			list = append(list, value)
			if _, token, ok := strings.Cut(value, " "); ok { // "Bearer x"
				list = append(list, token)
			}
		}
	}
	return list
}
