package encodingmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/encodingmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

func run(t *testing.T, source string) []any {
	t.Helper()
	return modtest.New(t, encodingmod.Module{}, encodingmod.Stub).Run(t, "local e = __native.encoding\n"+source)
}

// The vectors of RFC 4648, section 10.
func TestBaseVectors(t *testing.T) {
	for text, want := range map[string][2]string{
		"": {"", ""}, "f": {"Zg==", "66"}, "fo": {"Zm8=", "666f"}, "foo": {"Zm9v", "666f6f"},
		"foob": {"Zm9vYg==", "666f6f62"}, "fooba": {"Zm9vYmE=", "666f6f6261"}, "foobar": {"Zm9vYmFy", "666f6f626172"},
	} {
		vm := modtest.New(t, encodingmod.Module{}, encodingmod.Stub)
		require.NoError(t, vm.State.SetGlobal("text", text))
		require.NoError(t, vm.State.SetGlobal("b64", want[0]))
		require.NoError(t, vm.State.SetGlobal("hex", want[1]))
		out := vm.Run(t, `
			local e = __native.encoding
			return e.base64_encode(text) == b64 and e.base64_encode(buffer.fromstring(text)) == b64,
				e.base64_decode(b64) == text and e.base64_decode(buffer.fromstring(b64)) == text,
				e.base64_decode((string.gsub(b64, "=", ""))) == text,
				e.hex_encode(text) == hex, e.hex_decode(hex) == text and e.hex_decode(string.upper(hex)) == text`)
		require.Equal(t, []any{true, true, true, true, true}, out, text)
	}
}

func TestForms(t *testing.T) {
	require.Equal(t, []any{"+/+/", "-_-_", "-_8", "-_8=", "+/8", "\xfb\xff\xbf"}, run(t, `
		local all = "\xfb\xff\xbf"
		return e.base64_encode(all), e.base64_encode(all, "url"), e.base64_encode("\xfb\xff", "url"),
			e.base64_encode("\xfb\xff", "url", true), e.base64_encode("\xfb\xff", "std", false),
			e.base64_decode("-_-_", "url")`))
}

func TestComponents(t *testing.T) {
	require.Equal(t, []any{"a%20b%2Fc%3F%26%3D%2B%25~-._%C3%A4%00", "a b/c?&=+%~-._ä\x00", "a+b", ""}, run(t, `
		local text = "a b/c?&=+%~-._ä\0"
		return e.url_encode(text), e.url_decode(e.url_encode(text)), e.url_decode("a+b"), e.url_decode("")`))
}

func TestQueries(t *testing.T) {
	require.Equal(t, []any{"a=1&b=x%20y&b=true&c=", map[string]any{
		"a": []any{"1", "3"}, "b": []any{""}, "c d": []any{"e f"}, "": []any{"z"}, "k": []any{"a=b;c"},
	}, map[string]any{}}, run(t, `
		return e.query_encode({ b = {"x y", true}, a = 1, c = "", d = {} }),
			e.query_decode("?a=1&&b&c+d=e%20f&a=3&=z&k=a=b;c&"), e.query_decode("")`))
}

func TestErrorsSayWhere(t *testing.T) {
	for call, want := range map[string]struct {
		message  string
		position float64
	}{
		`e.base64_decode, "Zm9v!A=="`:    {`encoding.base64.decode: "!" does not belong in base64 of this form at byte 5`, 5},
		`e.base64_decode, "Zm9v\nZg=="`:  {"encoding.base64.decode: a line end is not base64 (take white space out first) at byte 5", 5},
		`e.base64_decode, "Zm9-"`:        {`encoding.base64.decode: "-" does not belong in base64 of this form at byte 4`, 4},
		`e.base64_decode, "Zm9+", "url"`: {`encoding.base64url.decode: "+" does not belong in base64 of this form at byte 4`, 4},
		`e.base64_decode, "Z"`:           {"encoding.base64.decode: base64 ends early at byte 2", 2},
		`e.hex_decode, "0g"`:             {`encoding.hex.decode: "g" is no hex digit at byte 2`, 2},
		`e.hex_decode, "abc"`:            {"encoding.hex.decode: hex ends in the middle of a byte at byte 4", 4},
		`e.url_decode, "ab%2"`:           {"encoding.url.decode: % without two hex digits behind it at byte 3", 3},
		`e.url_decode, "%41%zz"`:         {"encoding.url.decode: % without two hex digits behind it at byte 4", 4},
		`e.query_decode, "a=1&b=%&c=%"`:  {"encoding.query.decode: % without two hex digits behind it at byte 7", 7},
	} {
		out := run(t, "return pcall("+call+")")
		require.Equal(t, false, out[0], call)
		got := out[1].(map[string]any)
		require.Equal(t, "encoding", got["code"], call)
		require.Equal(t, want.message, got["message"], call)
		require.Equal(t, want.position, got["position"], call)
	}
}

// A text whose last bits or padding are wrong would be a second text for the same data.
func TestBase64IsStrict(t *testing.T) {
	for _, text := range []string{"Zh==", "Zm9=", "Zg=", "Zg===", "=", "====", "Zg==Zg==", "Zm9v====", "Zg= ="} {
		vm := modtest.New(t, encodingmod.Module{}, encodingmod.Stub)
		require.NoError(t, vm.State.SetGlobal("text", text))
		require.Equal(t, false, vm.Run(t, "return (pcall(__native.encoding.base64_decode, text))")[0], text)
	}
}

func TestWrongArguments(t *testing.T) {
	for call, want := range map[string]string{
		`e.base64_encode, {}`:           "encoding.base64.encode: argument 1 must be a string or a buffer, got table",
		`e.base64_encode, "", "mime"`:   `encoding.base64.encode: argument 2 must be "std" or "url", got "mime"`,
		`e.query_encode, { a = print }`: `encoding.query.encode: argument 1 field "a" must be a string, a number, a boolean or an array of these`,
		`e.query_encode, { 1, 2 }`:      "encoding.query.encode: argument 1 must be a table with string keys only",
	} {
		out := run(t, "return pcall("+call+")")
		require.Equal(t, want, out[1].(map[string]any)["message"], call)
	}
}

// A large value is written beside other tasks, a small one in place.
func TestLargeQueriesAreAwaited(t *testing.T) {
	vm := modtest.New(t, encodingmod.Module{}, encodingmod.Stub)
	vm.Run(t, `__native.encoding.query_encode({ a = 1 })`)
	require.Empty(t, vm.Awaited)
	out := vm.Run(t, `local value = string.rep("x", 5000000)
		return #__native.encoding.query_encode({ a = value }), select(2, pcall(__native.encoding.query_encode, { a = value, b = print })).message`)
	require.Equal(t, []any{5000002.0,
		`encoding.query.encode: argument 1 field "b" must be a string, a number, a boolean or an array of these`}, out)
	require.Equal(t, []string{"encoding.query.encode", "encoding.query.encode"}, vm.Awaited)
}
