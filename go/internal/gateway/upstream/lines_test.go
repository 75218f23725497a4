package upstream

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCall(t *testing.T) {
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "tools/call" {
			r.result(m, `{"content":[],"structuredContent":`+string(m.params)+`}`)
			return true
		}
		return false
	})
	s := p.open(Options{})
	require.Equal(t, "echo", names(s.Snapshot()))
	result, err := call(t, s, "echo", "{\"n\": 12345678901234567890,\n \"x\": 1.10}", CallOptions{})
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"echo","arguments":{"n":12345678901234567890,"x":1.10}}`, string(structured(result)))
	require.Contains(t, string(result.Raw), `12345678901234567890`, "every digit")
	require.Contains(t, string(result.Raw), `1.10`)

	result, err = call(t, s, "echo", "", CallOptions{})
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"echo","arguments":{}}`, string(structured(result)), "no arguments are an empty object")

	for _, bad := range []string{`[]`, `{`, `{"a":1}x`, "{\"a\":\"\xff\"}"} {
		_, err = call(t, s, "echo", bad, CallOptions{})
		require.Equal(t, CodeInvalid, failure(t, err).Code, bad)
	}
	status := s.Status()
	require.Equal(t, Healthy, status.State)
	require.Equal(t, "2025-11-25", status.Version)
	require.JSONEq(t, `{"name":"fake","version":"1"}`, string(status.Info))
}

func structured(r *Result) json.RawMessage {
	var found json.RawMessage
	members(r.Raw, func(key, value []byte) {
		if string(key) == "structuredContent" {
			found = value
		}
	})
	return found
}

// D13: everything of a result arrives, known or not.
func TestD13ResultsAreKeptAsTheyCame(t *testing.T) {
	const whole = `{"content":[{"type":"text","text":"a\u0000b \ud83d\ude00"},{"type":"image","data":"AAEC","mimeType":"image/png"},` +
		`{"type":"audio","data":"AAEC","mimeType":"audio/wav","annotations":{"priority":0.10}},` +
		`{"type":"resource","resource":{"uri":"x://y","blob":"AAEC","_meta":{"k":1}}},{"type":"resource_link","uri":"x://z","name":"z"},` +
		`{"type":"hologram","depth":[1,2,{"n":9007199254740993}]}],"structuredContent":{"id":9007199254740993,"f":1e400},"isError":true,` +
		`"_meta":{"a/b":null},"later":[ ]}`
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "tools/call" {
			r.result(m, whole)
			return true
		}
		return false
	})
	result, err := call(t, p.open(Options{}), "echo", "{}", CallOptions{})
	require.NoError(t, err)
	require.Equal(t, whole, string(result.Raw))
	require.True(t, result.IsError)
}

