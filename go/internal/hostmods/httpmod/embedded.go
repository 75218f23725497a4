package httpmod

import "net/netip"

// The ranges whose addresses carry an IPv4 address.
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")
	compatible = netip.MustParsePrefix("::/96")
	teredo     = netip.MustParsePrefix("2001::/32")
	sixToFour  = netip.MustParsePrefix("2002::/16")
)

// plain is the address without zone, and as IPv4 when it is a mapped one.
func plain(addr netip.Addr) netip.Addr { return addr.WithZone("").Unmap() }

// standsFor is an address with the one that the system takes for it: a connection to the unspecified
// address goes to this machine, and NAT64 has no other use than to reach an IPv4 address.
func standsFor(addr netip.Addr) []netip.Addr {
	addr = plain(addr)
	list := []netip.Addr{addr}
	if nat64.Contains(addr) {
		addr = tail(addr)
		list = append(list, addr)
	}
	switch addr {
	case netip.IPv4Unspecified():
		list = append(list, ipv4Loopback)
	case netip.IPv6Unspecified():
		list = append(list, netip.IPv6Loopback())
	}
	return list
}

var ipv4Loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// reaches lists every address at which a connection to addr may end: what it stands for, and the IPv4
// addresses in it that some gateway may go on to. What is taken away must be in none of these.
func reaches(addr netip.Addr) []netip.Addr {
	list := standsFor(addr)
	if addr = plain(addr); !addr.Is6() {
		return list
	}
	for _, inner := range embedded(addr) {
		list = append(list, standsFor(inner)...)
	}
	return list
}

// embedded are the IPv4 addresses that an IPv6 address carries.
func embedded(addr netip.Addr) []netip.Addr {
	b := addr.As16()
	switch {
	case localNAT64.Contains(addr): // the prefix may be one of 48 bits, or a longer one of 96
		return []netip.Addr{v4(b[6], b[7], b[9], b[10]), tail(addr)}
	case sixToFour.Contains(addr):
		return []netip.Addr{v4(b[2], b[3], b[4], b[5])}
	case teredo.Contains(addr): // the server, and the client with its bits turned over
		return []netip.Addr{v4(b[4], b[5], b[6], b[7]), v4(^b[12], ^b[13], ^b[14], ^b[15])}
	case nat64.Contains(addr), translated.Contains(addr), isISATAP(addr),
		compatible.Contains(addr): // also ::, as a server for both families answers to either
		return []netip.Addr{tail(addr)}
	}
	return nil
}

func v4(a, b, c, d byte) netip.Addr { return netip.AddrFrom4([4]byte{a, b, c, d}) }

func tail(addr netip.Addr) netip.Addr {
	b := addr.As16()
	return v4(b[12], b[13], b[14], b[15])
}

// isISATAP reports whether the interface part says 0:5efe, by which an ISATAP
// router tunnels to the IPv4 address in the last four bytes.
func isISATAP(addr netip.Addr) bool {
	b := addr.As16()
	return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
