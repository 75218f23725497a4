package tooldef

import (
	"net/netip"
	"slices"
	"strings"
)

// hostOf is the host, with its port, of the beginning of a URL; "" unless the whole host is there.
func hostOf(url string) string {
	for _, scheme := range []string{"https://", "http://"} {
		rest, ok := strings.CutPrefix(url, scheme)
		if !ok {
			continue
		}
		end := strings.IndexAny(rest, "/?#\x00")
		switch {
		case end < 0:
			end = len(rest)
		case rest[end] == 0: // more of the host may follow
			return ""
		}
		host := rest[:end]
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			host = host[at+1:]
		}
		return strings.ToLower(host)
	}
	return ""
}

// isPrivate says whether a host is this machine or an address that is not public.
func isPrivate(host string) bool {
	name := withoutPort(host)
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return name == "localhost" || strings.HasSuffix(name, ".localhost")
	}
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
}

func withoutPort(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, _, _ = strings.Cut(inner, "]")
		return inner
	}
	if strings.Count(host, ":") == 1 {
		host, _, _ = strings.Cut(host, ":")
	}
	return host
}

// grants says whether an entry of a permission covers what a script reaches.
func grants(key, entry, value string) bool {
	switch key {
	case "net", "net_private":
		return grantsHost(entry, value)
	case "read", "write":
		entry = strings.TrimSuffix(strings.TrimPrefix(entry, "./"), "/")
		return entry == "." || below(entry, strings.TrimPrefix(value, "./"))
	}
	return entry == value || entry == "*"
}

func grantsHost(entry, host string) bool {
	entry = strings.ToLower(entry)
	name, rule := withoutPort(host), withoutPort(entry)
	if prefix, err := netip.ParsePrefix(rule); err == nil {
		addr, err := netip.ParseAddr(name)
		return err == nil && prefix.Contains(addr)
	}
	if port := strings.TrimPrefix(entry, rule); port != "" && name != host && port != strings.TrimPrefix(host, name) {
		return false
	}
	rest, sub := strings.CutPrefix(rule, "*.")
	return rule == "*" || rule == name || sub && strings.HasSuffix(name, "."+rest)
}

// covering are the entries of a permission that may cover a use.
func (p *Permissions) covering(key string) []string {
	if key == "net" {
		return slices.Concat(p.Net, p.NetPrivate)
	}
	return p.List(key)
}
