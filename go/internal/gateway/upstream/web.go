package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// web is what both transports over HTTP have in common: one server, its headers, who we are, and where requests may
// be redirected to.
type web struct {
	client    *http.Client
	own       *http.Transport // nil: somebody else's
	headers   map[string]string
	authorize Authorizer
	name      string
	max       int
}

func newWeb(c Config, o Options, max int) *web {
	w := &web{headers: c.Headers, authorize: o.Authorize, name: c.Name, max: max}
	next := o.HTTP
	if next == nil {
		w.own = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
		}
		next = w.own
	}
	w.client = &http.Client{Transport: next, CheckRedirect: sameHost}
	return w
}

func (w *web) close() {
	if w.own != nil {
		w.own.CloseIdleConnections()
	}
}

// sameHost follows redirects within a host. Others would carry headers and arguments to somebody else.
func sameHost(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	upgraded := from.Scheme == "http" && to.URL.Scheme == "https" && from.Hostname() == to.URL.Hostname()
	if len(via) > 5 || !upgraded && !sameOrigin(from, to.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

// do sends a request, with a proof of who we are that may be renewed once. sent hears that the server may have seen
// it.
func (w *web) do(ctx context.Context, method, to string, body []byte, header http.Header, sent func()) (*http.Response, *Error) {
	for again := false; ; again = true {
		proof, failed := w.proof(ctx)
		if failed != nil {
			return nil, failed
		}
		r, err := w.once(ctx, method, to, body, header, proof, sent)
		if err != nil {
			return nil, err
		}
		scopes, wanting := insufficient(r)
		switch {
		case wanting && w.authorize != nil:
			if w.authorize.Wanting(ctx, proof, scopes) && !again {
				break
			}
			drop(r)
			return nil, &Error{Code: CodeUnauthorized, Status: r.StatusCode, unsent: true,
				Message: fmt.Sprintf("it wants more rights than the login has: run `luau gateway login %s` again", w.name)}
		case r.StatusCode != http.StatusUnauthorized:
			return r, nil
		case again || w.authorize == nil || !w.authorize.Refused(ctx, proof):
			return nil, w.unauthorized(r)
		}
		drop(r)
	}
}

// insufficient says whether a server refuses for want of rights which a login can give, and which it names.
func insufficient(r *http.Response) (scopes []string, wanting bool) {
	if r.StatusCode != http.StatusForbidden {
		return nil, false
	}
	challenges, err := oauthex.ParseWWWAuthenticate(r.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, false
	}
	for _, c := range challenges {
		if c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
			return strings.Fields(c.Params["scope"]), true
		}
	}
	return nil, false
}

// proof is the header that says who we are.
func (w *web) proof(ctx context.Context) (string, *Error) {
	if w.authorize == nil {
		return "", nil
	}
	proof, err := w.authorize.Authorization(ctx)
	if err != nil {
		return "", &Error{Code: CodeUnauthorized, Message: fmt.Sprintf("%v: run `luau gateway login %s`", err, w.name), cause: err, unsent: true}
	}
	return proof, nil
}

func (w *web) once(ctx context.Context, method, to string, body []byte, header http.Header, proof string, sent func()) (*http.Response, *Error) {
	var wrote atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() {
		wrote.Store(true)
		if sent != nil {
			sent()
		}
	}})
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(traced, method, to, content)
	if err != nil {
		return nil, &Error{Code: CodeUnavailable, Message: "the url is not usable", unsent: true}
	}
	for name, value := range w.headers {
		req.Header.Set(name, value)
	}
	if proof != "" {
		req.Header.Set("Authorization", proof)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	r, err := w.client.Do(req)
	if err != nil {
		return nil, unreachable(ctx, err, !wrote.Load())
	}
	if r.StatusCode >= 300 && r.StatusCode < 400 {
		return nil, redirected(r)
	}
	return r, nil
}

// unreachable is about a request without an answer. The URL, which may hold a secret, is not shown.
func unreachable(ctx context.Context, err error, unsent bool) *Error {
	if ctx.Err() != nil {
		e := stopped(ctx)
		e.unsent = unsent
		return e
	}
	code := CodeLost
	if unsent {
		code = CodeUnavailable
	}
	return &Error{Code: code, Message: "the server cannot be reached: " + problem(err), cause: err, unsent: unsent, broken: true}
}

// problem is what a network says, without addresses: whoever calls knows the server by its name.
func problem(err error) string {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return shown(err.Error())
}

func redirected(r *http.Response) *Error {
	drop(r)
	to := "another host"
	if u, err := r.Location(); err == nil {
		to = u.Scheme + "://" + u.Host + u.Path
	}
	return &Error{Code: CodeUnavailable, Status: r.StatusCode, unsent: true,
		Message: fmt.Sprintf("the server redirects to %s, which is not followed: set url to where it is", shown(to))}
}

func (w *web) unauthorized(r *http.Response) *Error {
	drop(r)
	message := fmt.Sprintf("it wants to know who we are: run `luau gateway login %s`, or set its headers", w.name)
	if w.authorize == nil && w.headers["Authorization"] != "" {
		message = "it does not take the Authorization header that is configured"
	}
	return &Error{Code: CodeUnauthorized, Status: r.StatusCode, Message: message, unsent: true}
}

// drop gives a response up, so that its connection can be used again.
func drop(r *http.Response) {
	_, _ = io.CopyN(io.Discard, r.Body, 64<<10)
	_ = r.Body.Close()
}

// readAll reads a body within bounds.
func readAll(r *http.Response, most int) ([]byte, error) {
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	if err == nil && len(text) > most {
		return nil, errTooLong
	}
	return text, err
}

// mediaType is the type of a body, without its parameters.
func mediaType(r *http.Response) string {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return media
}

// failedStatus is about a response that is no success.
func failedStatus(r *http.Response, body []byte) *Error {
	e := &Error{Code: CodeUpstream, Status: r.StatusCode, unsent: r.StatusCode < 500}
	e.Message = fmt.Sprintf("it answered with HTTP status %d", r.StatusCode)
	switch said := strings.TrimSpace(string(body)); {
	case mediaType(r) == "text/html":
		e.Message += " and a page for people: check the url"
	case said != "":
		e.Message += ": " + shown(said)
	}
	switch r.StatusCode {
	case http.StatusForbidden:
		e.Code = CodePermission
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		e.Code = CodeUnavailable
		e.Message += ": check url and transport"
	case http.StatusTooManyRequests:
		e.Retryable = true
		if after := r.Header.Get("Retry-After"); after != "" {
			e.Message += ", to be tried again after " + shown(after)
		}
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		e.Code = CodeUnavailable
	}
	return e
}
