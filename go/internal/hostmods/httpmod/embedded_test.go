package httpmod

import (
	"net/http"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is taken away stays so, however the address is spelt and whichever gateway leads to it.
func TestDenyHoldsForEveryWayToAnAddress(t *testing.T) {
	for _, c := range []struct {
		deny, addr string
		want       bool // whether it is denied
	}{
		{"127.0.0.0/8", "0.0.0.0", true},
		{"127.0.0.1", "0.0.0.0", true},
		{"127.0.0.2", "0.0.0.0", false},
		{"0.0.0.0", "0.0.0.0", true},
		{"0.0.0.0", "127.0.0.1", false},
		{"::1", "::", true},
		{"127.0.0.1", "::", true},
		{"10.0.0.0/8", "::", false},
		{"127.0.0.1", "::1", false},
		{"127.0.0.0/8", "::ffff:127.0.0.1", true},
		{"127.0.0.0/8", "::ffff:0.0.0.0", true},
		{"127.0.0.0/8", "::127.0.0.1", true},
		{"127.0.0.0/8", "::ffff:0:127.0.0.1", true},
		{"127.0.0.0/8", "64:ff9b::7f00:1", true},
		{"127.0.0.0/8", "64:ff9b::", true},
		{"10.0.0.0/8", "64:ff9b::10.1.2.3", true},
		{"10.0.0.0/8", "64:ff9b::11.1.2.3", false},
		{"10.0.0.0/8", "64:ff9b:1:a01:2:300::", true},
		{"10.0.0.0/8", "64:ff9b:1::10.1.2.3", true},
		{"10.0.0.0/8", "64:ff9b:1:b01:2:300:b00:1", false},
		{"10.0.0.0/8", "2002:a01:203::1", true},
		{"10.0.0.0/8", "2002:b01:203::1", false},
		{"10.0.0.0/8", "2001:0:a01:203::1", true},
		{"10.0.0.0/8", "2001:0:808:808:8000:63bf:f5fe:fdfc", true},
		{"10.0.0.0/8", "2001:0:808:808:8000:63bf:f4fe:fdfc", false},
		{"10.0.0.0/8", "2606:4700::5efe:10.1.2.3", true},
		{"10.0.0.0/8", "fe80::200:5efe:10.1.2.3%eth0", true},
		{"93.184.216.34", "64:ff9b::93.184.216.34", true},
		{"0.0.0.0/0", "64:ff9b::8.8.8.8", true},
		{"0.0.0.0/0", "2606:4700::1111", false},
		{"64:ff9b::/96", "64:ff9b::8.8.8.8", true},
	} {
		p := Policy{AllowAll: true, Deny: []string{c.deny}}
		want := "ok"
		if c.want {
			want = keyDeny
		}
		assert.Equal(t, want, decide(t, p, "name.test", 80, c.addr), "%s without %s, as the address of a name", c.addr, c.deny)
		addr := netip.MustParseAddr(c.addr)
		assert.Equal(t, want, decide(t, p, addr.WithZone("").String(), 80, ""), "%s without %s", c.addr, c.deny)
	}
}

// A grant holds for what the system surely takes for the address, and for no address that only some
// gateway would go on to.
func TestGrantsHoldForWhatAnAddressStandsFor(t *testing.T) {
	for _, c := range []struct{ private, addr, want string }{
		{"127.0.0.0/8", "0.0.0.0", "ok"},
		{"::1", "::", "ok"},
		{"127.0.0.0/8", "::", keyPrivate},
		{"10.0.0.0/8", "0.0.0.0", keyPrivate},
		{"0.0.0.0", "127.0.0.1", keyPrivate},
		{"10.0.0.0/8", "64:ff9b::10.1.2.3", "ok"},
		{"10.0.0.0/8", "64:ff9b::192.168.1.1", keyPrivate},
		{"10.0.0.0/8", "2002:a01:203::1", keyPrivate},
		{"2002::/16", "2002:a01:203::1", "ok"},
		{"10.0.0.0/8", "::10.1.2.3", keyPrivate},
		{"10.0.0.0/8", "2001:0:a01:203::1", keyPrivate},
		{"10.0.0.0/8", "64:ff9b:1::10.1.2.3", keyPrivate},
	} {
		p := Policy{Net: []string{"*"}, NetPrivate: []string{c.private}}
		assert.Equal(t, c.want, decide(t, p, c.addr, 80, ""), "%s with %s", c.addr, c.private)
	}
}

// The unspecified address reaches servers on this machine: that is why it counts as loopback.
func TestUnspecifiedAddressIsThisMachine(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	port := portOfURL(t, s.URL)
	open := newClient(t, Options{Policy: Policy{NetPrivate: []string{"127.0.0.0/8"}}})
	closed := newClient(t, Options{Policy: Policy{AllowAll: true, Deny: []string{"127.0.0.0/8"}}})
	for _, host := range []string{"0.0.0.0", "0", "[::ffff:0:0]"} {
		resp, err := get(t, open, "http://"+host+":"+port+"/")
		require.NoError(t, err, host)
		require.Equal(t, 200, resp.Status, host)
		_, err = get(t, closed, "http://"+host+":"+port+"/")
		require.Equal(t, keyDeny, failure(t, err, CodePermission).Key, host)
	}
	require.True(t, slices.Contains(reaches(netip.IPv6Unspecified()), netip.IPv6Loopback()))
}
