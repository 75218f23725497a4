package server_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Whatever is sent: an object comes back as it went, anything else is 400 with the reason.
func FuzzCallBody(f *testing.F) {
	for _, body := range []string{"", "{}", "[", "[]", "null", `{"a":1,"a":2}`, `{"a":[1,2.5,-0,1e300,9007199254740993,123456789012345678901234567890]}`,
		`{"a":{"b":null,"c":[]},"\u0000":"\ud83d\ude00"}`, "{\"a\":\"\xff\"}", `{"a":`, " {} ", "\xef\xbb\xbf{}", strings.Repeat(`{"a":`, 300)} {
		f.Add(body, "application/json")
	}
	f.Add("{}", "application/json; charset=utf-16")
	f.Add("{}", `application/json; a="`)
	f.Add("a=1", "text/plain")
	host := toolhost.New(toolhost.Options{})
	host.Serve(set{echo(f)})
	f.Cleanup(host.Close)
	s, err := server.New(server.Options{Host: host, BodyLimit: 10_000})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body, kind string) {
		r := httptest.NewRequest("POST", "http://localhost/tools/echo", strings.NewReader(body))
		r.Header["Content-Type"] = []string{kind}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		text := w.Body.Bytes()
		answer, err := jsonvalue.Decode(text, jsonvalue.Options{})
		require.NoError(t, err, "%q", text)
		require.NotEmpty(t, w.Header().Get("X-Request-Id"))
		args, err := jsonvalue.Decode([]byte(body), jsonvalue.Options{})
		object, ok := args.(map[string]any)
		switch {
		case len(body) > 10_000:
			require.Equal(t, 413, w.Code)
		case w.Code == 200 && body == "":
			require.Equal(t, `{"result":{}}`, string(text))
		case w.Code == 200:
			require.NoError(t, err)
			require.True(t, ok)
			want, err := jsonvalue.Encode(map[string]any{"result": object})
			require.NoError(t, err)
			require.Equal(t, string(want), string(text))
		default:
			require.Equal(t, 400, w.Code, "%s", text)
			require.False(t, ok && kind == "application/json", "%s", text)
			require.Equal(t, "bad_request", answer.(map[string]any)["error"].(map[string]any)["code"])
		}
	})
}
