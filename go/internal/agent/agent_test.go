package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/agent"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var tools = []models.Tool{{Name: "add", Description: "adds"}, {Name: "fail"}, {Name: "panic"}}

// call is the tools of the tests: add gives its arguments back.
func call(_ context.Context, name string, arguments json.RawMessage) (string, bool) {
	switch name {
	case "fail":
		return "it failed", true
	case "panic":
		panic("in the tool")
	}
	return name + string(arguments), false
}

func wants(calls ...models.ToolCall) fakemodel.Answer {
	return fakemodel.Answer{Text: "I look. ", Calls: calls, Usage: models.Usage{InputTokens: 2, OutputTokens: 1}}
}

func says(text string) fakemodel.Answer {
	return fakemodel.Answer{Text: text, Usage: models.Usage{InputTokens: 2, OutputTokens: 1}}
}

func toolCall(id, name, arguments string) models.ToolCall {
	return models.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

func newAgent(t *testing.T, p models.Provider, change ...func(*agent.Options)) *agent.Agent {
	t.Helper()
	o := agent.Options{Provider: p, Model: "m", Prompt: "be kind", Tools: tools, Call: call}
	for _, f := range change {
		f(&o)
	}
	a := agent.New(t.Context(), o)
	t.Cleanup(a.Close)
	return a
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// events reads an exchange to its end.
func events(t *testing.T, a *agent.Agent) (list []agent.Event, err error) {
	t.Helper()
	for {
		e, err := a.Next(limited(t))
		if err != nil {
			return list, err
		}
		list = append(list, e)
		if e.Kind == agent.EventEnd {
			return list, nil
		}
	}
}

func TestToolLoop(t *testing.T) {
	p := fakemodel.New(
		wants(toolCall("1", "add", `{"a":1}`), toolCall("2", "fail", `{}`), toolCall("3", "add", `{"a":3}`)),
		fakemodel.Answer{Reasoning: "hm", Chunks: []string{"The ", "answer"}, Usage: models.Usage{InputTokens: 5, OutputTokens: 2}})
	a := newAgent(t, p)
	require.True(t, a.NeedsInput())
	require.NoError(t, a.InputText("go"))
	require.False(t, a.NeedsInput())
	list, err := events(t, a)
	require.NoError(t, err)
	require.True(t, a.NeedsInput())

	var shown []string
	for _, e := range list {
		switch e.Kind {
		case agent.EventCall:
			shown = append(shown, "call "+e.Call.ID)
		case agent.EventResult:
			shown = append(shown, fmt.Sprintf("result %s %s %v", e.Result.ID, e.Result.Text, e.Result.IsError))
		case agent.EventEnd:
			shown = append(shown, fmt.Sprintf("end %s %d %d", e.Stop, e.Turns, e.Usage.Tokens()))
		default:
			shown = append(shown, e.Text)
		}
	}
	require.Equal(t, []string{"I look. ", "call 1", "call 2", "call 3", `result 1 add{"a":1} false`, "result 2 it failed true",
		`result 3 add{"a":3} false`, "hm", "The ", "answer", "end stop 2 10"}, shown)

	second := p.Requests()[1]
	require.Equal(t, "be kind", second.System)
	require.Equal(t, tools, second.Tools)
	require.Len(t, second.Messages, 3)
	require.Equal(t, models.RoleTool, second.Messages[2].Role)
	var results []string
	for _, part := range second.Messages[2].Parts {
		results = append(results, fmt.Sprintf("%s %s %s %v", part.Result.ID, part.Result.Name, part.Result.Text, part.Result.IsError))
	}
	require.Equal(t, []string{`1 add add{"a":1} false`, "2 fail it failed true", `3 add add{"a":3} false`}, results)
}

func TestCollect(t *testing.T) {
	a := newAgent(t, fakemodel.New(wants(toolCall("1", "add", "{}")), says("Done.")))
	_, err := a.Collect(limited(t))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, a.InputText("go"))
	answer, err := a.Collect(limited(t))
	require.NoError(t, err)
	answer.Usage.Time = 0
	require.Equal(t, agent.Answer{Text: "I look. Done.", Last: "Done.", Stop: models.StopEnd, Turns: 2, Usage: models.Usage{InputTokens: 4, OutputTokens: 2}}, answer)
}

func TestCallsThatCannotBeMade(t *testing.T) {
	p := fakemodel.New(wants(
		toolCall("1", "sub", `{}`), toolCall("2", "add", `{"a":`), toolCall("3", "add", `[1]`), toolCall("4", "add", `null`), toolCall("5", "panic", `{}`)), says("x"))
	a := newAgent(t, p)
	require.NoError(t, a.InputText("go"))
	_, err := a.Collect(limited(t))
	require.NoError(t, err)
	var results []string
	for _, part := range p.Requests()[1].Messages[2].Parts {
		require.Equal(t, part.Result.ID != "4", part.Result.IsError, "null is no arguments")
		results = append(results, part.Result.Text)
	}
	require.Equal(t, []string{
		`there is no tool "sub"; the tools are: add, fail, panic`,
		"the arguments are not valid JSON: unexpected end of JSON input",
		"the arguments must be a JSON object",
		"add{}",
		"the tool panic failed: panic: in the tool",
	}, results)
}

func TestLongResultsAreCut(t *testing.T) {
	p := fakemodel.New(wants(toolCall("1", "add", "{}")), says("x"))
	a := newAgent(t, p, func(o *agent.Options) {
		o.Call = func(context.Context, string, json.RawMessage) (string, bool) {
			return strings.Repeat("語", 1<<20), false
		}
	})
	require.NoError(t, a.InputText("go"))
	_, err := a.Collect(limited(t))
	require.NoError(t, err)
	text := p.Requests()[1].Messages[2].Parts[0].Result.Text
	require.Less(t, len(text), 1<<20+100)
	require.True(t, strings.HasSuffix(text, "語\n(cut off: the result has 3145728 bytes)"))
}

// Tools of one turn run at once, at most as many as allowed, and all of them.
func TestToolsRunInParallel(t *testing.T) {
	const many, atOnce = 12, 4
	var calls []models.ToolCall
	for i := range many {
		calls = append(calls, toolCall(fmt.Sprint(i), "add", "{}"))
	}
	var now, most, all atomic.Int64
	full := make(chan struct{})
	var once sync.Once
	a := newAgent(t, fakemodel.New(wants(calls...), says("x")), func(o *agent.Options) {
		o.Parallel = atOnce
		o.Call = func(context.Context, string, json.RawMessage) (string, bool) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if n == atOnce {
				once.Do(func() { close(full) })
			}
			<-full // none ends before as many as allowed have begun
			now.Add(-1)
			return fmt.Sprint(all.Add(1)), false
		}
	})
	require.NoError(t, a.InputText("go"))
	_, err := a.Collect(limited(t))
	require.NoError(t, err)
	require.EqualValues(t, atOnce, most.Load())
	require.EqualValues(t, many, all.Load())
}

