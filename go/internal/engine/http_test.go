package engine_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// The client itself is tested in httpmod; here each case goes through a script.

func withHTTP(t testing.TB, o httpmod.Options) option {
	t.Helper()
	client, err := httpmod.New(o)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdle)
	return withModule(httpmod.NewModule(client))
}

func everywhere() httpmod.Options { return httpmod.Options{Policy: httpmod.Policy{AllowAll: true}} }

func serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// silent is a peer that accepts and then writes what it is told, a byte at a time; closed counts
// connections that the client gave up.
func silent(t testing.TB, text string, pause time.Duration) (url string, closed *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	closed = &atomic.Int32{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				go func() {
					for i := range text {
						time.Sleep(pause) // what the case is about: a slow peer
						if _, err := c.Write([]byte{text[i]}); err != nil {
							return
						}
					}
				}()
				_, _ = io.Copy(io.Discard, c)
				closed.Add(1)
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/", closed
}

// A21: a peer that is silent or slow, a long sleep and a slow name end with the time limit.
func TestA21WaitsEndWithTheTimeLimit(t *testing.T) {
	never, neverClosed := silent(t, "", 0)
	trickle, trickleClosed := silent(t, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 1000), 20*time.Millisecond)
	dns, err := net.ListenPacket("udp", "127.0.0.1:0") // a name server that never answers
	require.NoError(t, err)
	defer dns.Close()
	hangs := everywhere()
	hangs.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "udp", dns.LocalAddr().String())
		if err == nil {
			context.AfterFunc(ctx, func() { c.Close() }) // as the module's own resolver does
		}
		return c, err
	}}
	for name, c := range map[string]struct {
		source  string
		options httpmod.Options
		closed  *atomic.Int32
	}{
		"never answers":   {`__native.http_request("` + never + `")`, everywhere(), neverClosed},
		"trickles":        {`__native.http_request("` + trickle + `")`, everywhere(), trickleClosed},
		"in a comparator": {`table.sort({2, 1}, function() __native.http_request("` + never + `") end)`, everywhere(), nil},
		"catching it":     {`while true do pcall(__native.http_request, "` + never + `") end`, everywhere(), nil},
		"sleep":           {`__native.sleep(60000)`, everywhere(), nil},
		"name server":     {`__native.http_request("http://nowhere.test/")`, hangs, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withHTTP(t, c.options))
			late, err := w.deadline(200*time.Millisecond, c.source)
			requireEnds(t, luau.CodeTimeout, soon, late, err)
			if c.closed != nil {
				require.Eventually(t, func() bool { return c.closed.Load() > 0 }, patience, time.Millisecond, "the socket stays open")
			}
		})
	}
}

func TestX03CancelInHTTP(t *testing.T) {
	url, _ := silent(t, "", 0)
	w := newWorld(t, withHTTP(t, everywhere()))
	late, err := w.cancelled(`__native.probe_signal("ready") __native.http_request("`+url+`")`, 10*time.Millisecond)
	requireEnds(t, luau.CodeCancelled, soon, late, err)
}

// C01: private addresses are refused when dialling, in every spelling.
func TestC01PrivateAddresses(t *testing.T) {
	home := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/to" {
			http.Redirect(rw, r, r.URL.RawQuery, http.StatusFound)
		}
		fmt.Fprint(rw, "home")
	})
	host := strings.TrimPrefix(home, "http://")
	w := newWorld(t, withHTTP(t, httpmod.Options{Policy: httpmod.Policy{Net: []string{"*"}, NetPrivate: []string{host}}}))
	require.Equal(t, "home\n", w.prints(`print(__native.http_request(...).body)`, home+"/to?"+home+"/?a=1"), "the one that is allowed")
	for _, to := range []string{
		"http://169.254.169.254/latest/meta-data", "http://[::ffff:127.0.0.1]/", "http://2130706433/", "http://0x7f.1/",
		"http://localhost./", "http://127.0.0.1:1/", "http://[::1]/", "http://0/", "http://10.0.0.1/",
	} {
		err := w.run(`__native.http_request(...)`, home+"/to?"+to)
		requireCode(t, "permission", err)
		require.Contains(t, err.Error(), "net_private", to)
		out := w.prints(`local ok, e = pcall(__native.http_request, ...) print(ok, e.code)`, to)
		require.Equal(t, "false\tpermission\n", out, to)
	}
}

