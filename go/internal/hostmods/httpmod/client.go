package httpmod

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Options say how a Client behaves. The zero value grants nothing and is
// otherwise ready for use.
type Options struct {
	Policy       Policy
	Timeout      time.Duration  // of a whole request; 0: 30 s; negative: none
	MaxBody      int64          // of a response after decompression; 0: 10 MiB
	MaxRedirects int            // 0: 10; negative: follow none
	MaxInFlight  int            // requests and open streams at once, others wait; 0: 256
	UserAgent    string         // "": "hukilau"
	RootCAs      *x509.CertPool // nil: the system's
	Resolver     *net.Resolver  // nil: Go's own, with the system's name servers
	// Wrap goes around what sends requests, which has been held against the policy by then. nil: nothing does.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// Client sends requests under one policy, over connections that no other
// Client uses. It is safe for use from many goroutines.
type Client struct {
	opts    Options
	rules   *rules
	dialer  *dialer
	proxies func(*url.URL) (*url.URL, error)
	direct  *http.Transport
	proxied *http.Transport // dials proxies only, so its dials need no check
	slots   chan struct{}
}

// New makes a Client; an error names the entry of the policy that is not valid.
func New(opts Options) (*Client, error) {
	rules, err := opts.Policy.compile()
	if err != nil {
		return nil, err
	}
	opts.fill()
	c := &Client{opts: opts, rules: rules, slots: make(chan struct{}, opts.MaxInFlight)}
	c.dialer = &dialer{rules: rules, resolver: opts.Resolver}
	c.direct = newTransport(opts.RootCAs)
	c.direct.DialContext = c.dialer.guarded
	if opts.Policy.UseProxyEnv {
		c.proxies = envProxies()
		c.proxied = newTransport(opts.RootCAs)
		c.proxied.DialContext = c.dialer.open
		c.proxied.Proxy = proxyFromContext
	}
	return c, nil
}

func (o *Options) fill() {
	orDefault(&o.Timeout, 30*time.Second)
	orDefault(&o.MaxBody, 10<<20)
	orDefault(&o.MaxRedirects, 10)
	orDefault(&o.MaxInFlight, 256)
	orDefault(&o.UserAgent, "hukilau")
	if o.Resolver == nil {
		o.Resolver = newResolver()
	}
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// maxResponseHeader is how large the head of a response may be.
const maxResponseHeader = 256 << 10

func newTransport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // undone here, under the limit
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    64, // a script that maps over a list keeps as many busy
		IdleConnTimeout:        60 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: 256 << 10},
	}
}

// sender is what sends over a transport.
func (c *Client) sender(t *http.Transport) http.RoundTripper {
	if c.opts.Wrap == nil {
		return t
	}
	return c.opts.Wrap(t)
}

// CloseIdle closes the connections that no request uses. The Client stays
// usable.
func (c *Client) CloseIdle() {
	c.direct.CloseIdleConnections()
	if c.proxied != nil {
		c.proxied.CloseIdleConnections()
	}
}

// Do sends r and returns the whole response. Every error is an *Error. What the
// response holds stays charged to r.Memory until Response.Release.
func (c *Client) Do(ctx context.Context, r *Request) (*Response, error) {
	if r.MaxBody < 0 {
		return nil, invalid("a body that is read whole needs a size limit")
	}
	s, err := c.open(ctx, ctx, r)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	body, err := s.readAll()
	if err != nil {
		return nil, s.fail(err)
	}
	return &Response{Status: s.Status, Proto: s.Proto, Header: s.Header, URL: s.URL, Body: body, account: s.account.hand()}, nil
}

// Open sends r and returns as soon as the head of the response is there. The
// timeout covers that part; after it each wait for more bytes may take
// r.IdleTimeout. Every error is an *Error. Opening ends with ctx; the stream ends
// with life, or with Close.
func (c *Client) Open(ctx, life context.Context, r *Request) (*Stream, error) {
	s, err := c.open(ctx, life, r)
	if err != nil {
		return nil, err
	}
	s.goIdle(r.IdleTimeout, c.opts.Timeout)
	return s, nil
}
