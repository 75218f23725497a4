package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/recording"
	"github.com/hukilau/hukilau/go/internal/redact"
)

// drawn is what a call sees of the world.
func drawn(s *recording.Session, ctx context.Context, tool, args string, at time.Time) string {
	o := s.Outside(ctx, tool, []byte(args))
	data := make([]byte, 8)
	_, _ = io.ReadFull(o.Random, data)
	return fmt.Sprintf("%s %x %s", o.ID, data, o.Read(at).Format(time.RFC3339Nano))
}

func TestRandomNumbersAndClocksComeBack(t *testing.T) {
	s := recording.New(options())
	ctx, run := begin(t, s)
	now := time.Now()
	first := drawn(s, ctx, "a", `{"n":1}`, now)
	second := drawn(s, ctx, "a", `{"n": 1}`, now.Add(time.Second))
	other := drawn(s, ctx, "a", `{"n":2}`, now.Add(2*time.Second))
	require.NotEqual(t, first, second)
	require.NotEqual(t, first, other)
	run.End()
	text, err := s.Encode()
	require.NoError(t, err)

	replay, err := recording.Open(text, options())
	require.NoError(t, err)
	ctx, _ = begin(t, replay)
	later := now.Add(time.Hour)
	// Tools that run at once may begin in another order.
	require.Equal(t, other, drawn(replay, ctx, "a", `{"n":2}`, later))
	require.Equal(t, first, drawn(replay, ctx, "a", `{"n":1}`, later))
	require.Equal(t, second, drawn(replay, ctx, "a", `{"n":1}`, later))

	// After the recorded readings the clock goes on.
	o := replay.Outside(ctx, "b", nil)
	a, b := o.Read(time.Now()), o.Read(time.Now().Add(time.Minute))
	require.WithinDuration(t, a.Add(time.Minute), b, 10*time.Second)
	require.Nil(t, replay.Outside(t.Context(), "b", nil), "what belongs to no run sees the world")
}

func TestRunsAreFoundByToolAndArguments(t *testing.T) {
	s := recording.New(options())
	for _, args := range []map[string]any{{"city": "Oslo", "key": secret}, {"city": "Oslo", "key": secret}, {"city": "Rome"}} {
		_, err := s.Begin("weather", "", args)
		require.NoError(t, err)
	}
	text, err := s.Encode()
	require.NoError(t, err)
	require.NotContains(t, string(text), secret)
	replay, err := recording.Open(text, options())
	require.NoError(t, err)
	for range 2 {
		_, err = replay.Begin("weather", "", map[string]any{"key": redact.Mark, "city": "Oslo"})
		require.NoError(t, err)
	}
	_, err = replay.Begin("weather", "", map[string]any{"city": "Paris"})
	require.EqualError(t, err, `rec.json has no run of weather with the arguments {"city":"Paris"}; its runs of this tool have the arguments `+
		`{"city":"Oslo","key":"[redacted]"}, {"city":"Oslo","key":"[redacted]"}, {"city":"Rome"}: record it again with --record`)
	_, err = replay.Begin("tides", "", nil)
	require.EqualError(t, err, `rec.json has no run of tides with the arguments {}; it has runs of weather (tool.yaml): record it again with --record`)
}

// valid is a recording of one run, with something in place of its requests.
func valid(http string) string {
	return `{"hukilau_recording":1,"runs":[{"tool":"t","arguments":{},"began":"2026-01-02T03:04:05Z","seed":"` +
		strings.Repeat("0f", 32) + `","http":` + http + `}]}`
}

