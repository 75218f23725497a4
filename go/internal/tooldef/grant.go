package tooldef

import (
	"net/netip"
	"path"
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

// beginOfHost is as much of a URL's host as can be seen.
func beginOfHost(url string) string {
	_, rest, _ := strings.Cut(strings.TrimSuffix(url, unseen), "://")
	return strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:])
}

// mayBe says whether an entry may be for a host that begins so.
func mayBe(entry, begin string) bool {
	entry = strings.ToLower(entry)
	_, err := netip.ParsePrefix(entry)
	return err == nil || strings.HasPrefix(entry, "*") || strings.HasPrefix(entry, begin)
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
func (c *checker) grants(key, entry, value string) bool {
	switch key {
	case "net", "net_private":
		return grantsHost(entry, value)
	case "read", "write":
		return entry == "*" || below(c.whole(entry), c.whole(value))
	}
	return entry == value || entry == "*"
}

// whole is a path of a permission or a script in the one form in which paths can be compared: the configuration's
// are absolute, those of tool files and scripts begin at its folder.
func (c *checker) whole(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(c.folder, name)
}

// shown is a path as people write it: from the configuration's folder where it is below that.
func (c *checker) shown(name string) string {
	switch whole := c.whole(name); {
	case whole == c.folder:
		return "."
	case below(c.folder, whole):
		return strings.TrimPrefix(whole, strings.TrimSuffix(c.folder, "/")+"/")
	}
	return name
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
