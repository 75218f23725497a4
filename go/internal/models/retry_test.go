package models_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/anthropicmodel"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
	"github.com/hukilau/hukilau/go/internal/models/geminimodel"
	"github.com/hukilau/hukilau/go/internal/models/openaimodel"
	"github.com/hukilau/hukilau/go/internal/models/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient retries without waiting, and notes how long it would have waited.
func patient(p models.Provider, waits *[]time.Duration) models.Provider {
	return models.WithRetries(p, models.RetryOptions{
		Random: func() float64 { return 1 },
		Wait: func(ctx context.Context, d time.Duration) error {
			*waits = append(*waits, d)
			return ctx.Err()
		},
	})
}

// Each failure of X20 in front of each provider: twice, then a good answer; and then for ever.
func TestX20RetriesWithACap(t *testing.T) {
	s := wiretest.New(t)
	o := models.Options{APIKey: "k", BaseURL: s.URL, Transport: s.Transport}
	openAI, err := openaimodel.New(openaimodel.Options{Options: o})
	require.NoError(t, err)
	anthropic, err := anthropicmodel.New(o)
	require.NoError(t, err)
	gemini, err := geminimodel.New(o)
	require.NoError(t, err)
	good := map[models.Provider]string{
		openAI: `data: {"choices":[{"index":0,"delta":{"content":"fine"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
		anthropic: `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"fine"}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n",
		gemini: `data: {"candidates":[{"content":{"parts":[{"text":"fine"}]},"finishReason":"STOP"}]}` + "\n\n",
	}
	normal := []time.Duration{500 * time.Millisecond, time.Second}
	json := map[string]string{"Content-Type": "application/json"}
	for name, c := range map[string]struct {
		answer wiretest.Answer
		waits  []time.Duration
		status int
		code   models.Code
	}{
		"429":          {wiretest.Answer{Status: 429, Header: map[string]string{"Retry-After": "9"}}, []time.Duration{9 * time.Second, 9 * time.Second}, 429, models.CodeRateLimited},
		"500":          {wiretest.Answer{Status: 500}, normal, 500, models.CodeUpstream},
		"502":          {wiretest.Answer{Status: 502}, normal, 502, models.CodeUpstream},
		"503":          {wiretest.Answer{Status: 503}, normal, 503, models.CodeUpstream},
		"529":          {wiretest.Answer{Status: 529}, normal, 529, models.CodeUpstream},
		"dropped":      {wiretest.Answer{Body: "data: {", Drop: true}, normal, 200, models.CodeUpstream},
		"error object": {wiretest.Answer{Body: `{"error":{"message":"busy"}}`, Header: json}, normal, 200, models.CodeUpstream},
		"error event":  {wiretest.Answer{Body: "data: " + `{"error":{"message":"busy"}}` + "\n\n"}, normal, 200, models.CodeUpstream},
		"page":         {wiretest.Answer{Body: "<html>", Header: map[string]string{"Content-Type": "text/html"}}, normal, 200, models.CodeUpstream},
	} {
		t.Run(name, func(t *testing.T) {
			for p, body := range good {
				var waits []time.Duration
				s.Answer(c.answer, c.answer, wiretest.Answer{Body: body})
				response, err := models.Generate(t.Context(), patient(p, &waits), ask("hi"))
				require.NoError(t, err)
				require.Equal(t, "fine", response.Text())
				require.Equal(t, c.waits, waits)

				before := len(s.Requests())
				s.Answer(c.answer)
				waits = nil
				_, err = models.Generate(t.Context(), patient(p, &waits), ask("hi"))
				var failed *models.Error
				require.ErrorAs(t, err, &failed)
				require.Equal(t, before+3, len(s.Requests()), "one attempt and two retries, and none of the SDK's own")
				require.Equal(t, c.waits, waits)
				require.Equal(t, c.status, failed.Status)
				require.Equal(t, c.code, failed.Code)
				require.True(t, failed.Retryable)
				require.NotEmpty(t, failed.Provider)
				require.Equal(t, map[string]any{"retryable": true, "provider": failed.Provider, "status": float64(c.status)}, without(failed.ErrorFields(), "retry_after"))
			}
		})
	}
}

