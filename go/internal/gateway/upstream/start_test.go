package upstream

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A server that never answers is given up after its time, tried again with ever longer pauses, and holds up nobody.
func TestHangingStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked sync.Map // methods; programs that have ended may still be heard
		var healed atomic.Bool
		p := newProgram(t, func(r *running, m message) bool {
			asked.Store(m.method, true)
			return !healed.Load()
		})
		began := time.Now()
		s := Open(Config{Name: "fake", Command: "fake"}, Options{Start: p.start})
		defer s.Close()
		require.Equal(t, Connecting, s.Status().State)
		require.Nil(t, s.Snapshot())
		err := s.Ready(t.Context())
		require.Equal(t, `mcp server "fake": it did not answer within 30s of its start`, err.Error())
		require.Equal(t, 30*time.Second, time.Since(began))
		require.Equal(t, Unhealthy, s.Status().State)
		for _, method := range []string{"server/discover", "initialize"} { // the older way is tried beside the newer one
			_, there := asked.Load(method)
			require.True(t, there, method)
		}

		time.Sleep(10 * time.Minute)
		starts := p.starts.Load()
		require.Greater(t, starts, int32(4))
		require.Less(t, starts, int32(15))
		healed.Store(true)
		time.Sleep(2 * time.Minute)
		require.Equal(t, Healthy, s.Status().State)
		require.Empty(t, s.Status().Reason)
	})
}

// A server that does not know server/discover and says nothing to it is asked the older way.
func TestSilentAboutDiscover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, func(r *running, m message) bool { return m.method == "server/discover" })
		began := time.Now()
		s := Open(Config{Name: "fake", Command: "fake"}, Options{Start: p.start})
		defer s.Close()
		require.NoError(t, s.Ready(t.Context()))
		require.Equal(t, discoverTime, time.Since(began))
		require.Equal(t, "2025-11-25", s.Status().Version)
	})
}

// One that answers server/discover late may speak that revision only.
func TestLateDiscover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, func(r *running, m message) bool {
			switch m.method {
			case "server/discover":
				time.Sleep(discoverTime + time.Second)
				r.result(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new"}}}`)
			case "initialize":
				r.say(refusal(m.id, numberBadVersion, "no"))
			default:
				return false
			}
			return true
		})
		s := Open(Config{Name: "fake", Command: "fake"}, Options{Start: p.start})
		defer s.Close()
		require.NoError(t, s.Ready(t.Context()))
		require.Equal(t, stateless, s.Status().Version)
		require.JSONEq(t, `{"name":"new"}`, string(s.Status().Info))
	})
}

// One that refuses a revision, and names it among those that it speaks, is asked once more.
func TestRefusesWhatItSpeaks(t *testing.T) {
	asked := 0
	p := newProgram(t, func(r *running, m message) bool {
		if m.method != "server/discover" {
			return false
		}
		if asked++; asked == 1 {
			r.sayf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no","data":{"supported":["2026-07-28"]}}}`, m.id, numberBadVersion)
		} else {
			r.result(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		}
		return true
	})
	require.Equal(t, stateless, p.open(Options{}).Status().Version)
	require.Equal(t, 2, asked)
}

// One that ends at what it does not know is started once more, and asked the older way.
func TestDiesOfDiscover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, func(r *running, m message) bool {
			if m.method == "server/discover" {
				_, _ = r.err.Write([]byte("unknown method\n"))
				r.die()
			}
			return m.method == "server/discover"
		})
		s := Open(Config{Name: "fake", Command: "fake"}, Options{Start: p.start})
		defer s.Close()
		err := s.Ready(t.Context())
		require.ErrorContains(t, err, "it said: unknown method")
		time.Sleep(time.Minute)
		require.NoError(t, s.Ready(t.Context()))
		require.EqualValues(t, 2, p.starts.Load())
		require.Equal(t, []string{"unknown method"}, s.Status().Stderr)
	})
}

func TestUnknownRevision(t *testing.T) {
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "initialize" {
			r.result(m, `{"protocolVersion":"1999-01-01","capabilities":{}}`)
		}
		return m.method == "initialize"
	})
	s := Open(Config{Name: "fake", Command: "fake"}, Options{Start: p.start})
	defer s.Close()
	require.ErrorContains(t, s.Ready(t.Context()), "the revision 1999-01-01")
}

func TestCannotBeStarted(t *testing.T) {
	s := Open(Config{Name: "fake", Command: "fake", Env: map[string]string{"KEY": "a-long-secret"}}, Options{
		Start: func(c Command) (*Process, error) { return nil, errors.New("no a-long-secret here") },
	})
	defer s.Close()
	require.EqualError(t, s.Ready(t.Context()), `mcp server "fake": it cannot be started: no [redacted] here`)
	_, err := call(t, s, "echo", "{}", CallOptions{})
	require.Equal(t, CodeUnavailable, failure(t, err).Code)
	none := Open(Config{Name: "none", Command: "x"}, Options{})
	defer none.Close()
	require.ErrorContains(t, none.Ready(t.Context()), "cannot be started here")
}

// Close ends what waits, whatever the state.
func TestClose(t *testing.T) {
	p := newProgram(t, func(r *running, m message) bool { return m.method == "tools/call" })
	s := p.open(Options{})
	failed := make(chan error, 1)
	go func() {
		_, err := s.Call(t.Context(), "echo", nil, CallOptions{})
		failed <- err
	}()
	eventually(t, func() bool { return under(s) == 1 })
	s.Close()
	require.Equal(t, CodeClosed, failure(t, <-failed).Code)
	_, err := call(t, s, "echo", "{}", CallOptions{})
	require.Equal(t, CodeClosed, failure(t, err).Code)
	require.Error(t, s.Ready(t.Context()))
	s.Close()

	hangs := newProgram(t, func(r *running, m message) bool { return true })
	s = Open(Config{Name: "fake", Command: "fake"}, Options{Start: hangs.start})
	eventually(t, func() bool { return hangs.starts.Load() == 1 })
	s.Close()
}

func TestEnvironment(t *testing.T) {
	ours := []string{"PATH=/bin", "HOME=/h", "API_KEY=k", "LC_ALL=C", "TMPDIR=/t", "SHELL=() { x; }", "USER=u", "ODD"}
	got := environment(ours, map[string]string{"USER": "other", "MORE": "1"})
	require.Equal(t, "HOME=/h LC_ALL=C MORE=1 PATH=/bin TMPDIR=/t USER=other", strings.Join(got, " "))
}

// A process that has stopped to answer anything is started anew; one that only has not answered a call is not.
func TestProcessThatAnswersNothing(t *testing.T) {
	for _, pings := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newProgram(t, func(r *running, m message) bool {
				return r.number == 1 && (m.method == "tools/call" || m.method == "ping" && !pings)
			})
			s := Open(Config{Name: "fake", Command: "fake"}, Options{Start: p.start})
			defer s.Close()
			require.NoError(t, s.Ready(t.Context()))
			_, err := s.Call(t.Context(), "echo", nil, CallOptions{})
			require.Equal(t, CodeTimeout, failure(t, err).Code)
			time.Sleep(2 * probeTime)
			require.Equal(t, Healthy, s.Status().State)
			require.Equal(t, pings, p.starts.Load() == 1)
		})
	}
}