func TestBrokenRecordings(t *testing.T) {
	_, err := recording.Open([]byte(valid(`[{"method":"GET","url":"http://a/","response":{"status":200,"body":["a","b"]}}]`)), options())
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                                      "it is no recording",
		"name: tool":                            "it is no recording",
		"[]":                                    "it is no recording",
		"null":                                  "it is JSON, but no recording",
		`{"runs":[]}`:                           "it is JSON, but no recording",
		`{"hukilau_recording":2}`:               "it is a recording of version 2, and this program reads version 1: record it again",
		`{"hukilau_recording":"1"}`:             "it is a recording of version \"1\"",
		`{"hukilau_recording":1,"runs":{}}`:     "runs must be an array",
		`{"hukilau_recording":1,"rums":[]}`:     `unknown field "rums"`,
		`{"hukilau_recording":1,"runs":[]}{}`:   "it is no recording",
		`{"hukilau_recording":1,"runs":[{}]}`:   "runs[0]: tool is missing",
		`{"hukilau_recording":1,"runs":[null]}`: "runs[0]: tool is missing",
		`{"hukilau_recording":1,"runs":[3]}`:    "runs[0]: it is a number, where another kind of value is needed",
		`{"hukilau_recording":1,"runs":[{"tool":3}]}`:     "runs[0].tool: it is a number",
		strings.Replace(valid("[]"), "0f", "zz", 1):       "runs[0]: seed must be 64 hexadecimal digits",
		strings.Replace(valid("[]"), "2026-", "20x6-", 1): "runs[0]",
		valid("7"):                  "http must be an array",
		valid(`[{"method":"GET"}]`): "runs[0].http[0]: url is missing",
		valid(`[{"method":"GET","url":"http://[","body":""}]`):                                                "url is no URL",
		valid(`[{"method":"GET","url":"http://a/","response":{"status":99}}]`):                                "response.status must be from 200 to 999",
		valid(`[{"method":"GET","url":"http://a/","response":{"status":200,"body":7}}]`):                      "a body must be a text",
		valid(`[{"method":"GET","url":"http://a/","response":{"status":200,"body":{"base64":"!"}}}]`):         "a body must be a text",
		valid(`[{"method":"GET","url":"http://a/","response":{"status":200,"headers":{"A":7}}}]`):             "the value of a header must be a text",
		valid(`[{"method":"GET","url":"http://a/","response":{"status":200,"end":"soon"}}]`):                  `end must be "left" or "waiting"`,
		valid(`[{"method":"GET","url":"http://a/","response":{"status":200},"failure":{"code":"upstream"}}]`): "a response beside a failure",
		valid("[" + strings.Repeat(`{"method":"G","url":"h:"},`, 10_000) + `{"method":"G","url":"h:"}]`):      "http has more than 10000 entries",
		valid(strings.Repeat("[", 100_000)):                                                                   "it is no recording",
		`{"hukilau_recording":1}` + strings.Repeat(" ", recording.MaxFile):                                    "more than the 33554432 of a recording",
	} {
		_, err := recording.Open([]byte(text), options())
		require.ErrorContains(t, err, want, text[:min(len(text), 200)])
		require.ErrorContains(t, err, "rec.json: ")
		require.Less(t, len(err.Error()), 500)
	}
}

// What a recording says must not harm who replays it.
func TestHostileAnswers(t *testing.T) {
	for _, answer := range []string{
		`{"status":200,"headers":{"Content-Length":"-5","Content-Encoding":"gzip","\n":"x"},"body":"a"}`,
		`{"status":301,"headers":{"Location":"http://10.0.0.1/secret"}}`,
		`{"status":301,"headers":{"Location":"http://127.0.0.1:1/"}}`,
		`{"status":204,"headers":{"Content-Length":"9223372036854775807"},"body":"unexpected"}`,
		`{"status":200,"body":"` + strings.Repeat("x", 11<<20) + `"}`,
	} {
		s, err := recording.Open([]byte(strings.Replace(valid(`[{"method":"GET","url":"http://127.0.0.1:1/","response":`+answer+`}]`), `"t"`, `"tool"`, 1)), options())
		require.NoError(t, err)
		run, err := s.Begin("tool", "", nil)
		require.NoError(t, err)
		response, err := client(t, s).Do(run.Context(t.Context()), &httpmod.Request{URL: "http://127.0.0.1:1/"})
		if err == nil {
			require.Less(t, len(response.Body), 100)
		}
		run.End()
	}
}

func TestTooMuchForARecording(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 1<<20)
		for range 9 {
			_, _ = w.Write(piece)
		}
	}))
	defer server.Close()
	s := recording.New(options())
	ctx, _ := begin(t, s)
	c := client(t, s)
	for range 3 {
		_, err := c.Do(ctx, &httpmod.Request{URL: server.URL})
		require.NoError(t, err, "the tool gets its answer all the same")
	}
	c.CloseIdle()
	_, err := s.Encode()
	require.EqualError(t, err, "rec.json: the answers have more than 25165824 bytes, which are too many for a recording")
}

func TestManyAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
	_, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, _ bool) {
		var wait sync.WaitGroup
		for n := range 20 {
			wait.Go(func() {
				path := fmt.Sprintf("/%d", n%5)
				r, err := c.Do(ctx, &httpmod.Request{URL: server.URL + path})
				if err != nil || string(r.Body) != path {
					t.Errorf("%s: %v", path, err)
				}
			})
		}
		wait.Wait()
	})
	require.Empty(t, out)
}

func TestRecordingsAreTheSameOnceReadAndWritten(t *testing.T) {
	s := recording.New(options())
	ctx, run := begin(t, s)
	drawn(s, ctx, "a", "{}", time.Now())
	run.End()
	text, err := s.Encode()
	require.NoError(t, err)
	replay, err := recording.Open(text, options())
	require.NoError(t, err)
	again, err := replay.Encode()
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
	require.True(t, json.Valid(text))
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(valid(`[{"method":"GET","url":"http://a/","response":{"status":200,"body":["a"],"headers":{"A":["b","c"]}}}]`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := recording.Open(text, options())
		if err != nil {
			return
		}
		first, err := s.Encode()
		if err != nil {
			return
		}
		again, err := recording.Open(first, options())
		require.NoError(t, err)
		second, err := again.Encode()
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	})
}
