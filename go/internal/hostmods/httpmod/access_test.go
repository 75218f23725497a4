package httpmod

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every spelling of a private address is refused, directly and as the second hop
// from a host that is granted.
func TestC01_PrivateAddressesAreBlockedOnEveryHop(t *testing.T) {
	var reached atomic.Int32
	inner := serve(t, func(w http.ResponseWriter, r *http.Request) { reached.Add(1) })
	port := portOfURL(t, inner.URL)
	outer := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://"+r.URL.Query().Get("to")+"/")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	gate := strings.TrimPrefix(outer.URL, "http://")
	c := newClient(t, Options{Policy: Policy{Net: []string{"*"}, NetPrivate: []string{gate}}})
	for _, host := range []string{
		"127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "127.1", "localhost",
		"localhost.", "LOCALHOST", "0", "0.0.0.0", "[::]", "[::1]", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]",
		"[64:ff9b::7f00:1]", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1",
	} {
		to := host + ":" + port
		_, err := get(t, c, "http://"+to+"/")
		assert.Equal(t, keyPrivate, failure(t, err, CodePermission).Key, to)
		_, err = get(t, c, outer.URL+"/?to="+strings.ReplaceAll(to, "%", "%25"))
		e := failure(t, err, CodePermission)
		assert.Equal(t, keyPrivate, e.Key, to)
		assert.Contains(t, e.Message, "redirected here", to)
	}
	assert.Zero(t, reached.Load(), "a blocked host was reached")
}

// The name's first answer is granted, its second is not: the second connection
// must be refused although the name was fine a moment ago.
func TestC01_NameThatChangesItsAddress(t *testing.T) {
	names := newNameServer(t, map[string][][]string{
		"turn.test.": {{"127.0.0.2"}, {"127.0.0.1"}},
		"both.test.": {{"127.0.0.1", "127.0.0.2"}},
	})
	var reached atomic.Int32
	p := serveOn(t, "127.0.0.2:0", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close") })
	serveOn(t, "127.0.0.1:"+p, func(w http.ResponseWriter, r *http.Request) { reached.Add(1) })
	c := newClient(t, Options{
		Policy:   Policy{Net: []string{"*.test"}, NetPrivate: []string{"127.0.0.2"}},
		Resolver: names.resolver(),
	})
	resp, err := get(t, c, "http://turn.test:"+p)
	require.NoError(t, err)
	assert.Equal(t, 200, resp.Status)
	_, err = get(t, c, "http://turn.test:"+p)
	e := failure(t, err, CodePermission)
	assert.Equal(t, keyPrivate, e.Key)
	assert.Equal(t, "turn.test", e.Host)
	assert.Equal(t, 2, names.queries("turn.test."))

	_, err = get(t, c, "http://both.test:"+p)
	assert.NoError(t, err, "the granted one of two addresses is used")
	assert.Zero(t, reached.Load())
}

func TestUngrantedNameIsNotLookedUp(t *testing.T) {
	names := newNameServer(t, map[string][][]string{"secret.evil.test.": {{"127.0.0.2"}}})
	c := newClient(t, Options{Policy: Policy{Net: []string{"good.test"}, NetPrivate: []string{"127.0.0.0/8"}}, Resolver: names.resolver()})
	_, err := get(t, c, "http://secret.evil.test/")
	assert.Equal(t, keyNet, failure(t, err, CodePermission).Key)
	assert.Zero(t, names.queries("secret.evil.test."))
}

func TestHostHeaderIsHeldAgainstTheLists(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Host)) })
	addr := strings.TrimPrefix(s.URL, "http://")
	c := newClient(t, Options{Policy: Policy{Net: []string{"good.test"}, NetPrivate: []string{addr}}})
	ask := func(host string) (*Response, error) {
		return c.Do(t.Context(), &Request{URL: s.URL, Header: http.Header{"host": {host}}})
	}
	resp, err := ask("good.test")
	require.NoError(t, err)
	assert.Equal(t, "good.test", string(resp.Body))
	resp, err = ask(addr)
	require.NoError(t, err)
	assert.Equal(t, addr, string(resp.Body))
	_, err = ask("evil.test")
	failure(t, err, CodePermission)
	_, err = ask("good.test/evil")
	failure(t, err, CodeArgument)
}

func TestClientsDoNotShareConnections(t *testing.T) {
	seen := make(chan string, 2)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { seen <- r.RemoteAddr })
	for range 2 {
		_, err := get(t, newClient(t, Options{Policy: everything}), s.URL)
		require.NoError(t, err)
	}
	assert.NotEqual(t, <-seen, <-seen)
}
