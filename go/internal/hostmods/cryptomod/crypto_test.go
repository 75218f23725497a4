package cryptomod_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/cryptomod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

func run(t *testing.T, source string) []any {
	t.Helper()
	return modtest.New(t, cryptomod.Module{}, cryptomod.Stub).Run(t, "local crypto = __native.crypto\n"+source)
}

// Digests of FIPS 180 and RFC 1321 examples.
func TestDigests(t *testing.T) {
	twoBlocks := `"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"`
	million := `string.rep("a", 1000000)`
	for _, test := range []struct{ algorithm, data, want string }{
		{"md5", `""`, "d41d8cd98f00b204e9800998ecf8427e"},
		{"md5", `"message digest"`, "f96b697d7cb7938d525a2f31aaf161d0"},
		{"sha1", `"abc"`, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"sha1", twoBlocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
		{"sha1", million, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"},
		{"sha256", `""`, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"sha256", `"abc"`, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"sha256", `buffer.fromstring("abc")`, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"sha256", twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"sha256", million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
		{"sha512", `"abc"`, "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a" +
			"2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
	} {
		require.Equal(t, []any{test.want}, run(t, fmt.Sprintf("return crypto.%s(%s)", test.algorithm, test.data)), test)
	}
}

func TestLongDataInChunks(t *testing.T) {
	out := run(t, `
		local once = string.rep("0123456789abcdef", 65536 * 5)
		return #once, crypto.sha256(once) == crypto.sha256(buffer.fromstring(once)), crypto.sha256(once)`)
	// From Python's hashlib.
	require.Equal(t, []any{float64(5 << 20), true, "18a42ab71ef74ce8c5016d928b7a858aace90effdc15fcf9ab18bdc250e9d945"}, out)
}

// The cases of RFC 2202 (MD5, SHA-1) and RFC 4231 (SHA-2).
func TestHMAC(t *testing.T) {
	repeat := func(b byte, n int) string { return fmt.Sprintf(`string.rep("\x%02x", %d)`, b, n) }
	long := `"Test Using Larger Than Block-Size Key - Hash Key First"`
	for _, test := range []struct{ algorithm, key, data, want string }{
		{"md5", repeat(0x0b, 16), `"Hi There"`, "9294727a3638bb1c13f48ef8158bfc9d"},
		{"md5", `"Jefe"`, `"what do ya want for nothing?"`, "750c783e6ab0b503eaa86e310a5db738"},
		{"sha1", repeat(0x0b, 20), `"Hi There"`, "b617318655057264e28bc0b6fb378c8ef146be00"},
		{"sha1", `"Jefe"`, `"what do ya want for nothing?"`, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
		{"sha1", repeat(0xaa, 80), long, "aa4ae5e15272d00e95705637ce8a3b55ed402112"},
		{"sha256", repeat(0x0b, 20), `"Hi There"`, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
		{"sha256", `"Jefe"`, `"what do ya want for nothing?"`, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{"sha256", repeat(0xaa, 20), repeat(0xdd, 50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
		{"sha256", repeat(0xaa, 131), long, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
		{"sha512", repeat(0x0b, 20), `"Hi There"`, "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde" +
			"daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"},
		{"sha512", `"Jefe"`, `"what do ya want for nothing?"`, "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554" +
			"9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
	} {
		require.Equal(t, []any{test.want}, run(t, fmt.Sprintf("return crypto.hmac(%q, %s, %s)", test.algorithm, test.key, test.data)), test)
	}
}

func TestFormats(t *testing.T) {
	require.Equal(t, []any{16.0, 20.0, 32.0, 64.0, 32.0}, run(t, `
		return #crypto.md5("", "raw"), #crypto.sha1("", "raw"), #crypto.sha256("", "raw"), #crypto.sha512("", "raw"),
			#crypto.hmac("sha256", "k", "d", "raw")`))
}

func TestRandomBytes(t *testing.T) {
	require.Equal(t, []any{0.0, 16.0, 32.0, 65536.0, true, false}, run(t, `
		local hex = crypto.random_bytes(16, "hex")
		return #crypto.random_bytes(0), #crypto.random_bytes(16), #hex, #crypto.random_bytes(65536),
			string.find(hex, "^%x+$") ~= nil, crypto.random_bytes(16) == crypto.random_bytes(16)`))
}

func TestEqual(t *testing.T) {
	require.Equal(t, []any{true, false, false, true}, run(t, `
		return crypto.equal("secret", buffer.fromstring("secret")), crypto.equal("secret", "secreT"),
			crypto.equal("a", "aa"), crypto.equal("", "")`))
}

func TestWrongArguments(t *testing.T) {
	for call, want := range map[string]string{
		`crypto.sha256, 5`:              "crypto.sha256: argument 1 must be a string or a buffer, got number",
		`crypto.sha256, "", "base64"`:   `crypto.sha256: argument 2 must be "hex" or "raw", got "base64"`,
		`crypto.hmac, "sha3", "k", "d"`: `crypto.hmac: argument 1 must be "md5", "sha1", "sha256" or "sha512", got "sha3"`,
		`crypto.hmac, "md5", "k"`:       "crypto.hmac: argument 3 must be a string or a buffer, got no value",
		`crypto.random_bytes, -1`:       "crypto.random_bytes: argument 1 must be a number of bytes from 0 to 65536, got -1",
		`crypto.random_bytes, 65537`:    "crypto.random_bytes: argument 1 must be a number of bytes from 0 to 65536, got 65537",
		`crypto.random_bytes, 1.5`:      "crypto.random_bytes: argument 1 must be a whole number, got 1.5",
		`crypto.equal, "a"`:             "crypto.equal: argument 2 must be a string or a buffer, got no value",
	} {
		out := run(t, "return pcall("+call+")")
		require.Equal(t, false, out[0], call)
		e := out[1].(map[string]any)
		require.Equal(t, "invalid_argument", e["code"], call)
		require.Equal(t, want, e["message"], call)
	}
	require.True(t, strings.Contains(cryptomod.Stub, "broken"), "the stub warns of MD5 and SHA-1")
}

func TestLongDataIsAwaited(t *testing.T) {
	vm := modtest.New(t, cryptomod.Module{}, cryptomod.Stub)
	vm.Run(t, `__native.crypto.sha256("abc")`)
	require.Empty(t, vm.Awaited)
	vm.Run(t, `__native.crypto.sha256(string.rep("a", 5000000))`)
	require.Equal(t, []string{"crypto.sha256"}, vm.Awaited)
}
