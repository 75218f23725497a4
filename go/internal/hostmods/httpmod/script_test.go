package httpmod

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/modtest"
)

func pieces(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/slow":
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
	case "/moved":
		http.Redirect(w, r, "/", http.StatusFound)
	default:
		sent, _ := io.ReadAll(r.Body)
		for n := range 3 {
			fmt.Fprintf(w, "piece %d\n", n)
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(sent)
	}
}

func newStreamVM(t *testing.T) *modtest.VM {
	t.Helper()
	vm := newModuleVM(t)
	require.NoError(t, vm.State.SetGlobal("url", serve(t, pieces).URL))
	return vm
}

func TestScriptRequestOptions(t *testing.T) {
	vm := newStreamVM(t)
	out := vm.Run(t, `
		local http = __native.http
		local r = http.request({url = url, method = "post", body = buffer.fromstring("a\0b"), headers = {x = "y"}, timeout = 5})
		local moved = http.request({url = url .. "/moved", max_redirects = 0})
		return r.status, r.body, moved.status, moved.headers.Location`)
	require.Equal(t, []any{200.0, "piece 0\npiece 1\npiece 2\na\x00b", 302.0, "/"}, out)
}

func TestScriptStream(t *testing.T) {
	vm := newStreamVM(t)
	out := vm.Run(t, `
		local http = __native.http
		local s = http.open({url = url, method = "POST", body = "end"})
		local list = {}
		while true do
			local piece = http.read(s.id, 4)
			if not piece then break end
			assert(#piece <= 4)
			table.insert(list, piece)
		end
		http.close(s.id)
		return s.status, table.concat(list), pcall(http.read, s.id)`)
	require.Equal(t, []any{200.0, "piece 0\npiece 1\npiece 2\nend", false}, out[:3])
	require.Contains(t, out[3].(map[string]any)["message"], "http.read: there is no open stream 1")
}

func TestScriptStreamClosesWithItsTable(t *testing.T) {
	vm := newStreamVM(t)
	vm.Run(t, `
		local http = __native.http
		kept = http.open({url = url, method = "POST", body = "end"})
		assert(kept.is_open())
		for _ = 1, 300 do
			http.read(http.open({url = url, method = "POST", body = "end"}).id, 1)
		end
		local id = http.open({url = url, method = "POST", body = "end"}).id
		http.close(id)
		assert(http.read(kept.id, 5) == "piece")`)
	vm.Collect()
	out := vm.Run(t, `
		local open = 0
		for id = 1, 302 do
			if pcall(__native.http.read, id, 1) then open += 1 end
		end
		return open, kept.is_open(), __native.http.close(kept.id), kept.is_open()`)
	require.Equal(t, []any{1.0, true, nil, false}, out)
}

func TestScriptRequestErrors(t *testing.T) {
	vm := newStreamVM(t)
	for source, want := range map[string][2]string{
		`http.request()`:                                       {"invalid_argument", "http.request: argument 1 must be a table, got no value"},
		`http.request({})`:                                     {"invalid_argument", "http.request: argument 1: .url must be a string, got nil"},
		`http.request({url = url, timeout = 0})`:               {"invalid_argument", "http.request: argument 1: .timeout must be a number of seconds above 0"},
		`http.request({url = url, timeout = 0/0})`:             {"invalid_argument", "timeout"},
		`http.request({url = url, max_body = -1})`:             {"invalid_argument", "max_body"},
		`http.request({url = url, body = {}})`:                 {"invalid_argument", ".body"},
		`http.request({url = url .. "/slow", timeout = 0.05})`: {"timeout", "no complete answer within 50ms"},
		`http.request({url = url, max_body = 10})`:             {"limit", "over the limit of 10 bytes"},
		`http.open({url = url .. "/slow", timeout = 0.05})`:    {"timeout", "no complete answer"},
		`http.open({url = "http://127.0.0.1:1/"})`:             {"upstream", "refused"},
		`http.read(999)`:                                       {"invalid_argument", "no open stream"},
		`http.read(http.open({url = url}).id, 0)`:              {"invalid_argument", "argument 2 must be a number of bytes"},
		`local s = http.open({url = url, max_body = 3}).id http.read(s, 100) http.read(s, 100)`: {"limit", "over the limit"},
	} {
		out := vm.Run(t, "local http = __native.http return pcall(function() "+source+" end)")
		require.Equal(t, false, out[0], source)
		e := out[1].(map[string]any)
		require.Equal(t, want[0], e["code"], source)
		require.Contains(t, e["message"], want[1], source)
	}
}

func TestScriptStreamsAreFewAndEndWithTheRun(t *testing.T) {
	client := newClient(t, Options{Policy: Policy{AllowAll: true}})
	i, err := NewModule(client).NewInstance(nil)
	require.NoError(t, err)
	s := &i.(*instance).streams
	early, ok := s.reserve()
	require.True(t, ok)
	for range maxStreams - 1 {
		_, ok := s.reserve()
		require.True(t, ok)
	}
	_, ok = s.reserve()
	require.False(t, ok)
	server := serve(t, pieces)
	stream, err := client.Open(t.Context(), t.Context(), &Request{URL: server.URL + "/"})
	require.NoError(t, err)
	require.Equal(t, 1, s.settle(early, stream))
	s.settle(early, nil)
	_, ok = s.reserve()
	require.True(t, ok, "a failed request gives its place back")
	used, err := s.find(1)
	require.NoError(t, err)
	reader, stop := context.WithCancel(t.Context())
	defer stop()
	one, first := s.claim(used)
	require.True(t, first)
	other, first := s.claim(used)
	require.False(t, first)
	one.ctx = reader
	close(one.began)
	require.ErrorContains(t, s.queue(used, other), "another task is reading")
	stop()
	time.AfterFunc(10*time.Millisecond, func() { s.leave(1, used, false) })
	require.NoError(t, s.queue(used, other), "who was cancelled counts no more")
	s.leave(1, used, false)
	i.EndRun()
	_, err = stream.Read(make([]byte, 10))
	failure(t, err, CodeCancelled)

	late, err := client.Open(t.Context(), t.Context(), &Request{URL: server.URL + "/"})
	require.NoError(t, err)
	require.Zero(t, s.settle(early, late), "a stream of an ended run is closed")
	_, err = late.Read(make([]byte, 10))
	failure(t, err, CodeCancelled)
	_, ok = s.reserve()
	require.True(t, ok)
	require.Zero(t, len(s.open))
}
