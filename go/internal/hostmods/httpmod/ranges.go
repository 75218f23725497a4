package httpmod

import "net/netip"

// special lists the ranges that are not the public internet, with the word an
// error uses for them. The first match names the address. Sources: the IANA
// special-purpose registries for IPv4 and IPv6.
var special = []struct {
	prefix netip.Prefix
	kind   string
}{
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared (carrier-grade NAT)"},
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("255.255.255.255/32"), "broadcast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"}, // holds one cloud's metadata service, 192.0.0.192
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("168.63.129.16/32"), "cloud platform"}, // public by number, yet hands out a machine's secrets

	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::/96"), "IPv4-compatible"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "private NAT64"},
	{netip.MustParsePrefix("100::/64"), "discard"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "private (site-local)"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
	{netip.MustParsePrefix("2001::/32"), "Teredo"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("2001::/23"), "reserved"},
	{netip.MustParsePrefix("2002::/16"), "6to4"},
}

var globalUnicast = netip.MustParsePrefix("2000::/3")

// kindOf names the special range an address lies in; "" means public. An IPv6
// address that some gateway turns into an IPv4 one is judged by that one.
func kindOf(addr netip.Addr) string {
	addr = plain(addr)
	if !addr.IsValid() {
		return "invalid"
	}
	if nat64.Contains(addr) {
		return kindOf(tail(addr))
	}
	for _, r := range special {
		if r.prefix.Contains(addr) {
			return r.kind
		}
	}
	if addr.Is4() {
		return ""
	}
	if !globalUnicast.Contains(addr) {
		return "reserved"
	}
	if isISATAP(addr) {
		return kindOf(tail(addr))
	}
	return ""
}
