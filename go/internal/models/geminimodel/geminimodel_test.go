package geminimodel_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/genai"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/geminimodel"
	"github.com/hukilau/hukilau/go/internal/models/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "AIza-not-to-be-seen"

func provider(t *testing.T, s *wiretest.Server) *geminimodel.Provider {
	t.Helper()
	p, err := geminimodel.New(models.Options{APIKey: key, BaseURL: s.URL, Transport: s.Transport})
	require.NoError(t, err)
	return p
}

func ask(text string) *models.Request {
	return &models.Request{Model: "gemini-x", Messages: []models.Message{models.TextMessage(models.RoleUser, text)}}
}

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

func chunks(list ...string) string {
	return "data: " + strings.Join(list, "\r\n\r\ndata: ") + "\r\n\r\n"
}

const (
	thought = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Thinking.","thought":true}]},"index":0}],"modelVersion":"gemini-x-1","responseId":"r"}`
	text    = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Look: "}]},"index":0}]}`
	calls   = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"n":9007199254740993}},"thoughtSignature":"c2lnLTE="},{"functionCall":{"id":"own","name":"now"}}]},"index":0}]}`
	stop    = `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":7,"thoughtsTokenCount":5,"cachedContentTokenCount":2,"totalTokenCount":23}}`
)

func TestAStream(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Body: chunks(thought, text, calls, stop)})
	events, response, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, "Look: ", texts(events, models.EventText))
	require.Equal(t, "Thinking.", texts(events, models.EventReasoning))
	require.Equal(t, []models.ToolCall{
		{ID: "call_1", Name: "weather", Arguments: json.RawMessage(`{"n":9007199254740993}`), Signature: []byte("sig-1")},
		{ID: "own", Name: "now", Arguments: json.RawMessage(`{}`)},
	}, response.Calls())
	require.Equal(t, models.StopCalls, response.Stop)
	require.Equal(t, "gemini-x-1", response.Model)
	response.Usage.Time = 0
	require.Equal(t, models.Usage{InputTokens: 11, OutputTokens: 12, CachedTokens: 2, ReasoningTokens: 5}, response.Usage)
}

// What the SDK's own reader makes of the stream, ours does as well.
func TestSameAsTheSDK(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Body: chunks(thought, text, calls, stop)})
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: "k", HTTPClient: &http.Client{Transport: s.Transport}, HTTPOptions: genai.HTTPOptions{BaseURL: s.URL},
	})
	require.NoError(t, err)
	var want string
	var names []string
	var usage *genai.GenerateContentResponseUsageMetadata
	for r, err := range client.Models.GenerateContentStream(t.Context(), "m", genai.Text("hi"), nil) {
		require.NoError(t, err)
		for _, p := range r.Candidates[0].Content.Parts {
			if !p.Thought {
				want += p.Text
			}
			if p.FunctionCall != nil {
				names = append(names, p.FunctionCall.Name)
			}
		}
		usage = r.UsageMetadata
	}
	_, got, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, want, got.Text())
	require.Equal(t, names, []string{got.Calls()[0].Name, got.Calls()[1].Name})
	require.EqualValues(t, usage.TotalTokenCount, got.Usage.Tokens())
}

// G01: what proxies do to streams.
func TestG01QuirksOfProxies(t *testing.T) {
	s := wiretest.New(t)
	for name, body := range map[string]string{
		"comments":        ": hi\n\nretry: 10\n\n" + chunks(text, `{"candidates":[{"content":null,"finishReason":null}]}`, `{"usageMetadata":{"promptTokenCount":1}}`, calls, stop),
		"no empty line":   strings.TrimRight(chunks(text, calls, stop), "\r\n"),
		"lines of JSON":   text + "\n" + calls + "\n" + stop + "\n",
		"a list at once":  "[" + text + "," + calls + "," + stop + "]",
		"a stop, no text": chunks(text, calls, `{"candidates":[{"finishReason":"STOP"}]}`, stop),
	} {
		t.Run(name, func(t *testing.T) {
			answer := wiretest.Answer{Body: body}
			if body[0] == '[' {
				answer.Header = map[string]string{"Content-Type": "application/json; charset=UTF-8"}
			}
			s.Answer(answer)
			_, response, err := heard(t, provider(t, s), ask("hi"))
			require.NoError(t, err)
			require.Equal(t, "Look: ", response.Text())
			require.Len(t, response.Calls(), 2)
			require.Equal(t, int64(23), response.Usage.Tokens())
		})
	}
}

// G02: text that is cut at every byte stays whole.
func TestG02TextCutAtEveryByte(t *testing.T) {
	const original = "漢字かな 🎏👩‍👩‍👧‍👦 fin"
	var list []string
	for _, r := range original {
		list = append(list, `{"candidates":[{"content":{"parts":[{"text":"`+string(r)+`"}]}}]}`)
	}
	body := chunks(append(list, stop)...)
	s := wiretest.New(t)
	p := provider(t, s)
	for cut := 1; cut < len(body); cut++ {
		s.Answer(wiretest.Answer{Body: body, Cut: cut})
		events, response, err := heard(t, p, ask("hi"))
		require.NoError(t, err)
		require.Equal(t, original, response.Text())
		require.Equal(t, original, texts(events, models.EventText))
	}
}

