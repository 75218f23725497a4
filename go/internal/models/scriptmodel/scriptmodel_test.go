package scriptmodel_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/scriptmodel"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/libs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func script(t testing.TB, source string) *scriptmodel.Provider {
	t.Helper()
	resolver, err := module.New(module.Options{Embedded: libs.FS})
	require.NoError(t, err)
	p, err := scriptmodel.New(scriptmodel.Options{
		Path: "model.luau", Source: source,
		Config: engine.Config{Modules: builtin.Modules(builtin.Parts{}), Resolver: resolver, MemoryLimit: 64 << 20},
	})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func ask(text string) *models.Request {
	return &models.Request{Model: "m", Messages: []models.Message{models.TextMessage(models.RoleUser, text)}}
}

func heard(t testing.TB, p models.Provider, r *models.Request) ([]models.Event, *models.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var events []models.Event
	response, err := p.Stream(ctx, r, func(e models.Event) error {
		events = append(events, e)
		return nil
	})
	return events, response, err
}

func texts(events []models.Event, kind models.EventKind) []string {
	var list []string
	for _, e := range events {
		if e.Kind == kind {
			list = append(list, e.Text)
		}
	}
	return list
}

func TestAnswersOfAScript(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		chunks []string
		stop   models.StopReason
	}{
		"a string":    {`function generate(r) return "You said " .. r.messages[1].content end`, []string{"You said hi"}, models.StopEnd},
		"a table":     {`function generate() return {text = "t", stop = "length"} end`, []string{"t"}, models.StopLength},
		"nothing":     {`function generate() end`, nil, models.StopEnd},
		"a list":      {`function generate() return {"a", {text = "b"}, "c"} end`, []string{"a", "b", "c"}, models.StopEnd},
		"a function":  {`function generate() local n = 0 return function() n += 1 return n < 4 and tostring(n) or nil end end`, []string{"1", "2", "3"}, models.StopEnd},
		"a coroutine": {`function generate() return coroutine.wrap(function() for i = 1, 2 do coroutine.yield("c" .. i) end end) end`, []string{"c1", "c2"}, models.StopEnd},
		"one that waits": {`local async = require("async")
			function generate() local n = 0 return function() async.sleep(0.001) n += 1 if n < 3 then return "w" .. n end return nil end end`, []string{"w1", "w2"}, models.StopEnd},
		"half characters": {"function generate() return {'\\xe6', '\\xbc', '\\xa2!', '\\xff'} end", []string{"漢!", "\xff"}, models.StopEnd},
	} {
		t.Run(name, func(t *testing.T) {
			p := script(t, c.source)
			for range 3 { // with an image as well
				events, response, err := heard(t, p, ask("hi"))
				require.NoError(t, err)
				require.Equal(t, c.chunks, texts(events, models.EventText))
				require.Equal(t, strings.Join(c.chunks, ""), response.Text())
				require.Equal(t, c.stop, response.Stop)
			}
		})
	}
}

func TestCallsReasoningAndUsage(t *testing.T) {
	p := script(t, `function generate(r)
		return {
			reasoning = "hm", text = "look",
			tool_calls = {{name = "f", arguments = {n = 9007199254740993i, list = {1, 2}}}, {name = "g"}, {id = "own", name = "h", arguments = "{broken"}},
			usage = {input_tokens = 3, output_tokens = 4},
		}
	end`)
	events, response, err := heard(t, p, ask("hi"))
	require.NoError(t, err)
	require.Equal(t, []string{"hm"}, texts(events, models.EventReasoning))
	require.Equal(t, models.StopCalls, response.Stop)
	require.Equal(t, []models.ToolCall{
		{ID: "call_1", Name: "f", Arguments: json.RawMessage(`{"list":[1,2],"n":9007199254740993}`)},
		{ID: "call_2", Name: "g", Arguments: json.RawMessage(`{}`)},
		{ID: "own", Name: "h", Arguments: json.RawMessage(`{broken`)},
	}, response.Calls())
	require.Equal(t, int64(7), response.Usage.Tokens())
	require.False(t, response.Usage.Estimated)
}

