package httpmod

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// open sends a request, follows its redirects and returns the last response with
// its timer still running. All that ends with opening; what is open, with life only.
func (c *Client) open(opening, life context.Context, r *Request) (*Stream, error) {
	h, err := newHop(r, c.opts.UserAgent)
	if err != nil {
		return nil, asError(opening, err)
	}
	ctx, cancel := context.WithCancelCause(life)
	if opening != life {
		defer context.AfterFunc(opening, func() { cancel(context.Cause(opening)) })()
	}
	s := &Stream{ctx: ctx, cancel: cancel, client: c, account: &ledger{mem: r.Memory}}
	s.startTimer(pick(r.Timeout, c.opts.Timeout))
	if err := c.acquire(s); err != nil {
		s.Close()
		return nil, asError(ctx, err).at(h.method, h.url)
	}
	resp, last, err := c.follow(ctx, h, pick(r.MaxRedirects, c.opts.MaxRedirects))
	if err == nil {
		err = s.adopt(resp, last, pick(r.MaxBody, c.opts.MaxBody))
	}
	if err != nil {
		failure := asError(ctx, err).at(last.method, last.url)
		s.Close()
		return nil, failure
	}
	return s, nil
}

func pick[T int | int64 | time.Duration](own, fallback T) T {
	if own != 0 {
		return own
	}
	return fallback
}

// acquire waits for one of the client's slots; the stream gives it back.
func (c *Client) acquire(s *Stream) error {
	select {
	case c.slots <- struct{}{}:
		s.slot = true
		return nil
	default:
	}
	select {
	case c.slots <- struct{}{}:
		s.slot = true
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// follow returns the response that is not a redirect, and the hop that got it;
// with an error, the hop that failed.
func (c *Client) follow(ctx context.Context, h *hop, limit int) (*http.Response, *hop, error) {
	for n := 0; ; n++ {
		resp, err := c.send(ctx, h)
		if err != nil {
			return nil, h, redirected(err, n)
		}
		where := location(resp)
		if where == "" || limit < 0 {
			return resp, h, nil
		}
		finish(resp)
		if n >= limit {
			return nil, h, tooMany(limit)
		}
		next, err := h.redirect(resp.StatusCode, where)
		if err != nil {
			return nil, h, err
		}
		h = next
	}
}

// redirected says in a refusal that the script did not name this host itself.
func redirected(err error, hops int) error {
	if e, ok := errors.AsType[*Error](err); ok && hops > 0 && e.Code == CodePermission {
		c := *e
		c.Message = "redirected here: " + e.Message
		return &c
	}
	return err
}

// send makes one hop. The policy is asked before the look-up, and again by the
// dialler for the address that is really used.
func (c *Client) send(ctx context.Context, h *hop) (*http.Response, error) {
	if err := c.rules.admit(h.to); err != nil {
		return nil, err
	}
	if err := c.admitVirtualHost(h); err != nil {
		return nil, err
	}
	proxy, err := c.proxyFor(h)
	if err != nil {
		return nil, err
	}
	transport := c.direct
	if proxy != nil {
		if err := c.admitProxied(ctx, h.to); err != nil {
			return nil, err
		}
		transport = c.proxied
		ctx = context.WithValue(ctx, proxyKey{}, proxy)
	}
	req, err := h.wire(watched(ctx))
	if err != nil {
		return nil, err
	}
	resp, err := c.sender(transport).RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body.Close()
		return nil, upstream("the server changed protocols without being asked", false, nil)
	}
	if err == nil && (resp.StatusCode < 100 || resp.StatusCode > 999) {
		resp.Body.Close()
		return nil, upstream("the server answers with a status that is none, "+quote(resp.Status), false, nil)
	}
	return resp, err
}

func (h *hop) wire(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, h.method, h.url.String(), bytes.NewReader(h.body))
	if err != nil {
		return nil, invalid("the request cannot be sent: " + err.Error())
	}
	u := *h.url
	req.URL, req.Host, req.Header = &u, h.vhost, h.header.Clone()
	return req, nil
}

// admitVirtualHost holds the script's own Host header against the lists: behind
// one granted address a front end may serve sites of anybody.
func (c *Client) admitVirtualHost(h *hop) error {
	if h.vhost == "" {
		return nil
	}
	u := &url.URL{Scheme: h.url.Scheme, Host: h.vhost}
	name, err := parseHost(u.Hostname())
	if err != nil {
		return invalid("the Host header " + quote(h.vhost) + " is not a valid host")
	}
	port := h.to.port
	if u.Port() != "" {
		if port, err = portOf(u); err != nil {
			return err
		}
	}
	if t := (target{name, port}); t != h.to {
		return c.rules.admit(t)
	}
	return nil
}