func TestRequestOnTheWire(t *testing.T) {
	t.Setenv("GOOGLE_API_KEY", "from-the-environment")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	s := wiretest.New(t, wiretest.Answer{Body: chunks(text, stop)})
	temperature, seed := 0.5, int64(7)
	r := &models.Request{
		Model: "gemini-x", System: "be brief", Temperature: &temperature, Seed: &seed, Stop: []string{"END"}, MaxTokens: 50,
		Schema: map[string]any{"type": "integer", "minimum": 3},
		Tools:  []models.Tool{{Name: "f", Description: "does", Schema: map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "integer"}}}}},
		Messages: []models.Message{
			models.TextMessage(models.RoleSystem, "and kind"),
			{Role: models.RoleUser, Parts: []models.Part{{Text: "look"}, {Image: &models.Image{MediaType: "image/png", Data: []byte{1, 2}}}, {Image: &models.Image{URL: "https://x/y.png", MediaType: "image/png"}}}},
			{Role: models.RoleAssistant, Parts: []models.Part{{Reasoning: &models.Reasoning{Text: "hidden"}}, {Call: &models.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`{"a":1}`), Signature: []byte("sig-1")}}}},
			models.ResultMessage(models.ToolResult{ID: "1", Text: "no", IsError: true}),
		},
	}
	_, _, err := heard(t, provider(t, s), r)
	require.NoError(t, err)
	got := s.Last(t)
	require.Equal(t, "/v1beta/models/gemini-x:streamGenerateContent", got.Path)
	require.Equal(t, "alt=sse", got.Query)
	require.Equal(t, key, got.Header.Get("X-Goog-Api-Key"))
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.Body), &body))
	instruction := body["systemInstruction"].(map[string]any)["parts"].([]any)[0].(map[string]any)["text"]
	require.Contains(t, instruction, "be brief\n\nand kind")
	require.Contains(t, instruction, `{"minimum":3,"type":"integer"}`)
	delete(body, "systemInstruction")
	rest, err := json.Marshal(body)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"generationConfig":{"temperature":0.5,"seed":7,"maxOutputTokens":50,"stopSequences":["END"],"responseMimeType":"application/json","responseJsonSchema":{"type":"integer","minimum":3}},
		"tools":[{"functionDeclarations":[{"name":"f","description":"does","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"integer"}}}}]}],
		"contents":[
			{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AQI="}},{"fileData":{"fileUri":"https://x/y.png","mimeType":"image/png"}}]},
			{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"c2lnLTE="}]},
			{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"error":"no"}}}]}]}`, string(rest))
}

// X20: what goes wrong on the wire.
func TestX20FailuresOnTheWire(t *testing.T) {
	s := wiretest.New(t)
	for name, c := range map[string]struct {
		answer wiretest.Answer
		want   models.Error
		text   string
	}{
		"429": {wiretest.Answer{Status: 429, Body: `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}`},
			models.Error{Code: "rate_limited", Status: 429, Retryable: true, RetryAfter: 17 * time.Second, Message: "quota"}, ""},
		"503, as a list": {wiretest.Answer{Status: 503, Body: `[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]`},
			models.Error{Code: "upstream", Status: 503, Retryable: true, Message: "busy"}, ""},
		"400": {wiretest.Answer{Status: 400, Body: `{"error":{"code":400,"message":"no such field","status":"INVALID_ARGUMENT"}}`},
			models.Error{Code: "invalid_request", Status: 400, Message: "no such field"}, ""},
		"key": {wiretest.Answer{Status: 400, Body: `{"error":{"code":400,"message":"not valid: ` + key + `","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`},
			models.Error{Code: "permission", Status: 400, Message: "not valid: (the key)"}, ""},
		"in the middle": {wiretest.Answer{Body: chunks(text, `{"error":{"code":500,"message":"internal","status":"INTERNAL"}}`)},
			models.Error{Code: "upstream", Status: 500, Retryable: true, Message: "internal"}, "Look: "},
		"page":      {wiretest.Answer{Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>"}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "an HTML page came in place of an answer: check base_url"}, ""},
		"dropped":   {wiretest.Answer{Body: chunks(text), Drop: true}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "the connection was lost in the middle of an answer: unexpected EOF"}, "Look: "},
		"broke off": {wiretest.Answer{Body: chunks(text)}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "the answer broke off"}, "Look: "},
	} {
		t.Run(name, func(t *testing.T) {
			s.Answer(c.answer)
			_, response, err := heard(t, provider(t, s), ask("hi"))
			var got *models.Error
			require.ErrorAs(t, err, &got)
			c.want.Provider = "gemini"
			seen := *got
			seen.Cause = nil
			require.Equal(t, c.want, seen)
			require.Equal(t, c.text, response.Text())
		})
	}
	s.Answer(wiretest.Answer{Body: chunks(`{"promptFeedback":{"blockReason":"SAFETY"}}`)})
	_, response, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, models.StopFiltered, response.Stop)
	_, err = geminimodel.New(models.Options{})
	require.ErrorContains(t, err, "api_key is missing")
}
