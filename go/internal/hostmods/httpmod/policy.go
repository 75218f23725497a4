package httpmod

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// Policy says where requests may go. It is plain data, and its zero value grants
// nothing. [New] checks it and takes a copy.
type Policy struct {
	// AllowAll grants every host and address; Net and NetPrivate are then not read.
	AllowAll bool

	// Net grants public addresses to hosts: "api.example.com", "*.example.com"
	// (any name below it, not itself) or "*". A port may follow ("host:8443");
	// without one every port is meant.
	Net []string

	// NetPrivate grants every address that is not public to hosts, written as in
	// Net, and to addresses and ranges: "127.0.0.1:8080", "10.0.0.0/8",
	// "[fd00::/8]:443".
	NetPrivate []string

	// Deny takes hosts, addresses and ranges, written as in NetPrivate, away from
	// what the rest grants.
	Deny []string

	// UseProxyEnv sends requests through the proxies that HTTP_PROXY,
	// HTTPS_PROXY and NO_PROXY name. The proxy itself is not held against the lists.
	UseProxyEnv bool

	// Tool is whose policy it is, where an operator grants, and not whoever starts the program: for advice in errors.
	Tool string
}

const (
	keyNet     = "net"
	keyPrivate = "net_private"
	keyDeny    = "deny_net"
)

// rules is a Policy made ready for matching.
type rules struct {
	all     bool
	tool    string
	public  []hostRule // from Net
	private places     // from NetPrivate
	denied  places
}

// places are hosts by name and by address.
type places struct {
	hosts  []hostRule
	ranges []rangeRule
}

type hostRule struct {
	host string // "" means any
	sub  bool   // names below host, instead of host
	port uint16 // 0 means any
}

type rangeRule struct {
	prefix netip.Prefix
	port   uint16
}

func (r hostRule) matches(name string, port uint16) bool {
	switch {
	case r.port != 0 && r.port != port:
		return false
	case r.host == "":
		return true
	case r.sub:
		return strings.HasSuffix(name, "."+r.host)
	}
	return name == r.host
}

// target is where one hop goes.
type target struct {
	host host
	port uint16
}

// Check says what is wrong with an entry; nil when nothing is.
func (p Policy) Check() error {
	_, err := p.compile()
	return err
}

func (p Policy) compile() (*rules, error) {
	r := &rules{all: p.AllowAll, tool: p.Tool}
	for _, entry := range p.Net {
		rule, err := parseHostRule(entry)
		if err != nil {
			return nil, fmt.Errorf("%s: %q %w", keyNet, entry, err)
		}
		r.public = append(r.public, rule)
	}
	for _, entry := range p.NetPrivate {
		if err := r.private.add(entry); err != nil {
			return nil, fmt.Errorf("%s: %q %w", keyPrivate, entry, err)
		}
	}
	for _, entry := range p.Deny {
		if err := r.denied.add(entry); err != nil {
			return nil, fmt.Errorf("%s: %q %w", keyDeny, entry, err)
		}
	}
	return r, nil
}

func (r *places) add(entry string) error {
	text, port, err := splitPort(strings.TrimSpace(entry))
	if err != nil {
		return err
	}
	if strings.Contains(text, "/") {
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix.Addr().Is4In6() {
			return fmt.Errorf("is not a host, an address or a range such as 10.0.0.0/8")
		}
		r.ranges = append(r.ranges, rangeRule{prefix.Masked(), port})
		return nil
	}
	rule, err := parseHostRule(entry)
	if err != nil {
		return err
	}
	if addr, err := netip.ParseAddr(rule.host); err == nil {
		addr = plain(addr)
		r.ranges = append(r.ranges, rangeRule{netip.PrefixFrom(addr, addr.BitLen()), port})
		return nil
	}
	r.hosts = append(r.hosts, rule)
	return nil
}

func parseHostRule(entry string) (hostRule, error) {
	text, port, err := splitPort(strings.TrimSpace(entry))
	if err != nil {
		return hostRule{}, err
	}
	if text == "*" {
		return hostRule{port: port}, nil
	}
	rest, sub := strings.CutPrefix(text, "*.")
	h, err := parseHost(rest)
	if err != nil || sub && h.isAddr() {
		return hostRule{}, fmt.Errorf("is not a host: write api.example.com, *.example.com or *, with :port if only one is meant")
	}
	return hostRule{host: h.name, sub: sub, port: port}, nil
}

