package anthropicmodel_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/anthropicmodel"
	"github.com/hukilau/hukilau/go/internal/models/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-ant-not-to-be-seen"

func provider(t *testing.T, s *wiretest.Server) *anthropicmodel.Provider {
	t.Helper()
	p, err := anthropicmodel.New(models.Options{APIKey: key, BaseURL: s.URL, Transport: s.Transport})
	require.NoError(t, err)
	return p
}

func ask(text string) *models.Request {
	return &models.Request{Model: "claude", Messages: []models.Message{models.TextMessage(models.RoleUser, text)}}
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

// events puts JSON texts into a stream as Anthropic writes it.
func events(list ...string) string {
	var b strings.Builder
	for _, data := range list {
		var e struct{ Type string }
		if json.Unmarshal([]byte(data), &e) != nil {
			e.Type = "broken"
		}
		b.WriteString("event: " + e.Type + "\ndata: " + data + "\n\n")
	}
	return b.String()
}

const (
	begin = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-x","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}}}`
	stop  = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":20}}`
	end   = `{"type":"message_stop"             }`
	open0 = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}  }`
)

func textDelta(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + string(quoted) + `}      }`
}

var tools = events(begin,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}`,
	`{"type": "ping"}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"think"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I look."}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 90071"}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"99254740993}"}}`,
	`{"type":"content_block_stop","index":2}`,
	`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}`,
	`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}`,
	`{"type":"content_block_stop","index":3}`,
	`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}`,
	end)

func TestAStream(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Body: tools})
	list, response, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, "I look.", texts(list, models.EventText))
	require.Equal(t, "Let me think", texts(list, models.EventReasoning))
	require.Equal(t, models.StopCalls, response.Stop)
	require.Equal(t, "claude-x", response.Model)
	require.Equal(t, []models.Part{
		{Reasoning: &models.Reasoning{Text: "Let me think", Signature: "c2ln"}},
		{Text: "I look."},
		{Call: &models.ToolCall{ID: "toolu_1", Name: "weather", Arguments: json.RawMessage(`{"n": 9007199254740993}`)}},
		{Call: &models.ToolCall{ID: "toolu_2", Name: "now", Arguments: json.RawMessage(`{}`)}},
	}, response.Message.Parts)
	response.Usage.Time = 0
	require.Equal(t, models.Usage{InputTokens: 18, OutputTokens: 20, CachedTokens: 5}, response.Usage)
}

// What the SDK's own reader makes of the stream, ours does as well.
func TestSameAsTheSDK(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Body: tools})
	service := anthropic.NewMessageService(option.WithBaseURL(s.URL), option.WithAPIKey("k"), option.WithHTTPClient(&http.Client{Transport: s.Transport}))
	stream := service.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 1})
	defer stream.Close()
	var want anthropic.Message
	for stream.Next() {
		require.NoError(t, want.Accumulate(stream.Current()))
	}
	require.NoError(t, stream.Err())
	_, got, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Len(t, got.Message.Parts, len(want.Content))
	require.Equal(t, want.Content[0].Thinking, got.Message.Parts[0].Reasoning.Text)
	require.Equal(t, want.Content[0].Signature, got.Message.Parts[0].Reasoning.Signature)
	require.Equal(t, want.Content[1].Text, got.Text())
	require.JSONEq(t, string(want.Content[2].AsToolUse().Input), string(got.Calls()[0].Arguments))
	require.Equal(t, want.Usage.OutputTokens, got.Usage.OutputTokens)
}

