package httpmod

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestC03_MethodAndBodyOnRedirect(t *testing.T) {
	type seen struct {
		method, body string
		header       http.Header
	}
	got := make(chan seen, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/end" {
			var status int
			_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
			w.Header().Set("Location", "end")
			w.WriteHeader(status)
			return
		}
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Method, string(body), r.Header}
	})
	c := newClient(t, Options{Policy: everything})
	for _, row := range []struct {
		status       int
		method, want string
	}{
		{303, "POST", "GET"}, {303, "PUT", "GET"}, {303, "HEAD", "HEAD"}, {301, "POST", "GET"}, {302, "POST", "GET"},
		{301, "PUT", "PUT"}, {302, "DELETE", "DELETE"}, {307, "POST", "POST"}, {308, "PATCH", "PATCH"},
	} {
		t.Run(fmt.Sprint(row.status, row.method), func(t *testing.T) {
			resp, err := c.Do(t.Context(), &Request{
				Method: row.method, URL: fmt.Sprintf("%s/%d", s.URL, row.status), Body: []byte(`{"a":1}`),
				Header: http.Header{"content-type": {"application/json"}, "Content-Language": {"en"}, "X-Keep": {"1"}, "Authorization": {"me"}},
			})
			require.NoError(t, err)
			r := <-got
			assert.Equal(t, s.URL+"/end", resp.URL)
			assert.Equal(t, row.want, r.method)
			assert.Equal(t, "1", r.header.Get("X-Keep"))
			assert.Equal(t, "me", r.header.Get("Authorization"), "the origin is the same")
			if row.want != row.method {
				assert.Empty(t, r.body)
				assert.Empty(t, r.header.Get("Content-Length"))
				assert.Empty(t, r.header.Get("Content-Type"))
				assert.Empty(t, r.header.Get("Content-Language"))
				return
			}
			assert.Equal(t, `{"a":1}`, r.body)
			assert.Equal(t, "application/json", r.header.Get("Content-Type"))
			assert.Equal(t, "7", r.header.Get("Content-Length"))
		})
	}
}

// Another port is another origin. The chain comes back to the first one, where the
// credentials must not reappear.
func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	secrets := http.Header{
		"Authorization": {"Bearer x"}, "Cookie": {"s=1"}, "Proxy-Authorization": {"Basic x"}, "X-Api-Key": {"k"}, "x-amz-security-token": {"t"},
		"Private-Thing": {"v"}, "Accept": {"text/plain"},
	}
	type seen struct {
		at, host string
		header   http.Header
	}
	var got []seen
	var there string
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, seen{"first", r.Host, r.Header})
		if r.URL.Path == "/" {
			http.Redirect(w, r, there, http.StatusFound)
		}
	})
	second := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, seen{"second", r.Host, r.Header})
		http.Redirect(w, r, first.URL+"/back", http.StatusFound)
	})
	there = second.URL
	c := newClient(t, Options{Policy: everything})
	r := &Request{URL: first.URL, Header: secrets.Clone()}
	r.Header.Set("Host", "named.test")
	_, err := c.Do(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, got, 3)
	for name := range secrets {
		assert.NotEmpty(t, got[0].header.Get(name), name)
	}
	assert.Equal(t, "named.test", got[0].host)
	for _, hop := range got[1:] {
		for name := range secrets {
			if name != "Accept" {
				assert.Empty(t, hop.header.Values(name), "%s got %s", hop.at, name)
			}
		}
		assert.Equal(t, "text/plain", hop.header.Get("Accept"))
		assert.NotEqual(t, "named.test", hop.host)
	}
}

func TestSchemeChangeIsAnotherOrigin(t *testing.T) {
	h, err := newHop(&Request{URL: "https://example.com:8443/", Header: http.Header{"Authorization": {"x"}}}, "ua")
	require.NoError(t, err)
	for _, where := range []string{"http://example.com:8443/", "https://example.com/", "https://other.test:8443/", "//user:pw@a.test:8443/"} {
		next, err := h.redirect(302, where)
		require.NoError(t, err)
		assert.Empty(t, next.header.Get("Authorization"), where)
	}
	next, err := h.redirect(302, "https://EXAMPLE.com.:8443/other")
	require.NoError(t, err)
	assert.Equal(t, "x", next.header.Get("Authorization"), "the same origin in another spelling")
}

func TestRedirectLimit(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		if n > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", n-1), http.StatusFound)
		}
	})
	c := newClient(t, Options{Policy: everything})
	resp, err := get(t, c, s.URL+"/10")
	require.NoError(t, err)
	assert.Equal(t, s.URL+"/0", resp.URL)
	_, err = get(t, c, s.URL+"/11")
	failure(t, err, CodeLimit)
	_, err = c.Do(t.Context(), &Request{URL: s.URL + "/3", MaxRedirects: 2})
	failure(t, err, CodeLimit)
	resp, err = c.Do(t.Context(), &Request{URL: s.URL + "/3", MaxRedirects: -1})
	require.NoError(t, err)
	assert.Equal(t, http.StatusFound, resp.Status)
	assert.Equal(t, "/2", resp.Header.Get("Location"))
}

func TestStrangeRedirects(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(http.StatusFound)
	})
	c := newClient(t, Options{Policy: everything})
	for _, to := range []string{"file:///etc/passwd", "javascript:alert(1)", "http://", "http://a..b/", "http://[::1", "gopher://127.0.0.1/", "http://1.2.3.4.5/"} {
		_, err := get(t, c, s.URL+"/?to="+strings.ReplaceAll(to, "#", "%23"))
		failure(t, err, CodeUpstream)
	}
	resp, err := get(t, c, s.URL)
	require.NoError(t, err, "without Location it is the answer")
	assert.Equal(t, http.StatusFound, resp.Status)
}