func TestTheRequestOfAScript(t *testing.T) {
	temperature, seed := 0.5, int64(7)
	r := &models.Request{
		Model: "m", System: "be brief", Temperature: &temperature, Seed: &seed, MaxTokens: 9, Stop: []string{"END"}, Schema: map[string]any{"type": "object"},
		Tools: []models.Tool{{Name: "f", Description: "does"}},
		Messages: []models.Message{
			{Role: models.RoleUser, Parts: []models.Part{{Text: "a"}, {Image: &models.Image{MediaType: "image/png", Data: []byte{0, 255}}}, {Text: "b"}, {Image: &models.Image{URL: "https://example.com/x.png"}}}},
			{Role: models.RoleUser, Parts: []models.Part{{Text: "c"}, {Text: "d"}}},
			{Role: models.RoleAssistant, Parts: []models.Part{{Call: &models.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`{"n":9007199254740993}`)}}, {Call: &models.ToolCall{ID: "2", Name: "f", Arguments: json.RawMessage(`{} x`)}}}},
			models.ResultMessage(models.ToolResult{ID: "1", Name: "f", Text: "one"}, models.ToolResult{ID: "2", Name: "f", Text: "two", IsError: true}),
		},
	}
	p := script(t, `local json = require("json")
	function generate(r)
		local picture = r.messages[1].content[2]
		assert(buffer.tostring(picture.data) == "\0\255", "data")
		picture.data = nil
		return json.encode(r)
	end`)
	_, response, err := heard(t, p, r)
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"m","system":"be brief","temperature":0.5,"seed":7,"max_tokens":9,"stop":["END"],"schema":{"type":"object"},
		"tools":[{"name":"f","description":"does","schema":{"type":"object","properties":{}}}],
		"messages":[{"role":"user","content":[{"text":"a"},{"media_type":"image/png"},{"text":"b"},
				{"url":"https://example.com/x.png"}]},
			{"role":"user","content":"cd"},
			{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{"n":9007199254740993}},{"id":"2","name":"f","arguments":"{} x"}]},
			{"role":"tool","id":"1","name":"f","content":"one","is_error":false},
			{"role":"tool","id":"2","name":"f","content":"two","is_error":true}]}`, response.Text())
	require.Contains(t, response.Text(), "9007199254740993")
}

func TestFailuresOfAScript(t *testing.T) {
	for source, want := range map[string]models.Error{
		`error({status = 429, message = "slow", retry_after = 2})`: {Code: "rate_limited", Status: 429, Message: "slow", Retryable: true, RetryAfter: 2 * time.Second},
		`error({status = 529})`:                                  {Code: "upstream", Status: 529, Message: "the server answered 529", Retryable: true},
		`error({status = 401, message = "no key"})`:              {Code: "permission", Status: 401, Message: "no key"},
		`error({code = "rate_limited", message = "slow"})`:       {Code: "rate_limited", Message: "slow", Retryable: true},
		`error({code = "own", message = "m", retryable = true})`: {Code: "upstream", Message: "m", Retryable: true},
		`error("plain")`:                           {Code: "upstream", Message: "model.luau:1: plain"},
		`local x = nil; return x.y`:                {Code: "upstream", Message: "model.luau:1: attempt to index nil with 'y'"},
		`return 5`:                                 {Code: "upstream", Message: "generate must give a string, a table, a list or a function, got a number"},
		`return {texts = "t"}`:                     {Code: "upstream", Message: `there is no field "texts" in an answer: it has text, reasoning, tool_calls, usage, stop`},
		`return {text = 5}`:                        {Code: "upstream", Message: "text must be a string, got a number"},
		`return {tool_calls = "f"}`:                {Code: "upstream", Message: "tool_calls must be a list, got a string"},
		`return {tool_calls = {{arguments = {}}}}`: {Code: "upstream", Message: "tool_calls[1] must be a table with a name"},
		`return {tool_calls = {{name = "f", arguments = {print}}}}`:   {Code: "upstream", Message: "tool_calls[1].arguments: a function cannot be written as JSON"},
		`return {usage = {input_tokens = 0.5}}`:                       {Code: "upstream", Message: "usage.input_tokens must be a whole number of at least 0"},
		`return function() error({status = 500, message = "in"}) end`: {Code: "upstream", Status: 500, Message: "in", Retryable: true},
	} {
		_, response, err := heard(t, script(t, "function generate(r) "+source+" end"), ask("hi"))
		var got *models.Error
		require.ErrorAs(t, err, &got, source)
		want.Provider = "script"
		seen := *got
		seen.Cause = nil
		require.Equal(t, want, seen, source)
		require.Nil(t, response, source)
	}
	_, _, err := heard(t, script(t, "local x = 1"), ask("hi"))
	require.ErrorContains(t, err, "the file defines no global function generate")
	_, err = scriptmodel.New(scriptmodel.Options{Path: "m.luau", Source: "local ="})
	require.ErrorContains(t, err, "m.luau:1")
	_, err = scriptmodel.New(scriptmodel.Options{Path: filepath.Join(t.TempDir(), "none.luau")})
	require.ErrorContains(t, err, "none.luau")
}

func TestAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.luau")
	require.NoError(t, os.WriteFile(path, []byte("--!strict\nfunction generate()\n\treturn nil + 1\nend\n"), 0o644))
	p, err := scriptmodel.New(scriptmodel.Options{Path: path})
	require.NoError(t, err)
	defer p.Close()
	_, _, err = heard(t, p, ask("hi"))
	require.ErrorContains(t, err, "m.luau:3: attempt to perform arithmetic")
}

// What was heard before a failure is in the response.
func TestAScriptThatBreaksOff(t *testing.T) {
	p := script(t, `function generate() local n = 0 return function() n += 1 if n > 2 then error({status = 503}) end return "x" end end`)
	events, response, err := heard(t, p, ask("hi"))
	var failed *models.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 503, failed.Status)
	require.Equal(t, "xx", response.Text())
	require.Len(t, events, 2)
}

const endless = `function generate() return function() return "x" end end`

func TestCallerEndsAScript(t *testing.T) {
	enough := errors.New("enough")
	p := script(t, endless)
	count := 0
	response, err := p.Stream(t.Context(), ask("hi"), func(models.Event) error {
		if count++; count == 3 {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough)
	require.Equal(t, "xxx", response.Text())

	for _, source := range []string{endless, `function generate() while true do end end`, `function generate() require("async").sleep(1000) end`} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err = script(t, source).Stream(ctx, ask("hi"), func(models.Event) error { return nil })
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

// More consumers that take their time than scripts may run at once: each holds its script up, and none
// of the others.
func TestSlowConsumersHoldNobodyUp(t *testing.T) {
	p := script(t, `function generate() local n = 0 return function() n += 1 return n <= 2 and "x" or nil end end`)
	const many = 64
	var all, wait sync.WaitGroup
	wait.Add(many)
	for range many {
		all.Go(func() {
			first := true
			_, err := p.Stream(t.Context(), ask("hi"), func(models.Event) error {
				if first {
					first = false
					wait.Done()
					wait.Wait() // until all of them are here
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
