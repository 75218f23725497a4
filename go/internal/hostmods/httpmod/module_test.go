package httpmod

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/modtest"
)

func newModuleVM(t *testing.T) *modtest.VM {
	t.Helper()
	client, err := New(Options{Policy: Policy{AllowAll: true}})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdle)
	return modtest.New(t, NewModule(client), Stub)
}

func TestModuleRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("Set-Cookie", "a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Add("X-Many", "one")
		w.Header().Add("X-Many", "two")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(r.Method + " " + r.Header.Get("X-Sent") + " " + string(body)))
	}))
	t.Cleanup(server.Close)
	vm := newModuleVM(t)
	require.NoError(t, vm.State.SetGlobal("url", server.URL))
	out := vm.Run(t, `
		local r = __native.http_request(url, "post", {["x-sent"] = "yes"}, "a\0b")
		return r.status, r.body, r.headers["SET-COOKIE"], #r.header_values["Set-Cookie"], r.headers["x-MANY"],
			type(r.header_values["content-length"])`)
	require.Equal(t, []any{201.0, "POST yes a\x00b", "a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT", 2.0, "one, two", "table"}, out)
}

func TestModuleErrors(t *testing.T) {
	vm := newModuleVM(t)
	for source, want := range map[string][2]string{
		`return pcall(__native.http_request)`:                                     {"invalid_argument", "http_request: argument 1 must be a string, got no value"},
		`return pcall(__native.http_request, "ftp://x/")`:                         {"invalid_argument", "must begin with http"},
		`return pcall(__native.http_request, "http://127.0.0.1:1/")`:              {"upstream", "127.0.0.1:1"},
		`return pcall(__native.http_request, "http://x/", "GET", {a = {b = 1}})`:  {"invalid_argument", "header a"},
		`return pcall(__native.http_request, "http://x/", "GET", {a = "b\r\nc"})`: {"invalid_argument", "header"},
		`return pcall(__native.http_request, "http://x/", "GET", {1, 2})`:         {"invalid_argument", "string keys"},
		`return pcall(__native.http_request, "http://x/", "GET", {}, {})`:         {"invalid_argument", "argument 4 must be a string or a buffer, got table"},
	} {
		out := vm.Run(t, source)
		require.Equal(t, false, out[0], source)
		e := out[1].(map[string]any)
		require.Equal(t, want[0], e["code"], source)
		require.Contains(t, e["message"], want[1], source)
	}
}

// What a script puts into a request is refused before it is copied.
func TestArgumentsThatAreTooLarge(t *testing.T) {
	client, err := New(Options{Policy: Policy{AllowAll: true}})
	require.NoError(t, err)
	vm := modtest.New(t, NewModule(client), Stub)
	for arguments, want := range map[string]string{
		`"GET", {X = table.create(1e6, "y")}`: "argument 3 must not hold more than 1000 headers",
		`"GET", {X = ("y"):rep(1e6)}`:         "argument 3 must not be longer than 262144 bytes in all",
		`"GET", (function() local h = {} for i = 1, 2000 do h["x" .. i] = "y" end return h end)()`: "argument 3 must not hold more than 1000 headers",
		`("x"):rep(1e6), {}`:                  "the method is longer than 64 bytes",
		`"GET", {Host = "a b"}`:               `the Host header "a b" is not a valid host`,
		`"GET", {Host = "evil.example/\\ x"}`: "is not a valid host",
	} {
		out := vm.Run(t, `return pcall(__native.http_request, "http://127.0.0.1:1/", `+arguments+`)`)
		require.Equal(t, false, out[0])
		require.Contains(t, out[1].(map[string]any)["message"], want, arguments)
	}
}