// splitPort takes "host", "host:port", "[v6]", "[v6]:port" and a bare IPv6 address.
func splitPort(s string) (text string, port uint16, err error) {
	if strings.Contains(s, "://") {
		return "", 0, fmt.Errorf("is a URL: write its host alone, as api.example.com")
	}
	text, digits := s, ""
	if inner, ok := strings.CutPrefix(s, "["); ok {
		var after string
		text, after, ok = strings.Cut(inner, "]")
		if !ok || after != "" && after[0] != ':' {
			return "", 0, fmt.Errorf("has unbalanced brackets")
		}
		digits = after
	} else if strings.Count(s, ":") == 1 {
		i := strings.IndexByte(s, ':')
		text, digits = s[:i], s[i:]
	}
	if digits == "" {
		return text, 0, nil
	}
	n, err := strconv.ParseUint(digits[1:], 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("has no valid port after the colon")
	}
	return text, uint16(n), nil
}

// admit decides, before anything is looked up, whether a hop may be tried.
func (r *rules) admit(t target) error {
	switch {
	case t.host.isAddr():
		return r.admitAddr(t, t.host.addr)
	case anyMatch(r.denied.hosts, t):
		return forbidden(t)
	case r.all:
		return nil
	case anyMatch(r.public, t) || anyMatch(r.private.hosts, t):
		return nil
	case t.host.name == "localhost" || strings.HasSuffix(t.host.name, ".localhost"):
		return r.lacks(keyPrivate, t, "it is this machine")
	}
	return r.lacks(keyNet, t, "")
}

// admitAddr decides about one address that a hop's host turned out to have.
func (r *rules) admitAddr(t target, addr netip.Addr) error {
	if anyMatch(r.denied.hosts, t) || r.denied.hasAny(reaches(addr), t.port) {
		return forbidden(t)
	}
	if r.all {
		return nil
	}
	kind := kindOf(addr)
	if kind == "" {
		if anyMatch(r.public, t) {
			return nil
		}
		return r.lacks(keyNet, t, "")
	}
	if anyMatch(r.private.hosts, t) || r.private.hasAny(standsFor(addr), t.port) {
		return nil
	}
	if t.host.isAddr() {
		return r.lacks(keyPrivate, t, "it is a "+kind+" address")
	}
	return r.lacks(keyPrivate, t, "its address is "+kind)
}

func (r *places) hasAny(addrs []netip.Addr, port uint16) bool {
	for _, rule := range r.ranges {
		if (rule.port == 0 || rule.port == port) && slices.ContainsFunc(addrs, rule.prefix.Contains) {
			return true
		}
	}
	return false
}

func anyMatch(list []hostRule, t target) bool {
	for _, rule := range list {
		if rule.matches(t.host.name, t.port) {
			return true
		}
	}
	return false
}

func forbidden(t target) *Error {
	return &Error{
		Code: CodePermission, Key: keyDeny, Host: t.host.name,
		Message: fmt.Sprintf("no permission to reach %s on port %d: %s takes it away (on the command line: --deny-net)", t.host.name, t.port, keyDeny),
	}
}

// denied says what is to be granted. It does not tell a resolved address: the script would learn from it what
// the host's own network looks like.
func (r *rules) lacks(key string, t target, why string) *Error {
	if why != "" {
		why = " (" + why + ")"
	}
	entry := t.entry()
	return &Error{
		Code: CodePermission, Key: key, Host: t.host.name,
		Message: fmt.Sprintf("no permission to reach %s on port %d%s; to allow it, add %q to %s %s",
			t.host.name, t.port, why, entry, key, hostmod.Advice(r.tool, key, entry, entry)),
	}
}

// entry is what grants the target and no more: the port is left out where a URL leaves it out.
func (t target) entry() string {
	if t.port == 80 || t.port == 443 {
		return t.host.name
	}
	return net.JoinHostPort(t.host.name, strconv.Itoa(int(t.port)))
}