// G01: what proxies do to streams.
func TestG01QuirksOfProxies(t *testing.T) {
	quirks := ": keep-alive\n\nretry: 500\n\n" + strings.ReplaceAll(tools, "event: ping\n", "")
	s := wiretest.New(t)
	for name, body := range map[string]string{
		"comments":         quirks,
		"without names":    "data:" + strings.Join(strings.Split(quirks, "\ndata:")[1:], "\n\ndata:"),
		"CRLF, no end":     strings.ReplaceAll(strings.TrimSuffix(quirks, "event: message_stop\ndata: "+end+"\n\n"), "\n", "\r\n"),
		"no empty line":    strings.TrimRight(quirks, "\n"),
		"an unknown event": quirks[:len(quirks)-len("event: message_stop\ndata: "+end+"\n\n")] + events(`{"type":"of_tomorrow","index":null}`, end),
	} {
		t.Run(name, func(t *testing.T) {
			s.Answer(wiretest.Answer{Body: body})
			_, response, err := heard(t, provider(t, s), ask("hi"))
			require.NoError(t, err)
			require.Equal(t, "I look.", response.Text())
			require.Len(t, response.Calls(), 2)
			require.Equal(t, int64(38), response.Usage.Tokens())
		})
	}
}

// G02: text that is cut at every byte stays whole.
func TestG02TextCutAtEveryByte(t *testing.T) {
	const original = "絵文字 👩‍👩‍👧‍👦 🏄🏽 fin"
	list := []string{begin, open0}
	for _, r := range original {
		list = append(list, textDelta(string(r)))
	}
	body := events(append(list, `{"type":"content_block_stop","index":0}`, stop, end)...)
	s := wiretest.New(t)
	p := provider(t, s)
	for cut := 1; cut < len(body); cut++ {
		s.Answer(wiretest.Answer{Body: body, Cut: cut})
		list, response, err := heard(t, p, ask("hi"))
		require.NoError(t, err)
		require.Equal(t, original, response.Text())
		require.Equal(t, original, texts(list, models.EventText))
	}
}

func TestAnAnswerThatIsNotStreamed(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Header: map[string]string{"Content-Type": "application/json"},
		Body: `{"type":"message","model":"m","content":[{"type":"text","text":"whole"},{"type":"redacted_thinking","data":"xx"}],"stop_reason":"max_tokens","usage":{"input_tokens":1,"output_tokens":2}}`})
	_, response, err := heard(t, provider(t, s), ask("hi"))
	require.NoError(t, err)
	require.Equal(t, "whole", response.Text())
	require.Equal(t, models.StopLength, response.Stop)
	require.Equal(t, int64(3), response.Usage.Tokens())
	require.Equal(t, "xx", response.Message.Parts[1].Reasoning.Redacted)
}

func TestRequestOnTheWire(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	s := wiretest.New(t, wiretest.Answer{Body: events(begin, open0, textDelta("x"), stop, end)})
	temperature := 0.25
	r := &models.Request{
		Model: "claude", System: "be brief", Temperature: &temperature, Stop: []string{"END"}, MaxTokens: 50,
		Tools: []models.Tool{{Name: "f", Description: "does", Schema: map[string]any{"type": "object", "required": []any{"a"}, "additionalProperties": false, "properties": map[string]any{"a": true}}}},
		Messages: []models.Message{
			models.TextMessage(models.RoleSystem, "and kind"),
			{Role: models.RoleUser, Parts: []models.Part{{Text: "look"}, {Text: ""}, {Image: &models.Image{MediaType: "image/png", Data: []byte{1, 2}}}, {Image: &models.Image{URL: "https://x/y.png"}}}},
			{Role: models.RoleAssistant, Parts: []models.Part{
				{Reasoning: &models.Reasoning{Text: "unsigned"}}, {Reasoning: &models.Reasoning{Text: "signed", Signature: "c2ln"}}, {Reasoning: &models.Reasoning{Redacted: "xx"}},
				{Call: &models.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`{"a":9007199254740993}`)}},
				{Call: &models.ToolCall{ID: "2", Name: "f", Arguments: json.RawMessage(`{"a":`)}}}},
			models.ResultMessage(models.ToolResult{ID: "1", Name: "f", Text: "no", IsError: true}, models.ToolResult{ID: "2", Name: "f"}),
			models.TextMessage(models.RoleAssistant, ""),
		},
	}
	_, _, err := heard(t, provider(t, s), r)
	require.NoError(t, err)
	got := s.Last(t)
	require.Equal(t, "/v1/messages", got.Path)
	require.Equal(t, "Bearer "+key, got.Header.Get("Authorization"))
	require.NotEmpty(t, got.Header.Get("Anthropic-Version"))
	require.JSONEq(t, `{"model":"claude","max_tokens":50,"stream":true,"temperature":0.25,"stop_sequences":["END"],
		"system":[{"type":"text","text":"be brief\n\nand kind"}],
		"tools":[{"name":"f","description":"does","input_schema":{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":true}}}],
		"messages":[
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQI="}},{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"signed","signature":"c2ln"},{"type":"redacted_thinking","data":"xx"},
				{"type":"tool_use","id":"1","name":"f","input":{"a":9007199254740993}},{"type":"tool_use","id":"2","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":[{"type":"text","text":"no"}]},{"type":"tool_result","tool_use_id":"2","is_error":false}]}]}`, got.Body)
	require.Contains(t, got.Body, "9007199254740993")
}

