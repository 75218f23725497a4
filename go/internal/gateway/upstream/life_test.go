package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// timed is a call whose server may be silent for a minute, on a clock of its own.
func timed(t *testing.T, script func(r *running, m message) bool, o CallOptions) {
	synctest.Test(t, func(t *testing.T) {
		s := Open(Config{Name: "fake", Command: "fake", CallTimeout: time.Minute}, Options{Start: newProgram(t, script).start})
		defer s.Close()
		require.NoError(t, s.Ready(t.Context()))
		began := time.Now()
		_, err := s.Call(t.Context(), "echo", nil, o)
		require.NoError(t, err)
		require.Greater(t, time.Since(began), 3*time.Minute)
	})
}

func TestProgressKeepsACallAlive(t *testing.T) {
	timed(t, func(r *running, m message) bool {
		if m.method == "tools/call" {
			for range 5 {
				time.Sleep(40 * time.Second)
				r.say(progressOf(m))
			}
		}
		return false
	}, CallOptions{Progress: func(json.RawMessage) {}})
}

// A user takes their time in the revision without sessions as well.
func TestInputTakesItsTime(t *testing.T) {
	asked := false
	timed(t, func(r *running, m message) bool {
		switch {
		case m.method == "server/discover":
			r.result(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		case m.method == "tools/call" && !asked:
			asked = true
			r.result(m, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}}}`)
		default:
			return false
		}
		return true
	}, CallOptions{Elicit: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		time.Sleep(10 * time.Minute)
		return json.RawMessage(`{"action":"decline"}`), nil
	}})
}

// A server that does not read what it is sent is given up.
func TestInputThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, func(r *running, m message) bool {
			if m.method == "tools/call" {
				time.Sleep(time.Hour)
			}
			return false
		})
		s := Open(Config{Name: "fake", Command: "fake", CallTimeout: 10 * time.Minute}, Options{Start: p.start})
		defer s.Close()
		require.NoError(t, s.Ready(t.Context()))
		go func() { _, _ = s.Call(t.Context(), "echo", nil, CallOptions{}) }()
		time.Sleep(time.Second)
		began := time.Now()
		_, err := s.Call(t.Context(), "echo", nil, CallOptions{})
		require.ErrorContains(t, err, "it does not read its input")
		require.Equal(t, writeTime, time.Since(began))
	})
}

// D09: a list is bounded in its bytes, and in the memory of what is made of it.
func TestD09LargeLists(t *testing.T) {
	var n atomic.Int32
	large := strings.Repeat("x", 1<<20)
	p := newProgram(t, paged(func(string) string {
		i := n.Add(1)
		return fmt.Sprintf(`{"tools":[{"name":"t%d","description":%q}],"nextCursor":"%d"}`, i, large, i)
	}))
	snapshot := p.open(Options{}).Snapshot()
	require.Len(t, snapshot.Tools, mostListed>>20)
	require.Contains(t, snapshot.Warnings[0], "too long")

	_, problem := (&Snapshot{room: 1000}).parseTool([]byte(`{"name":"a","inputSchema":{"enum":[` + strings.Repeat("[],", 1<<18) + `[]]}}`))
	require.Contains(t, problem, "too much memory")
}

// Arguments that a server wants in headers are there, beside the body.
func TestMirroredArguments(t *testing.T) {
	var header atomic.Value
	site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.method {
		case "server/discover":
			answerJSON(w, m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		case "tools/list":
			answerJSON(w, m, `{"tools":[{"name":"echo","inputSchema":{"properties":{"at":{"type":"string","x-mcp-header":"Region"}}}}]}`)
		case "tools/call":
			header.Store(r.Header)
			answerJSON(w, m, textResult(""))
		default:
			return false
		}
		return true
	})
	_, err := call(t, site.open(Config{}, Options{}), "echo", `{"at":"Hilo"}`, CallOptions{})
	require.NoError(t, err)
	got := header.Load().(http.Header)
	require.Equal(t, []string{"Hilo", "tools/call", "echo"}, []string{got.Get("Mcp-Param-Region"), got.Get("Mcp-Method"), got.Get("Mcp-Name")})
}
