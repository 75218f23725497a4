package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asker is a program that asks something in each call whose arguments name a method, and gives what it was answered.
func asker(t *testing.T) *program {
	var mu sync.Mutex
	waiting := map[string]message{}
	return newProgram(t, func(r *running, m message) bool {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case m.method == "tools/call":
			var params struct{ Arguments struct{ Method string } }
			_ = json.Unmarshal(m.params, &params)
			if params.Arguments.Method == "" {
				return true // it waits
			}
			id := fmt.Sprintf(`"q%s"`, m.id)
			m.id = append(json.RawMessage(nil), m.id...)
			waiting[id] = m
			r.sayf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"message":"m"}}`, id, params.Arguments.Method)
			return true
		case m.method == "":
			said := m.result
			if m.err != nil {
				said = m.err
			}
			if call, ok := waiting[string(m.id)]; ok {
				r.result(call, textResult(string(said)))
			}
			return true
		}
		return false
	})
}

func answering(text string) Ask {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(text), nil }
}

func TestQuestionsOfServers(t *testing.T) {
	s := asker(t).open(Options{Client: Client{Elicitation: true, Sampling: true}})
	for _, c := range []struct {
		method  string
		options CallOptions
		answer  string
	}{
		{"ping", CallOptions{}, `{}`},
		{"roots/list", CallOptions{}, `{"roots":[]}`},
		{"elicitation/create", CallOptions{Elicit: answering(`{"action":"accept","content":{"n":12345678901234567890}}`)}, `{"action":"accept","content":{"n":12345678901234567890}}`},
		{"sampling/createMessage", CallOptions{Sample: answering(`{"role":"assistant"}`)}, `{"role":"assistant"}`},
		{"elicitation/create", CallOptions{}, `{"code":-32000,"message":"elicitation: this client cannot ask its user for this call"}`},
		{"sampling/createMessage", CallOptions{Elicit: answering(`{}`)}, `{"code":-32000,"message":"sampling: this client cannot ask its model for this call"}`},
		{"elicitation/create", CallOptions{Elicit: answering(`[]`)}, `{"code":-32603,"message":"the client's answer is no JSON object"}`},
		{"elicitation/create", CallOptions{Elicit: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("nobody is there")
		}}, `{"code":-32603,"message":"nobody is there"}`},
		{"odd/method", CallOptions{}, `{"code":-32601,"message":"this client does not know odd/method"}`},
	} {
		result, err := call(t, s, "echo", fmt.Sprintf(`{"method":%q}`, c.method), c.options)
		require.NoError(t, err)
		require.Equal(t, c.answer, textOf(t, result), c.method)
	}
}

// What our client is told and asked is not of any size.
func TestLargeQuestions(t *testing.T) {
	large := strings.Repeat("x", 2*mostQuestion)
	p := newProgram(t, func(r *running, m message) bool {
		switch m.method {
		case "tools/call":
			r.sayf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":%q}}`, m.id, large)
			r.sayf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":%q}}`, m.id, large)
		case "":
			r.say(reply(m.id, json.RawMessage(textResult(string(m.err)))))
		default:
			return false
		}
		return true
	})
	result, err := call(t, p.open(Options{}), "echo", "{}", CallOptions{
		Elicit: answering("{}"), Progress: func(json.RawMessage) { t.Error("it is told") },
	})
	require.NoError(t, err)
	require.Contains(t, textOf(t, result), "larger than 1MiB")
}

// A question goes to whom it belongs: on a shared connection nobody guesses.
func TestWhoseQuestion(t *testing.T) {
	for _, shared := range []bool{false, true} {
		p := asker(t)
		s := open(t, Config{Name: "fake", Command: "fake", Stateless: shared}, Options{Start: p.start, Client: Client{Elicitation: true}})
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { _, _ = s.Call(ctx, "echo", nil, CallOptions{Elicit: answering(`{"who":"another"}`)}) })
		eventually(t, func() bool { return under(s) == 1 })
		result, err := call(t, s, "echo", `{"method":"elicitation/create"}`, CallOptions{Elicit: answering(`{"who":"mine"}`)})
		require.NoError(t, err)
		if shared {
			require.Contains(t, textOf(t, result), "cannot ask its user")
		} else {
			require.Equal(t, `{"who":"mine"}`, textOf(t, result))
		}
		stop()
		done.Wait()
	}
}

// While a user thinks, the call does not end; when the call ends, the user is not asked any more.
func TestUsersTakeTheirTime(t *testing.T) {
	s := open(t, Config{Name: "fake", Command: "fake", CallTimeout: 50 * time.Millisecond}, Options{Start: asker(t).start})
	result, err := call(t, s, "echo", `{"method":"elicitation/create"}`, CallOptions{Elicit: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		time.Sleep(200 * time.Millisecond)
		return json.RawMessage(`{"action":"decline"}`), nil
	}})
	require.NoError(t, err)
	require.Contains(t, textOf(t, result), "decline")

	ctx, stop := context.WithCancel(t.Context())
	ended, returned := make(chan struct{}), make(chan struct{})
	_, err = s.Call(ctx, "echo", json.RawMessage(`{"method":"elicitation/create"}`), CallOptions{Elicit: func(asking context.Context, _ json.RawMessage) (json.RawMessage, error) {
		stop()
		<-asking.Done()
		close(ended)
		<-returned
		return nil, asking.Err()
	}})
	close(returned)
	require.ErrorIs(t, err, context.Canceled)
	<-ended
}

