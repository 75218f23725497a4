package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// open sends a request through f as an SDK would.
func open(t *testing.T, f tripper) (*wire.Stream, error) {
	t.Helper()
	client := wire.Client(f, "p")
	return wire.Open(t.Context(), "p", func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:1/", strings.NewReader("{}"))
		require.NoError(t, err)
		r.Header.Set("X-Api-Key", "the-key")
		response, err := client.Do(r)
		if err != nil {
			return fmt.Errorf("the SDK's own words: %w", err)
		}
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, "{}", string(text), "the SDK gets nothing of the answer")
		return response.Body.Close()
	})
}

func answer(body string) tripper {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func TestEventsOfAStream(t *testing.T) {
	for body, want := range map[string][]string{
		"":                                    nil,
		"\n\n\n":                              nil,
		": comment\n\ndata: a\n\n":            {"|a"},
		"event: e\ndata: a\ndata:b\n\n":       {"e|a\nb"},
		"event: lost\n\ndata: a\n\n":          {"|a"},
		"id: 1\nretry: 5\ndata\n\n":           {"|"},
		"data: a":                             {"|a"},
		"data: a\r\n\r\ndata: b\r\rdata: c\n": {"|a", "|b", "|c"},
		"data:  two spaces\n\n":               {"| two spaces"},
		"\xef\xbb\xbfdata: a\n\n":             {"|a"},
		"{\"x\":1}\n{\"y\":2}\n":              {`|{"x":1}`, `|{"y":2}`},
		"{\n\"x\":\r\n1}":                     {"|{\n\"x\":\r\n1}"},
		"error: {}\n\n":                       {"error|{}"},
	} {
		stream, err := open(t, answer(body))
		require.NoError(t, err)
		var got []string
		for {
			e, err := stream.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			got = append(got, e.Name+"|"+string(e.Data))
		}
		stream.Close()
		require.Equal(t, want, got, "%q", body)
	}
}

func TestWhatTheTransportSaysIsKept(t *testing.T) {
	denied := &hostmod.PermissionError{Message: "not granted: net", Key: "net"}
	_, err := open(t, func(*http.Request) (*http.Response, error) { return nil, fmt.Errorf("dial: %w", denied) })
	require.ErrorIs(t, err, denied)

	refused := errors.New("connection refused")
	_, err = open(t, func(*http.Request) (*http.Response, error) { return nil, refused })
	var failed *models.Error
	require.ErrorAs(t, err, &failed)
	require.True(t, failed.Retryable)
	require.ErrorIs(t, err, refused)
	require.Equal(t, "p: no answer came: connection refused", err.Error())
}

func TestRequestsThatAreNeverSent(t *testing.T) {
	_, err := wire.Open(t.Context(), "p", func(context.Context) error { return errors.New("bad schema") })
	require.ErrorContains(t, err, "p: the request cannot be written: bad schema")
	_, err = wire.Open(t.Context(), "p", func(context.Context) error { return nil })
	require.ErrorContains(t, err, "the SDK sent nothing")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = wire.Open(ctx, "p", func(ctx context.Context) error { return ctx.Err() })
	require.ErrorIs(t, err, context.Canceled)
	_, err = wire.Client(answer(""), "p").Get("http://127.0.0.1:1/")
	require.ErrorContains(t, err, "outside of Open")
}

func TestShapesOfErrors(t *testing.T) {
	for body, want := range map[string]models.Error{
		`{"error":{"message":"m","type":"rate_limit_error"}}`:        {Code: "rate_limited", Status: 200, Message: "m", Retryable: true},
		`{"error":{"message":"m","type":"authentication_error"}}`:    {Code: "permission", Status: 200, Message: "m"},
		`{"error":{"message":"m","code":"context_length_exceeded"}}`: {Code: "invalid_request", Status: 200, Message: "m"},
		`{"error":{"message":"m","type":"not_found_error"}}`:         {Code: "not_found", Status: 200, Message: "m"},
		`{"error":{"message":"m","code":418}}`:                       {Code: "invalid_request", Status: 418, Message: "m"},
		`{"error":{"message":"m","code":502}}`:                       {Code: "upstream", Status: 502, Message: "m", Retryable: true},
		`{"error":{"message":"m","code":7}}`:                         {Code: "upstream", Status: 200, Message: "m", Retryable: true},
		`{"error":{"metadata":1}}`:                                   {Code: "upstream", Status: 200, Message: `{"error":{"metadata":1}}`, Retryable: true},
		`{"error":"m"}`:                                              {Code: "upstream", Status: 200, Message: "m", Retryable: true},
		`[{"error":{"message":"m","status":"PERMISSION_DENIED"}}]`:   {Code: "permission", Status: 200, Message: "m"},
		`"text"`:          {Code: "upstream", Status: 200, Message: `"text"`, Retryable: true},
		"  plain\n text ": {Code: "upstream", Status: 200, Message: "plain text", Retryable: true},
		``:                {Code: "upstream", Status: 200, Message: "the server answered 200 OK", Retryable: true},
	} {
		want.Provider = "p"
		require.Equal(t, &want, wire.ErrorOf("p", 200, nil, []byte(body)), body)
	}
}

func TestRetryAfter(t *testing.T) {
	after := func(header, value string) time.Duration {
		return wire.ErrorOf("p", 429, http.Header{header: {value}}, nil).RetryAfter
	}
	require.Equal(t, 3*time.Second, after("Retry-After", "3"))
	require.Equal(t, 1500*time.Millisecond, after("Retry-After-Ms", "1500"))
	date := after("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	require.InDelta(t, time.Hour.Seconds(), date.Seconds(), 300)
	for _, value := range []string{"", "-5", "soon", "NaN", "Inf", "1e300", time.Unix(0, 0).UTC().Format(http.TimeFormat)} {
		require.Zero(t, after("Retry-After", value), value)
	}
}

func TestHalvesOfCharacters(t *testing.T) {
	for quoted, want := range map[string]string{
		`""`:                   "",
		`null`:                 "",
		`"a\ud83d"`:            "a" + models.Half(0xd83d),
		`"\uDE80b"`:            models.Half(0xde80) + "b",
		`"\ude80-\ud83d"`:      models.Half(0xde80) + "-" + models.Half(0xd83d),
		`"\ud83d"`:             models.Half(0xd83d),
		`"\ude80"`:             models.Half(0xde80),
		`"\ud83d\ude80"`:       "🚀",
		`"\ud83d\ude80\ud83d"`: "🚀" + models.Half(0xd83d),
		`"a\ud83db"`:           "a\ufffdb",
		`"\\ud83d"`:            `\ud83d`,
		`"\\\ud83d"`:           `\` + models.Half(0xd83d),
		`"ud83d"`:              "ud83d",
		`"\u00e9"`:             "é",
	} {
		got, err := wire.Unquote([]byte(quoted))
		require.NoError(t, err, quoted)
		require.Equal(t, want, got, quoted)
	}
	_, err := wire.Unquote([]byte(`5`))
	require.Error(t, err)
}
