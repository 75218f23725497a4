package httpmod

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decide asks the policy as a request does: first by host, then for the address
// the host has ("" when it was refused before, or is an address itself). It gives
// "ok" or the key that the refusal names.
func decide(t *testing.T, p Policy, name string, port uint16, resolved string) string {
	t.Helper()
	r, err := p.compile()
	require.NoError(t, err)
	h, err := parseHost(name)
	require.NoError(t, err)
	to := target{h, port}
	err = r.admit(to)
	if err == nil && resolved != "" {
		err = r.admitAddr(to, netip.MustParseAddr(resolved))
	}
	if err == nil {
		return "ok"
	}
	var e *Error
	require.True(t, errors.As(err, &e))
	require.Contains(t, e.Message, e.Key)
	require.Contains(t, e.Message, h.name)
	if resolved != "" && !h.isAddr() {
		require.NotContains(t, e.Message, resolved, "a refusal must not tell what the name resolved to")
	}
	return e.Key
}

func TestPolicyDecides(t *testing.T) {
	const pub, priv = "93.184.216.34", "10.1.2.3"
	both := func(net, private string) Policy {
		return Policy{Net: strings.Fields(net), NetPrivate: strings.Fields(private)}
	}
	for _, c := range []struct {
		name     string
		policy   Policy
		host     string
		port     uint16
		resolved string
		want     string
	}{
		{"zero value", Policy{}, "example.com", 443, "", "net"},
		{"zero value, public address", Policy{}, pub, 443, "", "net"},
		{"zero value, private address", Policy{}, priv, 443, "", "net_private"},
		{"zero value, localhost", Policy{}, "LOCALHOST.", 80, "", "net_private"},
		{"all", Policy{AllowAll: true}, "localhost", 80, "127.0.0.1", "ok"},
		{"exact", both("example.com", ""), "EXAMPLE.com.", 443, pub, "ok"},
		{"exact is not below", both("example.com", ""), "a.example.com", 443, "", "net"},
		{"exact is not a suffix", both("example.com", ""), "badexample.com", 443, "", "net"},
		{"wildcard", both("*.example.com", ""), "a.b.example.com", 443, pub, "ok"},
		{"wildcard is not itself", both("*.example.com", ""), "example.com", 443, "", "net"},
		{"wildcard is not a suffix", both("*.example.com", ""), "badexample.com", 443, "", "net"},
		{"star", both("*", ""), "example.com", 443, pub, "ok"},
		{"star, address", both("*", ""), pub, 443, "", "ok"},
		{"star opens no private name", both("*", ""), "db.internal", 443, priv, "net_private"},
		{"star opens no private address", both("*", ""), priv, 443, "", "net_private"},
		{"star opens no mapped address", both("*", ""), "::ffff:10.1.2.3", 443, "", "net_private"},
		{"star opens no number", both("*", ""), "2130706433", 80, "", "net_private"},
		{"star opens no NAT64 of private", both("*", ""), "x.test", 80, "64:ff9b::10.0.0.1", "net_private"},
		{"port matches", both("example.com:8443", ""), "example.com", 8443, pub, "ok"},
		{"port differs", both("example.com:8443", ""), "example.com", 443, "", "net"},
		{"star with port", both("*:443", ""), "example.com", 80, "", "net"},
		{"idn entry", both("bücher.example", ""), "xn--bcher-kva.example", 443, pub, "ok"},
		{"address entry opens public", both(pub, ""), pub, 443, "", "ok"},
		{"address entry in net opens no private", both(priv, ""), priv, 443, "", "net_private"},
		{"v6 entry with port", both("[2606:4700::1]:443", ""), "2606:4700:0::1", 443, "", "ok"},
		{"private name", both("", "db.internal"), "db.internal", 5432, priv, "ok"},
		{"private name opens no public", both("", "db.internal"), "db.internal", 443, pub, "net"},
		{"private star", both("", "*"), "localhost", 80, "127.0.0.1", "ok"},
		{"private address", both("", "127.0.0.1:8080"), "127.0.0.1", 8080, "", "ok"},
		{"private address, port differs", both("", "127.0.0.1:8080"), "127.0.0.1", 8081, "", "net_private"},
		{"range", both("", "10.0.0.0/8"), priv, 443, "", "ok"},
		{"range not masked", both("", "10.9.9.9/8"), priv, 443, "", "ok"},
		{"range holds mapped spelling", both("", "10.0.0.0/8"), "::ffff:a01:203", 443, "", "ok"},
		{"range with port", both("", "[fd00::/8]:443"), "fd00::1", 443, "", "ok"},
		{"range with port differs", both("", "[fd00::/8]:443"), "fd00::1", 80, "", "net_private"},
		{"range does not grant names", both("", "10.0.0.0/8"), "db.internal", 443, "", "net"},
		{"range opens address of a granted name", both("*.internal", "10.0.0.0/8"), "db.internal", 443, priv, "ok"},
		{"range opens nothing outside", both("*.internal", "10.0.0.0/8"), "db.internal", 443, "192.168.0.1", "net_private"},
		{"range of everything opens no public", both("", "0.0.0.0/0"), pub, 443, "", "net"},
		{"range ignores zone", both("", "fe80::/10"), "fe80::1%eth0", 80, "", "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, decide(t, c.policy, c.host, c.port, c.resolved))
		})
	}
}

func TestPolicyRefusesBadEntries(t *testing.T) {
	for _, entry := range []string{
		"", "https://example.com", "example.com/path", "a b", "exam*ple.com", "*.", "**", "*.1.2.3.4", "example.com:0", "example.com:99999",
		"example.com:x", "[::1", "[::1]x", "1.2.3.4.5",
	} {
		_, err := New(Options{Policy: Policy{Net: []string{entry}}})
		if assert.Error(t, err, entry) {
			assert.Contains(t, err.Error(), "net: ", entry)
		}
		_, err = New(Options{Policy: Policy{NetPrivate: []string{entry}}})
		if assert.Error(t, err, entry) {
			assert.Contains(t, err.Error(), "net_private: ", entry)
		}
	}
	for _, entry := range []string{"10.0.0.0/33", "10.0.0/8", "::ffff:10.0.0.0/104", "example.com/8"} {
		_, err := New(Options{Policy: Policy{NetPrivate: []string{entry}}})
		assert.Error(t, err, entry)
	}
	_, err := New(Options{Policy: Policy{Net: []string{"10.0.0.0/8"}}})
	assert.Error(t, err, "net takes hosts, not ranges")
}