// Questions without end are not answered without end.
func TestTooManyQuestions(t *testing.T) {
	answers := make(chan string, 100)
	p := newProgram(t, func(r *running, m message) bool {
		switch m.method {
		case "tools/call":
			for i := range 3 * mostAsked {
				r.sayf(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{}}`, i)
			}
			r.sayf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q0"}}`)
			r.result(m, textResult("done"))
		case "":
			answers <- string(m.id)
		default:
			return false
		}
		return true
	})
	s := p.open(Options{})
	var asked sync.WaitGroup
	var mu sync.Mutex
	n := 0
	_, err := call(t, s, "echo", "{}", CallOptions{Elicit: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		mu.Lock()
		n++
		mu.Unlock()
		asked.Add(1)
		defer asked.Done()
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	require.NoError(t, err)
	asked.Wait()
	mu.Lock()
	defer mu.Unlock()
	require.LessOrEqual(t, n, mostAsked)
}

func TestLogsOfServers(t *testing.T) {
	p := newProgram(t, func(r *running, m message) bool {
		if m.method == "tools/call" {
			for i := range 2 {
				r.sayf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"l","data":{"n":%d,"x":"%s a-long-secret"}}}`, i, strings.Repeat("x", 3*mostLogged*i))
			}
			r.plain(m)
			return true
		}
		return false
	})
	var log bytes.Buffer
	s := open(t, Config{Name: "fake", Command: "fake", Env: map[string]string{"KEY": "a-long-secret"}}, Options{
		Start: p.start, Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	_, err := call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err)
	s.Close()
	type entry struct{ Msg, Severity, Logger, Data string }
	var list []entry
	for line := range strings.Lines(log.String()) {
		var e entry
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Msg == "an upstream server logged" {
			list = append(list, e)
		}
	}
	require.Len(t, list, 2)
	require.Equal(t, entry{"an upstream server logged", "error", "l", `{"n":0,"x":" [redacted]"}`}, list[0])
	require.LessOrEqual(t, len(list[1].Data), mostLogged+10)
}

// In the revision without sessions a server asks by its answer.
func TestInputRequired(t *testing.T) {
	const hello = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	var calls []string
	var answers []string
	p := newProgram(t, func(r *running, m message) bool {
		switch m.method {
		case "server/discover":
			r.result(m, hello)
		case "tools/call":
			calls = append(calls, string(m.params))
			r.result(m, answers[min(len(calls), len(answers))-1])
		default:
			return false
		}
		return true
	})
	s := p.open(Options{Client: Client{Elicitation: true}})
	do := func(o CallOptions, give ...string) (*Result, error) {
		calls, answers = nil, give
		return call(t, s, "echo", `{"a":1}`, o)
	}
	ask := `{"resultType":"input_required","requestState":"s\u0031","inputRequests":{"k y":{"method":"elicitation/create","params":{"message":"m"}},"r":{"method":"roots/list"}}}`
	result, err := do(CallOptions{Elicit: answering(`{"action":"accept"}`)}, ask, textResult("done"))
	require.NoError(t, err)
	require.Equal(t, "done", textOf(t, result))
	require.Len(t, calls, 2)
	require.Contains(t, calls[0], `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}`)
	require.Contains(t, calls[1], `"inputResponses":{"k y":{"action":"accept"},"r":{"roots":[]}},"requestState":"s\u0031"`)
	require.Contains(t, calls[1], `"arguments":{"a":1}`)

	_, err = do(CallOptions{}, ask, textResult("done"))
	require.Equal(t, CodePermission, failure(t, err).Code)
	require.Contains(t, calls[0], `"io.modelcontextprotocol/clientCapabilities":{}`, "this call has nobody to ask")
	_, err = do(CallOptions{Elicit: answering(`{}`)}, ask)
	require.Contains(t, failure(t, err).Message, "again and again")
	require.Len(t, calls, mostRounds+1)
	result, err = do(CallOptions{}, `{"resultType":"input_required","inputRequests":{},"requestState":"busy"}`, textResult("later"))
	require.NoError(t, err)
	require.Equal(t, "later", textOf(t, result))
	many := strings.Repeat(`"k":{"method":"roots/list"},`, mostAsked) + `"l":{"method":"roots/list"}`
	_, err = do(CallOptions{}, `{"resultType":"input_required","inputRequests":{`+many+`}}`)
	require.Contains(t, failure(t, err).Message, "too much at once")
	_, err = do(CallOptions{}, `{"resultType":"input_required","inputRequests":[1]}`)
	require.Equal(t, CodeInvalidAnswer, failure(t, err).Code)
}