func TestTurnLimit(t *testing.T) {
	p := fakemodel.New(wants(toolCall("1", "add", "{}")), wants(toolCall("2", "add", "{}")), says("fresh"))
	a := newAgent(t, p, func(o *agent.Options) { o.MaxTurns = 2 })
	require.NoError(t, a.InputText("go"))
	answer, err := a.Collect(limited(t))
	var failed *models.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, models.CodeLimit, failed.Code)
	require.ErrorContains(t, err, "no answer in 2 turns; raise max_turns")
	require.Equal(t, "I look. I look. ", answer.Text)
	require.True(t, a.NeedsInput())

	// It can go on, and each call that the model sees has a result.
	require.NoError(t, a.InputText("again"))
	_, err = a.Collect(limited(t))
	require.NoError(t, err)
	requireWhole(t, p.Requests()[2].Messages)
}

// requireWhole checks that a conversation begins with the user and has a result behind each call.
func requireWhole(t *testing.T, messages []models.Message) {
	t.Helper()
	require.Equal(t, models.RoleUser, messages[0].Role)
	for i, m := range messages {
		var asked, got []string
		for _, c := range m.Calls() {
			asked = append(asked, c.ID)
		}
		if len(asked) > 0 {
			require.Greater(t, len(messages), i+1)
			for _, p := range messages[i+1].Parts {
				got = append(got, p.Result.ID)
			}
		}
		require.Equal(t, asked, got)
		if m.Role == models.RoleTool {
			require.NotEmpty(t, messages[i-1].Calls())
		}
	}
}

