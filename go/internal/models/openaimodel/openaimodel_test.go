package openaimodel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/openaimodel"
	"github.com/hukilau/hukilau/go/internal/models/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-not-to-be-seen"

func provider(t *testing.T, s *wiretest.Server) *openaimodel.Provider {
	t.Helper()
	p, err := openaimodel.New(openaimodel.Options{
		Options: models.Options{APIKey: key, BaseURL: s.URL + "/v1", Transport: s.Transport}, Compatible: true,
	})
	require.NoError(t, err)
	return p
}

func ask(text string) *models.Request {
	return &models.Request{Model: "m", Messages: []models.Message{models.TextMessage(models.RoleUser, text)}}
}

// heard runs a request and gives all events, with the response.
func heard(t *testing.T, p models.Provider, r *models.Request) ([]models.Event, *models.Response, error) {
	t.Helper()
	var events []models.Event
	response, err := p.Stream(t.Context(), r, func(e models.Event) error {
		events = append(events, e)
		return nil
	})
	return events, response, err
}

func texts(events []models.Event, kind models.EventKind) string {
	var b strings.Builder
	for _, e := range events {
		if e.Kind == kind {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// chunks puts JSON texts into a stream as OpenAI writes it.
func chunks(list ...string) string {
	return "data: " + strings.Join(list, "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
}

const quirks = `: OPENROUTER PROCESSING

: first line of a block of comments
: second line
:

retry: 3000

data: {"id":"1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}],"usage":null}

data: {"choices":[{"index":0,"delta":{"content":"Hel"},"logprobs":null}]}

data: {"choices":[{"index":0,"delta":{"content":"lo","tool_calls":null}}]}

data: {"choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"add","arguments":null}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":null,"function":{"name":null,"arguments":"{\"x\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"9007199254740993}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":null}}`

// G01: what compatible servers do to streams.
func TestG01QuirksOfCompatibleServers(t *testing.T) {
	s := wiretest.New(t)
	for name, body := range map[string]string{
		"as it is":                   quirks,
		"with ends of lines as CRLF": strings.ReplaceAll(quirks, "\n", "\r\n") + "\r\n",
		"with ends of lines as CR":   strings.ReplaceAll(quirks, "\n", "\r"),
		"with the mark":              quirks + "\n\ndata: [DONE]\n\n",
		"with a byte order mark":     "\ufeff" + quirks + "\n",
		"without spaces":             strings.ReplaceAll(quirks, "data: ", "data:"),
	} {
		t.Run(name, func(t *testing.T) {
			s.Answer(wiretest.Answer{Body: body})
			events, response, err := heard(t, provider(t, s), ask("hi"))
			require.NoError(t, err)
			require.Equal(t, "Hello", response.Text())
			require.Equal(t, "Hello", texts(events, models.EventText))
			require.Equal(t, []models.ToolCall{
				{ID: "a", Name: "now", Arguments: json.RawMessage("{}")},
				{ID: "b", Name: "add", Arguments: json.RawMessage(`{"x":9007199254740993}`)},
			}, response.Calls())
			require.Positive(t, response.Usage.Time)
			response.Usage.Time = 0
			require.Equal(t, models.Usage{InputTokens: 12, OutputTokens: 7, CachedTokens: 4}, response.Usage)
			require.Equal(t, models.StopCalls, response.Stop)
			require.Equal(t, "m-1", response.Model)
			require.Equal(t, models.Event{Kind: models.EventEnd, Stop: models.StopCalls}, events[len(events)-1])
		})
	}
}

const original = "日本語のテキスト 👩‍👩‍👧‍👦🎏 and é in the end 🏝️"

// G02: text that is cut at every byte stays whole.
func TestG02TextCutAtEveryByte(t *testing.T) {
	var list []string
	for _, r := range original {
		piece, err := json.Marshal(string(r))
		require.NoError(t, err)
		list = append(list, `{"choices":[{"index":0,"delta":{"content":`+string(piece)+`}}]}`)
	}
	body := chunks(append(list, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)...)
	s := wiretest.New(t)
	p := provider(t, s)
	check := func(t *testing.T, p models.Provider) {
		t.Helper()
		events, response, err := heard(t, p, ask("hi"))
		require.NoError(t, err)
		require.Equal(t, original, response.Text())
		require.Equal(t, original, texts(events, models.EventText))
	}
	for cut := 1; cut < len(body); cut++ {
		s.Answer(wiretest.Answer{Body: body, Cut: cut})
		check(t, p)
	}
	bytewise, err := openaimodel.New(openaimodel.Options{Options: models.Options{BaseURL: "http://127.0.0.1:1", Transport: oneByte(body)}, Compatible: true})
	require.NoError(t, err)
	check(t, bytewise)
}

// G02: servers that count in UTF-16 cut between the two escapes of one character.
func TestG02TextCutInsideOfCharacters(t *testing.T) {
	var list []string
	for _, unit := range utf16.Encode([]rune(original)) {
		list = append(list, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":"\u%04x"}}]}`, unit))
	}
	s := wiretest.New(t, wiretest.Answer{Body: chunks(append(list, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)...)})
	events, response, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, original, response.Text())
	require.Equal(t, original, texts(events, models.EventText))

	s.Answer(wiretest.Answer{Body: chunks(`{"choices":[{"index":0,"delta":{"content":"\ude80a\ud83d"}}]}`, `{"choices":[{"index":0,"delta":{"content":"b\ud83d"},"finish_reason":"stop"}]}`)})
	_, response, err = heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, "\ufffda\ufffdb\ufffd", response.Text(), "a half alone is no character")
}

// oneByte answers with a body that comes one byte at a time.
type oneByte string

func (o oneByte) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(string(o))))}, nil
}

