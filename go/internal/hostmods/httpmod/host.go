package httpmod

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// host is the one spelling of a host that is compared and dialled: a lower-case
// ASCII name without trailing dot, or an address.
type host struct {
	name string
	addr netip.Addr // valid when the host is an address
}

func (h host) isAddr() bool { return h.addr.IsValid() }

var errBadHost = errors.New("not a valid host name")

// parseHost reads a host as a URL or a list spells it, without port and brackets.
func parseHost(s string) (host, error) {
	if strings.Contains(s, ":") {
		return parseIPv6(s)
	}
	name, err := asciiName(s)
	if err != nil {
		return host{}, err
	}
	name = strings.TrimSuffix(name, ".")
	if !validName(name) {
		return host{}, errBadHost
	}
	if endsInNumber(name) {
		return parseIPv4(name)
	}
	return host{name: name}, nil
}

func parseIPv6(s string) (host, error) {
	addr, err := netip.ParseAddr(s)
	if err != nil || !addr.Is6() {
		return host{}, errors.New("not a valid IPv6 address")
	}
	addr = addr.Unmap()
	return host{name: addr.String(), addr: addr}, nil
}

// asciiName maps other scripts to punycode first, so that full-width digits and
// dots cannot hide an address from the steps that follow.
func asciiName(s string) (string, error) {
	for i := range len(s) {
		if s[i] >= 0x80 {
			name, err := idna.Lookup.ToASCII(s)
			if err != nil {
				return "", errBadHost
			}
			return strings.ToLower(name), nil
		}
	}
	return strings.ToLower(s), nil
}

func validName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}

// endsInNumber decides as browsers do whether a name is meant as IPv4 address.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := ipv4Number(last)
	return ok
}

// parseIPv4 reads one to four numbers, decimal, octal or hexadecimal, the last
// of which fills the bytes that are left.
func parseIPv4(name string) (host, error) {
	bad := errors.New("not a valid IPv4 address")
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return host{}, bad
	}
	var value uint64
	for i, part := range parts {
		n, ok := ipv4Number(part)
		room := uint64(1) << 8
		if i == len(parts)-1 {
			room = uint64(1) << (8 * (5 - len(parts)))
		}
		if !ok || n >= room {
			return host{}, bad
		}
		value = value*room + n
	}
	addr := netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)})
	return host{name: addr.String(), addr: addr}, nil
}

func ipv4Number(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
		if s == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