func TestMemoryKeepsWholeExchanges(t *testing.T) {
	for recent, want := range map[int][]string{-1: {"5"}, 1: {"4", "5"}, 2: {"3", "4", "5"}, 0: {"1", "2", "3", "4", "5"}} {
		var answers []fakemodel.Answer
		for i := range 5 {
			id := fmt.Sprint(i + 1)
			answers = append(answers, wants(toolCall(id, "add", "{}"), toolCall(id+"b", "add", "{}")), says("a"+id))
		}
		p := fakemodel.New(answers...)
		a := newAgent(t, p, func(o *agent.Options) { o.Recent = recent })
		for i := range 5 {
			require.NoError(t, a.InputText(fmt.Sprint(i+1)))
			_, err := a.Collect(limited(t))
			require.NoError(t, err)
		}
		requests := p.Requests()
		for _, r := range requests {
			requireWhole(t, r.Messages)
		}
		var users []string
		for _, m := range requests[len(requests)-1].Messages {
			if m.Role == models.RoleUser {
				users = append(users, m.Text())
			}
		}
		require.Equal(t, want, users, "recent = %d", recent)
	}
}

func TestContexts(t *testing.T) {
	p := fakemodel.New(wants(toolCall("1", "add", "{}")), says("x"), says("y"))
	asked := 0
	a := newAgent(t, p, func(o *agent.Options) {
		o.Contexts = []agent.Context{
			{Name: "docs", Get: func(_ context.Context, query string) (string, error) {
				asked++
				return "found for " + query, nil
			}},
			{Name: "none", Get: func(context.Context, string) (string, error) { return "", nil }},
		}
	})
	require.NoError(t, a.InputText("one", "said beside it"))
	require.NoError(t, a.InputText("two"))
	_, err := a.Collect(limited(t))
	require.NoError(t, err)
	require.Equal(t, 1, asked, "once for an exchange")
	for _, r := range p.Requests() {
		require.Equal(t, "be kind\n\nWhat you should know for this answer:\n\nsaid beside it\n\nfound for one\ntwo", r.System)
	}
	require.NoError(t, a.InputText("three"))
	_, err = a.Collect(limited(t))
	require.NoError(t, err)
	require.Equal(t, "be kind\n\nWhat you should know for this answer:\n\nfound for three", p.Requests()[2].System)

	broken := errors.New("no index")
	a = newAgent(t, fakemodel.New(says("x")), func(o *agent.Options) {
		o.Contexts = []agent.Context{{Name: "docs", Get: func(context.Context, string) (string, error) { return "", broken }}}
	})
	require.NoError(t, a.InputText("one"))
	_, err = a.Collect(limited(t))
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "context docs")
}

func TestBudgetOfARun(t *testing.T) {
	budget := models.NewBudget(7)
	p := fakemodel.New(wants(toolCall("1", "add", "{}")), wants(toolCall("2", "add", "{}")), wants(toolCall("3", "add", "{}")))
	a := newAgent(t, p, func(o *agent.Options) { o.Budget = budget })
	require.NoError(t, a.InputText("go"))
	_, err := a.Collect(limited(t))
	var failed *models.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, models.CodeLimit, failed.Code)
	require.Equal(t, int64(9), budget.Used())
	require.Error(t, budget.Charge(models.Usage{}), "shared with what else the run generates")
}