// G04: reasoning is never part of the content.
func TestG04ReasoningIsNoContent(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Body: chunks(
		`{"choices":[{"index":0,"delta":{"reasoning":"first "}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"An"}}]}`,
		`{"choices":[{"index":0,"delta":{"reasoning_content":"second ","content":null}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"swer","reasoning":"third","reasoning_content":"third"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"no"}]},{"type":"text","text":"."}]}}]}`,
		`{"choices":[{"index":0,"delta":{"reasoning":{"odd":1},"reasoning_details":[{"text":"no"}]},"finish_reason":"stop"}]}`,
	)})
	events, response, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, "Answer.", response.Text())
	require.Equal(t, "Answer.", texts(events, models.EventText))
	require.Equal(t, "first second third", texts(events, models.EventReasoning))
	require.True(t, response.Usage.Estimated)
	require.Positive(t, response.Usage.InputTokens)
}

// Servers that give every call the index 0, or none, and no ids.
func TestCallsOfSmallServers(t *testing.T) {
	s := wiretest.New(t)
	call := func(fields, name, arguments string) string {
		return `{"choices":[{"index":0,"delta":{"tool_calls":[{` + fields + `"function":{"name":"` + name + `","arguments":` + arguments + `}}]}}]}`
	}
	end := `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	for name, body := range map[string]string{
		"one index, ids":    chunks(call(`"index":0,"id":"call_1",`, "a", `"{}"`), call(`"index":0,"id":"call_2",`, "a", `"{\"n\":2}"`), end),
		"one index, no ids": chunks(call(`"index":0,`, "a", `"{}"`), call(`"index":0,"id":"",`, "a", `"{\"n\":2}"`), end),
		"no index":          chunks(call(``, "a", `"{}"`), call(``, "a", `{"n":2}`), end),
		"not streamed": `{"choices":[{"index":0,"message":{"content":"","tool_calls":[{"function":{"name":"a","arguments":"{}"}},` +
			`{"function":{"name":"a","arguments":{"n":2}}}]},"finish_reason":"stop"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s.Answer(wiretest.Answer{Body: body})
			_, response, err := heard(t, provider(t, s), ask("hi"))
			require.NoError(t, err)
			require.Equal(t, models.StopCalls, response.Stop)
			calls := response.Calls()
			require.Len(t, calls, 2)
			require.JSONEq(t, `{}`, string(calls[0].Arguments))
			require.JSONEq(t, `{"n":2}`, string(calls[1].Arguments))
			require.Equal(t, []string{"call_1", "call_2"}, []string{calls[0].ID, calls[1].ID})
		})
	}
}

