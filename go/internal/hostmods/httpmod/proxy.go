package httpmod

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"
)

type proxyKey struct{}

// proxyFor is the proxy of a hop, nil for none.
func (c *Client) proxyFor(h *hop) (*url.URL, error) {
	if c.proxies == nil {
		return nil, nil
	}
	proxy, err := c.proxies(h.url)
	if err != nil {
		return nil, upstream("the proxy that the environment names for "+h.to.host.name+" is not a valid URL", false, err)
	}
	return proxy, nil
}

func envProxies() func(*url.URL) (*url.URL, error) { return httpproxy.FromEnvironment().ProxyFunc() }

func proxyFromContext(r *http.Request) (*url.URL, error) {
	proxy, _ := r.Context().Value(proxyKey{}).(*url.URL)
	return proxy, nil
}

// admitProxied holds a hop's host against the policy as far as can be seen from
// here: the proxy looks the name up again, and may find something else.
func (c *Client) admitProxied(ctx context.Context, t target) error {
	const patience = 2 * time.Second // where only the proxy knows names, ours may not answer at all
	if c.rules.all && len(c.rules.denied.ranges) == 0 || t.host.isAddr() {
		return c.rules.admit(t)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	addrs, err := c.dialer.resolver.LookupNetIP(ctx, "ip", t.host.name)
	if err != nil {
		return nil
	}
	for _, addr := range addrs {
		if err := c.rules.admitAddr(t, addr); err != nil {
			return err
		}
	}
	return nil
}