// A model that fails after tools ran: what they did is remembered, and the agent goes on.
func TestFailureInTheMiddle(t *testing.T) {
	lost := &models.Error{Code: models.CodeUpstream, Message: "lost"}
	p := fakemodel.New(fakemodel.Answer{Err: lost}, wants(toolCall("1", "add", "{}")), fakemodel.Answer{Chunks: []string{"half"}, Err: lost}, says("fine"))
	a := newAgent(t, p)
	require.NoError(t, a.InputText("first"))
	_, err := a.Collect(limited(t))
	require.ErrorIs(t, err, lost)
	require.NoError(t, a.InputText("second"))
	answer, err := a.Collect(limited(t))
	require.ErrorIs(t, err, lost)
	require.Equal(t, "half", answer.Last)
	require.NoError(t, a.InputText("third"))
	answer, err = a.Collect(limited(t))
	require.NoError(t, err)
	require.Equal(t, "fine", answer.Text)
	last := p.Requests()[3].Messages
	requireWhole(t, last)
	require.Len(t, last, 4, "second, its call and result, third")
	require.Equal(t, "second", last[0].Text())
}

// Nothing is asked of the model before somebody reads, and nothing goes on while nobody does.
func TestBackPressure(t *testing.T) {
	var produced atomic.Int64
	p := fakemodel.New(fakemodel.Answer{Do: func(context.Context, *models.Request) (fakemodel.Answer, error) {
		produced.Add(1)
		return fakemodel.Answer{Chunks: []string{"a", "b", "c"}, Calls: []models.ToolCall{toolCall("1", "add", "{}")}}, nil
	}}, fakemodel.Answer{Do: func(context.Context, *models.Request) (fakemodel.Answer, error) {
		produced.Add(1)
		return says("d"), nil
	}})
	a := newAgent(t, p)
	require.NoError(t, a.InputText("go"))
	require.Zero(t, produced.Load())
	e, err := a.Next(limited(t))
	require.NoError(t, err)
	require.Equal(t, "a", e.Text)
	require.EqualValues(t, 1, produced.Load())

	// A reader that gives up does not break the exchange.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = a.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	answer, err := a.Collect(limited(t))
	require.NoError(t, err)
	require.Equal(t, "bcd", answer.Text)
	require.True(t, a.NeedsInput())
}

func TestClose(t *testing.T) {
	inTool := make(chan struct{})
	p := fakemodel.New(wants(toolCall("1", "add", "{}")), says("x"))
	a := newAgent(t, p, func(o *agent.Options) {
		o.Call = func(ctx context.Context, _ string, _ json.RawMessage) (string, bool) {
			close(inTool)
			<-ctx.Done()
			return "", true
		}
	})
	require.NoError(t, a.InputText("go"))
	failed := make(chan error, 1)
	go func() {
		_, err := a.Collect(context.Background())
		failed <- err
	}()
	<-inTool
	a.Close()
	require.ErrorContains(t, <-failed, "the agent is closed")
	require.ErrorContains(t, a.InputText("more"), "the agent is closed")
	_, err := a.Next(limited(t))
	require.ErrorContains(t, err, "the agent is closed")
	a.Close()

	ctx, cancel := context.WithCancel(t.Context())
	b := agent.New(ctx, agent.Options{Provider: fakemodel.New(says("x"))})
	require.NoError(t, b.InputText("go"))
	cancel()
	_, err = b.Next(limited(t))
	require.ErrorIs(t, err, context.Canceled)
	b.Close()
}

func TestInputsOfTheUserOnly(t *testing.T) {
	a := newAgent(t, fakemodel.New())
	require.ErrorContains(t, a.Input(models.TextMessage(models.RoleSystem, "x")), "role user")
	for range 1000 {
		require.NoError(t, a.InputText("x"))
	}
	require.ErrorContains(t, a.InputText("x"), "1000 inputs wait already")
}

// Many readers and writers at once: for the race detector.
func TestManyGoroutines(t *testing.T) {
	var answers []fakemodel.Answer
	for i := range 40 {
		answers = append(answers, wants(toolCall(fmt.Sprint(i), "add", "{}")), says("x"))
	}
	a := newAgent(t, fakemodel.New(answers...), func(o *agent.Options) { o.Recent = 2 })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				if err := a.InputText("x"); err != nil {
					t.Error(err)
				}
				a.NeedsInput()
				if _, err := a.Next(limited(t)); err != nil && err != io.EOF {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
