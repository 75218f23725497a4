package recording_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
	"github.com/hukilau/hukilau/go/internal/recording"
	"github.com/hukilau/hukilau/go/internal/redact"
)

// heard is all that a model said.
type heard struct {
	Events   []models.Event
	Response *models.Response
	Err      string
}

func ask(ctx context.Context, p models.Provider, prompt string, history ...models.Message) (h heard) {
	r := &models.Request{Model: "big", Messages: append(history, models.TextMessage(models.RoleUser, prompt))}
	response, err := p.Stream(ctx, r, func(e models.Event) error {
		h.Events = append(h.Events, e)
		return nil
	})
	h.Response = response
	if err != nil {
		h.Err = err.Error()
	}
	return h
}

// asTaped runs a script with a model, and again with the recording alone.
func asTaped(t *testing.T, p models.Provider, script func(ctx context.Context, p models.Provider, replaying bool)) (string, recording.Outcome) {
	t.Helper()
	s := recording.New(options())
	ctx, run := begin(t, s)
	script(ctx, s.Model("fast", p), false)
	require.Empty(t, run.End())
	text, err := s.Encode()
	require.NoError(t, err)
	replay, err := recording.Open(text, options())
	require.NoError(t, err)
	ctx, run = begin(t, replay)
	script(ctx, replay.Model("fast", nil), true)
	return string(text), run.End()
}

func TestModelsAnswerAgain(t *testing.T) {
	p := fakemodel.New(
		fakemodel.Answer{Reasoning: "well", Chunks: []string{"Hel", "lo <&>"}, Usage: models.Usage{InputTokens: 7, OutputTokens: 2, CachedTokens: 1}},
		fakemodel.Answer{Calls: []models.ToolCall{
			{ID: "c1", Name: "weather", Arguments: json.RawMessage("{ \"city\" :\t\"Oslo\"}"), Signature: []byte{1, 2}},
			{ID: "c2", Name: "weather", Arguments: json.RawMessage(`{"city`)},
		}},
		fakemodel.Answer{Text: "ok"},
		fakemodel.Answer{Chunks: []string{"half"}, Err: &models.Error{
			Code: models.CodeRateLimited, Message: "slow down", Provider: "fake", Status: 429, Retryable: true, RetryAfter: 1500 * time.Millisecond,
		}},
	)
	var said [2][]heard
	_, out := asTaped(t, p, func(ctx context.Context, p models.Provider, replaying bool) {
		i := 0
		if replaying {
			i = 1
		}
		first := ask(ctx, p, "hello")
		second := ask(ctx, p, "weather?")
		// The answer, broken arguments and all, goes back.
		third := ask(ctx, p, "and?", second.Response.Message)
		said[i] = append(said[i], first, second, third, ask(ctx, p, "once more"))
		_, err := models.Generate(ctx, p, &models.Request{Messages: []models.Message{models.TextMessage(models.RoleUser, "?")}})
		if replaying {
			require.Error(t, err)
		}
	})
	require.Equal(t, said[0], said[1])
	require.Equal(t, "fake: slow down", said[1][3].Err)
	require.Equal(t, `{"city`, string(said[1][1].Response.Calls()[1].Arguments))
	require.Empty(t, out)
}

func TestRequestsToModelsThatWereNotRecorded(t *testing.T) {
	_, out := asTaped(t, fakemodel.New(fakemodel.Answer{Text: "a"}, fakemodel.Answer{Text: "b"}), func(ctx context.Context, p models.Provider, replaying bool) {
		if !replaying {
			ask(ctx, p, "Which capital has Norway?")
			ask(ctx, p, "Who are you?")
			return
		}
		require.Equal(t, "the recording rec.json has no answer to this: a request to the model fast, whose last message is "+
			`"Which capital has Sweden?"; the nearest that it has is a request to the model fast, whose last message is "Which capital has Norway?"`,
			ask(ctx, p, "Which capital has Sweden?").Err)
		require.Contains(t, ask(ctx, p, "Who are you?", models.TextMessage(models.RoleSystem, "Lie.")).Err, "what differs is before its last message")
	})
	require.Len(t, out.Missing, 2)
	require.Len(t, out.Unused, 2)
}

// The two halves of a secret that arrives in pieces would not be found one by one.
func TestSecretsInPieces(t *testing.T) {
	text, out := asTaped(t, fakemodel.New(fakemodel.Answer{
		Reasoning: "I know " + secret, Chunks: []string{"it is ", secret[:9], secret[9:], "!"},
		Calls: []models.ToolCall{{ID: "1", Name: "tell", Arguments: json.RawMessage(`{"it":"` + secret + `"}`)}},
	}), func(ctx context.Context, p models.Provider, replaying bool) {
		prompt := "what is " + secret
		if replaying {
			prompt = "what is " + redact.Mark
		}
		h := ask(ctx, p, prompt)
		require.Empty(t, h.Err)
		if replaying {
			require.Equal(t, "it is "+redact.Mark+"!", h.Response.Text())
			require.Equal(t, `{"it":"`+redact.Mark+`"}`, string(h.Response.Calls()[0].Arguments))
		}
	})
	require.Empty(t, out)
	require.NotContains(t, text, secret[:9])
	require.NotContains(t, text, secret[9:])
}

func TestAnswersOfModelsThatWereNotHeardToTheirEnd(t *testing.T) {
	enough := errors.New("enough")
	wait := func(ctx context.Context, _ *models.Request) (fakemodel.Answer, error) {
		<-ctx.Done()
		return fakemodel.Answer{}, context.Cause(ctx)
	}
	_, out := asTaped(t, fakemodel.New(fakemodel.Answer{Chunks: []string{"a", "b", "c"}}, fakemodel.Answer{Do: wait}),
		func(ctx context.Context, p models.Provider, replaying bool) {
			var texts []string
			_, err := p.Stream(ctx, &models.Request{Messages: []models.Message{models.TextMessage(models.RoleUser, "abc")}}, func(e models.Event) error {
				texts = append(texts, e.Text)
				if len(texts) == 2 && !replaying {
					return enough
				}
				return nil
			})
			require.Equal(t, []string{"a", "b"}, texts)
			if replaying {
				require.ErrorContains(t, err, "the rest of the answer")
			} else {
				require.ErrorIs(t, err, enough)
			}
			ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			require.Equal(t, context.DeadlineExceeded.Error(), ask(ctx, p, "wait").Err)
		})
	require.Len(t, out.Missing, 1)
}