func TestStructuredOutputOnTheWire(t *testing.T) {
	s := wiretest.New(t, wiretest.Answer{Body: events(begin, open0, textDelta("{}"), stop, end)})
	r := ask("hi")
	r.Schema = map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []any{"n"}, "additionalProperties": false}
	_, _, err := heard(t, provider(t, s), r)
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"claude","max_tokens":8192,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],
		"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}}}`, s.Last(t).Body)
	r.Schema = map[string]any{"type": "object"}
	_, _, err = heard(t, provider(t, s), r)
	require.NoError(t, err)
	require.NotContains(t, s.Last(t).Body, "output_config")
	require.Contains(t, s.Last(t).Body, "It must be valid under this JSON Schema")
}

// X20: what goes wrong on the wire.
func TestX20FailuresOnTheWire(t *testing.T) {
	s := wiretest.New(t)
	half := events(begin, open0, textDelta("half"))
	for name, c := range map[string]struct {
		answer wiretest.Answer
		want   models.Error
		text   string
	}{
		"429": {wiretest.Answer{Status: 429, Header: map[string]string{"Retry-After": "1.5"}, Body: `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`},
			models.Error{Code: "rate_limited", Status: 429, Retryable: true, RetryAfter: 1500 * time.Millisecond, Message: "slow"}, ""},
		"529": {wiretest.Answer{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
			models.Error{Code: "upstream", Status: 529, Retryable: true, Message: "Overloaded"}, ""},
		"400": {wiretest.Answer{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"temperature is not supported"}}`},
			models.Error{Code: "invalid_request", Status: 400, Message: "temperature is not supported"}, ""},
		"401": {wiretest.Answer{Status: 401, Body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`},
			models.Error{Code: "permission", Status: 401, Message: "invalid x-api-key"}, ""},
		"overloaded in the middle": {wiretest.Answer{Body: half + "event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n"},
			models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "Overloaded"}, "half"},
		"page":      {wiretest.Answer{Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>"}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "an HTML page came in place of an answer: check base_url"}, ""},
		"dropped":   {wiretest.Answer{Body: half, Drop: true}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "the connection was lost in the middle of an answer: unexpected EOF"}, "half"},
		"broke off": {wiretest.Answer{Body: half}, models.Error{Code: "upstream", Status: 200, Retryable: true, Message: "the answer broke off"}, "half"},
	} {
		t.Run(name, func(t *testing.T) {
			s.Answer(c.answer)
			_, response, err := heard(t, provider(t, s), ask("hi"))
			var got *models.Error
			require.ErrorAs(t, err, &got)
			c.want.Provider = "anthropic"
			seen := *got
			seen.Cause = nil
			require.Equal(t, c.want, seen)
			require.Equal(t, c.text, response.Text())
		})
	}
	_, err := anthropicmodel.New(models.Options{})
	require.ErrorContains(t, err, "api_key is missing")
}