// What the SDK's own reader makes of a regular stream, ours does as well.
func TestSameAsTheSDK(t *testing.T) {
	body := chunks(
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Let's see"},"finish_reason":null}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]},"finish_reason":null}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":null}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6,"total_tokens":11}}`)
	s := wiretest.New(t, wiretest.Answer{Body: body})
	service := openai.NewChatCompletionService(option.WithBaseURL(s.URL), option.WithHTTPClient(&http.Client{Transport: s.Transport}))
	stream := service.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "m"})
	defer stream.Close()
	var want openai.ChatCompletionAccumulator
	for stream.Next() {
		require.True(t, want.AddChunk(stream.Current()))
	}
	require.NoError(t, stream.Err())
	_, got, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, want.Choices[0].Message.Content, got.Text())
	require.Equal(t, want.Choices[0].Message.ToolCalls[0].Function.Arguments, string(got.Calls()[0].Arguments))
	require.Equal(t, want.Choices[0].Message.ToolCalls[0].ID, got.Calls()[0].ID)
	require.Equal(t, want.Usage.PromptTokens, got.Usage.InputTokens)
	require.Equal(t, want.Usage.CompletionTokens, got.Usage.OutputTokens)
}

func TestRequestOnTheWire(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	s := wiretest.New(t, wiretest.Answer{Body: chunks(`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`)})
	seed, temperature := int64(7), 0.5
	r := &models.Request{
		Model: "m", System: "be brief", Temperature: &temperature, Seed: &seed, MaxTokens: 99, Stop: []string{"END"},
		Tools: []models.Tool{{Name: "f", Description: "does", Schema: map[string]any{"properties": map[string]any{"a": map[string]any{"type": "integer"}}}}},
		Messages: []models.Message{
			{Role: models.RoleUser, Parts: []models.Part{{Text: "look"}, {Image: &models.Image{MediaType: "image/png", Data: []byte{1, 2}}}, {Image: &models.Image{URL: "https://x/y.png"}}}},
			{Role: models.RoleAssistant, Parts: []models.Part{{Reasoning: &models.Reasoning{Text: "hidden"}}, {Call: &models.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`{"a":1}`)}}}},
			models.ResultMessage(models.ToolResult{ID: "1", Name: "f", Text: "no", IsError: true}),
		},
	}
	_, _, err := heard(t, provider(t, s), r)
	require.NoError(t, err)
	got := s.Last(t)
	require.Equal(t, "/v1/chat/completions", got.Path)
	require.Equal(t, "Bearer "+key, got.Header.Get("Authorization"))
	require.JSONEq(t, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"seed":7,"max_tokens":99,"stop":["END"],
		"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}}],
		"messages":[{"role":"system","content":"be brief"},
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQI="}},{"type":"image_url","image_url":{"url":"https://x/y.png"}}]},
			{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},
			{"role":"tool","tool_call_id":"1","content":"no"}]}`, got.Body)

	keyless, err := openaimodel.New(openaimodel.Options{Options: models.Options{BaseURL: s.URL, Transport: s.Transport}, Compatible: true})
	require.NoError(t, err)
	_, _, err = heard(t, keyless, ask("hi"))
	require.NoError(t, err)
	require.Empty(t, s.Last(t).Header.Get("Authorization"), "a key of the environment must not reach another server")
}

func TestStructuredOutputOnTheWire(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Body: chunks(`{"choices":[{"index":0,"delta":{"content":"{}"},"finish_reason":"stop"}]}`)})
	r := ask("hi")
	r.Schema = map[string]any{"type": "object", "properties": map[string]any{}, "required": []any{}, "additionalProperties": false}
	official, err := openaimodel.New(openaimodel.Options{Options: models.Options{APIKey: key, BaseURL: s.URL, Transport: s.Transport}})
	require.NoError(t, err)
	_, _, err = heard(t, official, r)
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],
		"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,
			"schema":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}}`, s.Last(t).Body)
	_, _, err = heard(t, provider(t, s), r)
	require.NoError(t, err)
	require.Contains(t, s.Last(t).Body, "It must be valid under this JSON Schema")
	require.NotContains(t, s.Last(t).Body, "strict")
}