func without(fields map[string]any, key string) map[string]any {
	delete(fields, key)
	return fields
}

func TestNothingIsRetriedAfterAnEvent(t *testing.T) {
	lost := &models.Error{Code: models.CodeUpstream, Retryable: true, Message: "lost"}
	var waits []time.Duration
	p := fakemodel.New(fakemodel.Answer{Chunks: []string{"half"}, Err: lost}, fakemodel.Answer{Text: "again"})
	var heard string
	response, err := patient(p, &waits).Stream(t.Context(), ask("hi"), func(e models.Event) error {
		heard += e.Text
		return nil
	})
	require.ErrorIs(t, err, lost)
	require.Equal(t, "half", heard)
	require.Equal(t, "half", response.Text())
	require.Empty(t, waits)
}

func TestWhatIsNotRetried(t *testing.T) {
	var waits []time.Duration
	for _, err := range []error{
		&models.Error{Code: models.CodeInvalidRequest, Status: 400},
		&models.Error{Code: models.CodeRateLimited, Status: 429, Retryable: true, RetryAfter: time.Hour},
		errors.New("the host's own"),
		context.Canceled,
	} {
		p := fakemodel.New(fakemodel.Answer{Err: err}, fakemodel.Answer{Text: "no"})
		_, got := models.Generate(t.Context(), patient(p, &waits), ask("hi"))
		require.ErrorIs(t, got, err)
	}
	require.Empty(t, waits)

	// A deadline that comes before the retry is no reason to wait for it.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	slow := &models.Error{Retryable: true, RetryAfter: 2 * time.Minute}
	patientOnes := models.WithRetries(fakemodel.New(fakemodel.Answer{Err: slow}), models.RetryOptions{Longest: time.Hour})
	_, err := models.Generate(ctx, patientOnes, ask("hi"))
	require.ErrorIs(t, err, slow)
}

func TestWaitsGrowAndEndWithTheContext(t *testing.T) {
	failed := fakemodel.Answer{Err: &models.Error{Retryable: true}}
	var waits []time.Duration
	p := models.WithRetries(fakemodel.New(failed, failed, failed, failed, failed), models.RetryOptions{
		Retries: 4, First: time.Second, Longest: 5 * time.Second, Random: func() float64 { return 0 },
		Wait: func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		},
	})
	_, err := models.Generate(t.Context(), p, ask("hi"))
	require.Error(t, err)
	require.Equal(t, []time.Duration{time.Second / 2, time.Second, 2 * time.Second, 5 * time.Second / 2}, waits)

	ctx, cancel := context.WithCancel(t.Context())
	p = models.WithRetries(fakemodel.New(failed, failed), models.RetryOptions{First: time.Hour, Longest: time.Hour, Retrying: func(error, time.Duration) { cancel() }})
	_, err = models.Generate(ctx, p, ask("hi"))
	require.ErrorIs(t, err, context.Canceled)

	never := models.WithRetries(fakemodel.New(failed), models.RetryOptions{Retries: -1})
	_, err = models.Generate(t.Context(), never, ask("hi"))
	require.Error(t, err)
}

func TestBudget(t *testing.T) {
	b := models.NewBudget(25)
	p := models.WithBudget(said("a", "b", "c"), b)
	for range 2 {
		_, err := models.Generate(t.Context(), p, ask("hi"))
		require.NoError(t, err)
	}
	response, err := models.Generate(t.Context(), p, ask("hi"))
	require.ErrorContains(t, err, "33 of 25 tokens are used; raise tokens in [limits]")
	require.Equal(t, "c", response.Text())
	_, err = models.Generate(t.Context(), p, ask("hi"))
	var failed *models.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, models.CodeLimit, failed.Code)
	require.Equal(t, int64(33), b.Used())

	endless := models.WithBudget(said("a"), nil)
	_, err = models.Generate(t.Context(), endless, ask("hi"))
	require.NoError(t, err)
}