// What is no message is skipped; answers that nobody asked for are dropped.
func TestGarbage(t *testing.T) {
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "tools/call" {
			r.sayf("starting up ...")
			r.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[}}`, m.id)
			r.sayf("")
			r.sayf("[1,2,[3]]")
			r.sayf(`{"jsonrpc":"2.0","id":4711,"result":{}}`)
			r.sayf(`{"jsonrpc":"2.0","id":"%s","result":{}}`, m.id)
			r.sayf(`{"jsonrpc":"2.0","id":null,"result":{}}`)
			r.sayf(`{"jsonrpc":"2.0"}`)
			r.sayf("\xff\xfe{}")
			r.result(m, textResult("first"))
			r.result(m, textResult("second"))
			return true
		}
		return false
	})
	s := p.open(Options{})
	for range 3 {
		result, err := call(t, s, "echo", "{}", CallOptions{})
		require.NoError(t, err)
		require.Equal(t, "first", textOf(t, result))
	}
	require.EqualValues(t, 1, p.starts.Load())
}

func TestTooLarge(t *testing.T) {
	size := atomic.Int32{}
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "tools/call" && size.Load() > 0 {
			r.result(m, textResult(strings.Repeat("x", int(size.Load()))))
			return true
		}
		return false
	})
	s := open(t, Config{Name: "fake", Command: "fake", MaxBytes: 1 << 20}, Options{Start: p.start})
	size.Store(1<<20 - 200)
	_, err := call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err)
	size.Store(1 << 20)
	_, err = call(t, s, "echo", "{}", CallOptions{})
	require.Equal(t, CodeTooLarge, failure(t, err).Code)
	require.EqualValues(t, 1, p.starts.Load(), "a large result does not end the connection")
	size.Store(10 << 20)
	_, err = call(t, s, "echo", "{}", CallOptions{})
	require.Equal(t, CodeLost, failure(t, err).Code)
	require.Contains(t, err.Error(), "longer than what is read")
	size.Store(0)
	result, err := call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "2", textOf(t, result), "the next connection works")
}

// A call that may have run is not made again, one that says it may be is.
func TestLost(t *testing.T) {
	var dies atomic.Bool
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "tools/call" && dies.CompareAndSwap(true, false) {
			r.calls.Add(1)
			r.die()
			return true
		}
		return false
	})
	s := p.open(Options{})
	dies.Store(true)
	_, err := call(t, s, "echo", "{}", CallOptions{})
	e := failure(t, err)
	require.Equal(t, CodeLost, e.Code)
	require.False(t, e.Retryable)
	require.Contains(t, e.Message, "may have run")

	eventually(t, func() bool { return p.starts.Load() == 2 && s.Status().State == Healthy })
	dies.Store(true)
	result, err := call(t, s, "echo", "{}", CallOptions{Repeatable: true})
	require.NoError(t, err)
	require.Equal(t, "3", textOf(t, result))
}

// Between calls nothing was sent: the next call starts the server again.
func TestDiesBetweenCalls(t *testing.T) {
	p := newProgram(t, nil)
	s := p.open(Options{})
	for n := 2; n < 4; n++ {
		p.now().die()
		eventually(t, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.session == nil || int(p.starts.Load()) == n
		})
		eventually(t, func() bool { // a server that dies often is given a pause
			result, err := call(t, s, "echo", "{}", CallOptions{})
			return err == nil && textOf(t, result) != ""
		})
	}
}

func TestCancelled(t *testing.T) {
	told := make(chan message, 10)
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "notifications/cancelled" {
			told <- m
		}
		return m.method == "tools/call"
	})
	s := p.open(Options{})
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		_, err := s.Call(ctx, "echo", nil, CallOptions{})
		if !failureIs(err, CodeCancelled) || !strings.Contains(err.Error(), "cancelled") {
			t.Error(err)
		}
	})
	eventually(t, func() bool { return under(s) == 1 })
	stop()
	done.Wait()
	select {
	case m := <-told:
		require.Contains(t, string(m.params), `"requestId":4`)
	case <-time.After(patience):
		t.Fatal("the server is not told")
	}
}

func failureIs(err error, code string) bool {
	e, ok := err.(*Error)
	return ok && e.Code == code
}

// under is how many calls are under way.
func under(s *Server) int {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session == nil {
		return 0
	}
	session.questions.mu.Lock()
	defer session.questions.mu.Unlock()
	n := 0
	for _, p := range session.questions.calls {
		if p.sent.Load() {
			n++
		}
	}
	return n
}

// Progress keeps a call alive and comes in order, before the answer.
func TestProgress(t *testing.T) {
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "tools/call" {
			for i := range 5 {
				r.sayf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":"m"}}`, m.id, i)
			}
			r.sayf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":1}}`)
			r.plain(m)
			return true
		}
		return false
	})
	s := p.open(Options{})
	var heard []string
	_, err := call(t, s, "echo", "{}", CallOptions{Progress: func(params json.RawMessage) {
		members(params, func(key, value []byte) {
			if string(key) == "progress" {
				heard = append(heard, string(value))
			}
		})
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, heard)
}

// A server that does not answer ends the call, not the connection; others go on meanwhile.
func TestIdleCall(t *testing.T) {
	p := newProgram(t, func(r *running, m message) bool {
		return m.method == "tools/call" && strings.Contains(string(m.params), "hang")
	})
	s := open(t, Config{Name: "fake", Command: "fake", CallTimeout: 300 * time.Millisecond}, Options{Start: p.start})
	var done sync.WaitGroup
	done.Go(func() {
		_, err := s.Call(t.Context(), "echo", json.RawMessage(`{"hang":true}`), CallOptions{})
		e, _ := err.(*Error)
		if e == nil || e.Code != CodeTimeout || e.Retryable {
			t.Error(err)
		}
	})
	_, err := call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err)
	done.Wait()
	_, err = call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, p.starts.Load())
}

func TestErrorsOfServers(t *testing.T) {
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "tools/call" {
			r.sayf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no\u001b[31m secret-token-1","data":{"a":1}}}`, m.id)
			return true
		}
		return false
	})
	s := open(t, Config{Name: "fake", Command: "fake", Env: map[string]string{"TOKEN": "secret-token-1"}}, Options{Start: p.start})
	_, err := call(t, s, "echo", "{}", CallOptions{})
	e := failure(t, err)
	require.EqualValues(t, -32602, e.Number)
	require.Equal(t, CodeInvalid, e.Code)
	require.JSONEq(t, `{"a":1}`, string(e.Data))
	require.Equal(t, `mcp server "fake": no\x1b[31m [redacted]`, err.Error())
}

// The cap holds, and a slow server holds up itself only.
func TestConcurrentCalls(t *testing.T) {
	var running_, most atomic.Int32
	release := make(chan struct{})
	p := newProgram(t, nil)
	p.script = func(r *running, m message) bool {
		if m.method != "tools/call" {
			return false
		}
		n := running_.Add(1)
		most.Store(max(most.Load(), n))
		m.id = append(json.RawMessage(nil), m.id...)
		go func() {
			<-release
			running_.Add(-1)
			r.result(m, textResult("done"))
		}()
		return true
	}
	s := open(t, Config{Name: "fake", Command: "fake", MaxConcurrent: 3}, Options{Start: p.start})
	var done sync.WaitGroup
	for range 10 {
		done.Go(func() {
			if _, err := s.Call(t.Context(), "echo", nil, CallOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, func() bool { return running_.Load() == 3 })
	close(release)
	done.Wait()
	require.LessOrEqual(t, most.Load(), int32(3))
}