// C03: 303 turns a POST into a GET without a body; 307 repeats it.
func TestC03Redirects(t *testing.T) {
	url := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/303", "/307":
			code := map[string]int{"/303": 303, "/307": 307}[r.URL.Path]
			http.Redirect(rw, r, "/end", code)
		default:
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(rw, "%s %q %q", r.Method, r.Header.Get("Content-Type"), body)
		}
	})
	w := newWorld(t, withHTTP(t, everywhere()))
	out := w.prints(`
		for _, code in {"303", "307"} do
			print(__native.http_request((...) .. "/" .. code, "POST", {["Content-Type"] = "application/json"}, '{"a":1}').body)
		end`, url)
	require.Equal(t, "GET \"\" \"\"\nPOST \"application/json\" \"{\\\"a\\\":1}\"\n", out)
}

// C04: a body that inflates beyond the limit is an error, not a cut body, in bounded memory.
func TestC04GzipBomb(t *testing.T) {
	url := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(rw)
		zeros := make([]byte, 1<<20)
		for range 1024 {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
		_ = z.Close()
	})
	o := everywhere()
	o.MaxBody = 10 << 20
	w := newWorld(t, withHTTP(t, o))
	before := residentMiB(t)
	out := w.prints(`local ok, e = pcall(__native.http_request, ...) print(ok, e.code, e)`, url)
	require.True(t, strings.HasPrefix(out, "false\t"), out)
	require.Contains(t, out, "over the limit of 10485760 bytes")
	require.Less(t, residentMiB(t)-before, 256)

	// The VM's own limit counts as well.
	o.MaxBody = 1 << 30
	w = newWorld(t, withHTTP(t, o), withMemory(16<<20))
	requireCode(t, luau.CodeMemory, w.run(`__native.http_request(...)`, url))
	require.Equal(t, "fine\n", w.prints(`print("fine")`))
}

// C05: repeated headers stay apart, and names are read in any case.
func TestC05Headers(t *testing.T) {
	const one, two = "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2; Expires=Thu, 22 Oct 2026 07:28:00 GMT"
	url := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Add("Set-Cookie", one)
		rw.Header().Add("Set-Cookie", two)
		rw.Header().Set("X-Mixed-Case", "once")
		rw.Header()["x-rAw"] = []string{"raw"}
	})
	w := newWorld(t, withHTTP(t, everywhere()))
	out := w.prints(`
		local r = __native.http_request(...)
		for _, c in r.header_values["SET-cookie"] do print(c) end
		print(r.headers["x-mixed-case"], r.headers["X-MIXED-CASE"], r.headers["X-Raw"], r.headers.nothing)
		print(type(r.headers["x-raw"]), type(r.headers["Set-Cookie"]), #r.header_values["x-raw"])`, url)
	require.Equal(t, one+"\n"+two+"\nonce\tonce\traw\tnil\nstring\tstring\t1\n", out)
}

// A22: what a script leaves open when it ends is gone: timers by the thousand, and requests.
func TestA22EndedScriptsLeaveNothing(t *testing.T) {
	url, closed := silent(t, "", 0)
	timers := `
		for _ = 1, 1000 do
			__native.probe_spawn(function() __native.sleep(60000) end)
		end
		__native.sleep(1)`
	requests := `
		for _ = 1, 20 do
			__native.probe_spawn(function() __native.http_request("` + url + `") end)
		end
		__native.sleep(1)`
	t.Run("timers", func(t *testing.T) { leavesNothing(t, timers, 1000) })
	t.Run("requests", func(t *testing.T) { leavesNothing(t, requests, 100) })
	require.Positive(t, closed.Load())
}

// leavesNothing runs a script many times in one VM and looks at what piles up.
func leavesNothing(t *testing.T, source string, times int) {
	if testing.Short() {
		times /= 20
	}
	w := newWorld(t, withHTTP(t, everywhere()))
	run := func(n int) {
		for range n {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			require.NoError(t, w.vm.RunSource(ctx, "=t", source, engine.RunOptions{Mode: engine.EndWithMain}))
			cancel()
		}
	}
	run(5)
	require.NoError(t, w.vm.State().Collect())
	stats, err := w.vm.State().Stats()
	require.NoError(t, err)
	before := runtime.NumGoroutine()
	descriptors := openFiles()
	run(times)
	require.Eventually(t, func() bool {
		return runtime.NumGoroutine() <= before+5 && openFiles() <= descriptors+5
	}, patience, 5*time.Millisecond, "goroutines or descriptors grow")
	// Functions that Go held are given up by its collector, whose pace decides how large the table of
	// references becomes. What piled up would be far larger.
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		runtime.GC()
		require.NoError(c, w.vm.State().Collect())
		after, err := w.vm.State().Stats()
		require.NoError(c, err)
		require.Zero(c, after.Refs)
		require.Less(c, after.MemoryUsed, stats.MemoryUsed+4<<20)
	}, patience, 5*time.Millisecond, "references or memory grow")
}

// openFiles counts descriptors, where the system lists them.
func openFiles() int {
	files, _ := os.ReadDir("/proc/self/fd")
	return len(files)
}
