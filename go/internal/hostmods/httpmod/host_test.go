package httpmod

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostHasOneSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"Example.COM":                    "example.com",
		"example.com.":                   "example.com",
		"localhost.":                     "localhost",
		"my_service":                     "my_service",
		"bücher.example":                 "xn--bcher-kva.example",
		"BÜCHER.example":                 "xn--bcher-kva.example",
		"127.0.0.1":                      "127.0.0.1",
		"127.0.0.1.":                     "127.0.0.1",
		"2130706433":                     "127.0.0.1",
		"0x7f.1":                         "127.0.0.1",
		"0X7F000001":                     "127.0.0.1",
		"0177.0.0.1":                     "127.0.0.1",
		"127.1":                          "127.0.0.1",
		"0":                              "0.0.0.0",
		"1.2.3.":                         "1.2.0.3",
		"0x":                             "0.0.0.0",
		"\uff11\uff12\uff17.0.0.1":       "127.0.0.1", // full-width digits
		"127\u30020\u30020\u30021":       "127.0.0.1", // ideographic full stops
		"\uff4cocalhost":                 "localhost",
		"::1":                            "::1",
		"0:0:0:0:0:0:0:1":                "::1",
		"::ffff:127.0.0.1":               "127.0.0.1",
		"::FFFF:7f00:1":                  "127.0.0.1",
		"2001:DB8::1":                    "2001:db8::1",
		"fe80::1%eth0":                   "fe80::1%eth0",
		"1.example":                      "1.example",
		"0x7f.example":                   "0x7f.example",
		"xn--bcher-kva.example":          "xn--bcher-kva.example",
		"a.b.c.d.e.f.g.h.i.example.com.": "a.b.c.d.e.f.g.h.i.example.com",
	} {
		h, err := parseHost(in)
		if assert.NoError(t, err, in) {
			assert.Equal(t, want, h.name, in)
			again, err := parseHost(h.name)
			assert.NoError(t, err, in)
			assert.Equal(t, h, again, in)
		}
	}
}

func TestHostRefuses(t *testing.T) {
	for _, in := range []string{
		"", ".", "..", "a..b", ".a", "example.com..", "a b", "a/b", "a\x00b", "a@b", `a\b`, "%31", "exa\u00admple.\u2024com/",
		"256.0.0.1", "1.2.3.4.5", "08.0.0.1", "0x100.0.0.1", "4294967296", "99999999999999999999999", "1..3", "host.0x1g.1.09",
		":::1", "::1::", "1:2", "::ffff:1.2.3.400", "fe80::1%", "[::1]",
	} {
		_, err := parseHost(in)
		assert.Error(t, err, "%q", in)
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"localhost.", "0x7f.1", "::ffff:127.0.0.1", "\uff11.1", "bücher.example", "a..b", "1.2.3.4.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parseHost(s)
		if err != nil {
			return
		}
		again, err := parseHost(h.name)
		require.NoError(t, err, "%q became %q", s, h.name)
		require.Equal(t, h, again)
		if addr, err := netip.ParseAddr(h.name); err == nil {
			require.Equal(t, addr, h.addr, "an address must never pass as a name")
		}
	})
}

func TestKindOfAddress(t *testing.T) {
	public := []string{
		"1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0", "192.0.1.0", "198.17.255.255",
		"198.20.0.0", "223.255.255.255", "11.0.0.0", "::ffff:1.1.1.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::1.1.1.1",
		"2606:4700::5efe:1.1.1.1",
	}
	for _, s := range public {
		assert.Empty(t, kindOf(netip.MustParseAddr(s)), s)
	}
	notPublic := []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
		"198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "::2", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1",
		"64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "100:0:0:1::1", "1000::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
		"2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::", "3fff::1", "4000::1", "5f00::1",
		"fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%lo", "febf::1", "fec0::1", "ff02::1", "2606:4700::5efe:10.0.0.1",
		"2606:4700::200:5efe:10.0.0.1",
	}
	for _, s := range notPublic {
		assert.NotEmpty(t, kindOf(netip.MustParseAddr(s)), s)
	}
	assert.NotEmpty(t, kindOf(netip.Addr{}))
}
