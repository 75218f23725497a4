package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/rs/cors"
)

// guard knows who may talk to the server. A web page can reach a server on the user's own machine: by a request
// to it, or by a name of its own that it lets point there. The first has an Origin that is not ours, the second a
// Host that is not.
type guard struct {
	token, operator [sha256.Size]byte
	hasToken        bool
	hasOperator     bool
	hosts           map[string]bool
	anyHost         bool // all names
	anyAddress      bool // all addresses, as all are listened on; to be one is no name
}

func (g *guard) init(o *Options) error {
	g.hasToken, g.hasOperator = o.Token != "", o.OperatorToken != ""
	g.token, g.operator = sha256.Sum256([]byte(o.Token)), sha256.Sum256([]byte(o.OperatorToken))
	if g.hasToken && o.Token == o.OperatorToken {
		return errors.New("the operator's token must be another one than that of callers: whoever has it approves calls")
	}
	host := hostOf(o.Bind)
	address, err := netip.ParseAddr(host)
	loopback := o.Bind == "" || host == "localhost" || err == nil && address.IsLoopback()
	if !loopback && !g.hasToken {
		return fmt.Errorf("refusing to listen on %s without a token: everybody who reaches it could call the tools; set [server] token, or bind to 127.0.0.1", o.Bind)
	}
	g.anyAddress = err == nil && address.IsUnspecified() || host == "" && o.Bind != ""
	g.hosts = map[string]bool{"localhost": true, strings.ToLower(host): true}
	for _, name := range o.AllowedHosts {
		g.anyHost = g.anyHost || name == "*"
		g.hosts[hostOf(strings.ToLower(name))] = true
	}
	delete(g.hosts, "")
	for _, origin := range o.Origins {
		if origin == "*" && !g.hasToken {
			return errors.New(`refusing to allow the origin "*" without a token: every web page could call the tools`)
		}
	}
	return nil
}

// hostOf is the host of "host", "host:port", "[::1]" or "[::1]:port"; "" for ":port".
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
}

// hostAllowed looks at a Host header.
func (g *guard) hostAllowed(header string) bool {
	if g.anyHost {
		return true
	}
	host := header
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	if g.hosts[host] {
		return true
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if g.hosts[host] {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && (address.IsLoopback() || g.anyAddress)
}

// caller is who asks.
type caller struct {
	name     string
	operator bool
}

// identify reads the bearer token. Without one that is asked for, everybody who got here is "local"; one that is
// wrong is never ignored.
func (g *guard) identify(header string) (caller, bool) {
	if header == "" {
		return caller{name: "local"}, !g.hasToken
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return caller{}, false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	operator := subtle.ConstantTimeCompare(sum[:], g.operator[:]) == 1
	known := subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
	switch {
	case operator && g.hasOperator:
		return caller{"operator", true}, true
	case known && g.hasToken:
		return caller{name: "token"}, true
	}
	return caller{}, false
}

func newCORS(origins []string) *cors.Cors {
	if len(origins) == 0 {
		return nil
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete},
		AllowedHeaders: []string{"Accept", "Approval", "Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Prefer", "Session-Id",
			"Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name"},
		ExposedHeaders: []string{"Idempotent-Replayed", "Location", "Mcp-Session-Id", "Mcp-Protocol-Version", "Preference-Applied",
			"Retry-After", "X-Request-Id"},
		MaxAge:              600,
		AllowPrivateNetwork: true,
	})
}

// checkHost refuses names that are not the server's.
func (s *Server) checkHost(r *http.Request) *fault {
	if s.guard.hostAllowed(r.Host) {
		return nil
	}
	return &fault{status: http.StatusForbidden, code: "permission", message: fmt.Sprintf(
		"the Host header names %.100q, which is not this server; add it to [server] hosts if it is", r.Host)}
}

// checkOrigin refuses requests of web pages that are not allowed to make any.
func (s *Server) checkOrigin(r *http.Request) *fault {
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		if site != "cross-site" && site != "same-site" {
			return nil
		}
		return &fault{status: http.StatusForbidden, code: "permission", message: "a page of another site may not ask for this"}
	}
	if u, err := url.Parse(origin); err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) {
		return nil
	}
	if s.cors != nil && s.cors.OriginAllowed(r) {
		return nil
	}
	return &fault{status: http.StatusForbidden, code: "permission", message: fmt.Sprintf(
		"pages of the origin %.100q may not use this server; add it to [server] cors if they may", origin)}
}