// The failures of X20, without the policy of retries.
func TestX20FailuresOnTheWire(t *testing.T) {
	half := "data: " + `{"choices":[{"index":0,"delta":{"content":"half"}}]}` + "\n\n"
	s := wiretest.New(t)
	for name, c := range map[string]struct {
		answer wiretest.Answer
		want   models.Error
		text   string
	}{
		"429": {wiretest.Answer{Status: 429, Header: map[string]string{"Retry-After": "7"}, Body: `{"error":{"message":"slow down ` + key + `","type":"requests"}}`},
			models.Error{Code: "rate_limited", Status: 429, Retryable: true, RetryAfter: 7 * time.Second, Message: "slow down (the key)"}, ""},
		"quota":      {wiretest.Answer{Status: 429, Body: `{"error":{"message":"pay","code":"insufficient_quota"}}`}, models.Error{Code: "rate_limited", Status: 429, Message: "pay"}, ""},
		"500":        {wiretest.Answer{Status: 500, Body: `oops`}, models.Error{Code: "upstream", Status: 500, Retryable: true, Message: "oops"}, ""},
		"529":        {wiretest.Answer{Status: 529, Body: ``}, models.Error{Code: "upstream", Status: 529, Retryable: true, Message: "the server answered 529"}, ""},
		"401":        {wiretest.Answer{Status: 401, Body: `{"error":"bad key"}`}, models.Error{Code: "permission", Status: 401, Message: "bad key"}, ""},
		"404":        {wiretest.Answer{Status: 404, Body: `{"detail":"Not Found"}`}, models.Error{Code: "not_found", Status: 404, Message: "Not Found"}, ""},
		"400":        {wiretest.Answer{Status: 400, Body: `{"object":"error","message":"bad","code":40001}`}, models.Error{Code: "invalid_request", Status: 400, Message: "bad"}, ""},
		"redirect":   {wiretest.Answer{Status: 307, Header: map[string]string{"Location": "http://127.0.0.1:1/"}}, models.Error{Code: "upstream", Status: 307, Message: "the server redirects to another address, which is not followed: set base_url to where it leads"}, ""},
		"page":       {wiretest.Answer{Header: map[string]string{"Content-Type": "text/html; charset=utf-8"}, Body: "<html><title>Sign in</title>"}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "an HTML page came in place of an answer (Sign in): check base_url"}, ""},
		"error page": {wiretest.Answer{Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>Bad Gateway"}, models.Error{Code: "upstream", Status: 502, Retryable: true, Message: "an HTML page came in place of an answer: check base_url"}, ""},
		"200 with an error, streamed": {wiretest.Answer{Body: `data: {"error":{"message":"overloaded","type":"server_error","code":503}}` + "\n\n"},
			models.Error{Code: "upstream", Status: 503, Retryable: true, Message: "overloaded"}, ""},
		"200 with an error, not streamed": {wiretest.Answer{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"error":{"message":"no such model","type":"invalid_request_error"}}`},
			models.Error{Code: "invalid_request", Status: 200, Message: "no such model"}, ""},
		"an error over several lines": {wiretest.Answer{Header: map[string]string{"Content-Type": "text/plain"}, Body: "{\r\n  \"error\": {\n    \"message\": \"in lines\", \"code\": 503\n  }\n}"},
			models.Error{Code: "upstream", Status: 503, Retryable: true, Message: "in lines"}, ""},
		"an error as a field of the stream": {wiretest.Answer{Body: half + `error: {"code":500,"message":"slot lost"}` + "\n\n"},
			models.Error{Code: "upstream", Status: 500, Retryable: true, Message: "slot lost"}, "half"},
		"an error in the middle": {wiretest.Answer{Body: half + `data: {"error":"gone"}` + "\n\n"}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "gone"}, "half"},
		"empty":                  {wiretest.Answer{}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "an empty answer came"}, ""},
		"no JSON":                {wiretest.Answer{Body: "data: hello\n\n"}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "the answer is not what chat completions look like: invalid character 'h' looking for beginning of value"}, ""},
		"ends without a reason":  {wiretest.Answer{Body: half}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "the answer broke off"}, "half"},
		"dropped":                {wiretest.Answer{Body: half, Drop: true}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "the connection was lost in the middle of an answer: unexpected EOF"}, "half"},
	} {
		t.Run(name, func(t *testing.T) {
			s.Answer(c.answer)
			_, response, err := heard(t, provider(t, s), ask("hi"))
			var got *models.Error
			require.ErrorAs(t, err, &got)
			c.want.Provider = "openai-compatible"
			seen := *got
			seen.Cause = nil
			require.Equal(t, c.want, seen)
			require.Equal(t, c.text, response.Text())
			require.NotContains(t, err.Error(), key)
		})
	}
}

func TestBoundsOfAnAnswer(t *testing.T) {
	s := wiretest.New(t)
	for name, body := range map[string]string{
		"a line":   "data: " + strings.Repeat("x", 5<<20),
		"a stream": strings.Repeat(": "+strings.Repeat("x", 1<<20)+"\n", 17),
		"calls":    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[" + strings.Repeat(`{"index":0,"id":"1"},{"index":1,"id":"2"},`, 600) + "{}]}}]}\n\n",
		"a page":   strings.Repeat("x", 17<<20),
	} {
		t.Run(name, func(t *testing.T) {
			header := map[string]string{}
			if name == "a page" {
				header["Content-Type"] = "application/json"
			}
			s.Answer(wiretest.Answer{Body: body, Header: header})
			_, _, err := heard(t, provider(t, s), ask("hi"))
			var got *models.Error
			require.ErrorAs(t, err, &got)
			require.Less(t, len(err.Error()), 700)
		})
	}
	s.Answer(wiretest.Answer{Status: 500, Body: strings.Repeat("語", 1<<20)})
	_, _, err := heard(t, provider(t, s), ask("hi"))
	require.Less(t, len(err.Error()), 700)
}

func TestCallerEndsAStream(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Body: "data: " + `{"choices":[{"index":0,"delta":{"content":"one"}}]}` + "\n\n", Hold: true})
	enough := errors.New("enough")
	response, err := provider(t, s).Stream(t.Context(), ask("hi"), func(models.Event) error { return enough })
	require.ErrorIs(t, err, enough)
	require.Equal(t, "one", response.Text())

	ctx, cancel := context.WithCancel(t.Context())
	_, err = provider(t, s).Stream(ctx, ask("hi"), func(models.Event) error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
}

// Whatever a server writes: an answer or an error, nothing else.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(quirks), false)
	f.Add([]byte(chunks(`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`)), false)
	f.Add([]byte(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`), true)
	f.Add([]byte("{\n\"error\":1}\rdata:\n\nerror:{}"), false)
	f.Fuzz(func(t *testing.T, body []byte, whole bool) {
		header := http.Header{}
		if whole {
			header.Set("Content-Type", "application/json")
		}
		p, err := openaimodel.New(openaimodel.Options{Compatible: true, Options: models.Options{BaseURL: "http://127.0.0.1:1", Transport: answering{body, header}}})
		require.NoError(t, err)
		events, response, err := heard(t, p, ask("hi"))
		var failed *models.Error
		if err != nil {
			require.ErrorAs(t, err, &failed)
			require.LessOrEqual(t, len(failed.Message), 700)
			return
		}
		require.Equal(t, texts(events, models.EventText), response.Text())
		require.Equal(t, models.EventEnd, events[len(events)-1].Kind)
		for _, call := range response.Calls() {
			require.NotEmpty(t, call.ID)
			require.NotEmpty(t, call.Arguments)
		}
	})
}

type answering struct {
	body   []byte
	header http.Header
}

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body))}, nil
}

func TestNew(t *testing.T) {
	_, err := openaimodel.New(openaimodel.Options{})
	require.ErrorContains(t, err, "openai: api_key is missing")
	_, err = openaimodel.New(openaimodel.Options{Compatible: true})
	require.ErrorContains(t, err, "base_url is missing")
}
