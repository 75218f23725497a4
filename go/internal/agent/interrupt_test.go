package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/agent"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
)

// told is a conversation in short.
func told(messages []models.Message) (list []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				list = append(list, "call "+p.Call.ID)
			case p.Result != nil:
				list = append(list, fmt.Sprintf("result %s %s %v", p.Result.ID, p.Result.Text, p.Result.IsError))
			default:
				list = append(list, fmt.Sprintf("%s %s", m.Role, p.Text))
			}
		}
	}
	return list
}

// A reader that stops early, wherever that is, gets the answer to the next input, and the model is told what was read
// of the one before it, with a result behind each call.
func TestInputBreaksAnAnswerOff(t *testing.T) {
	thinking := fakemodel.Answer{Chunks: []string{"a", "b"}, Calls: []models.ToolCall{toolCall("1", "add", "{}"), toolCall("2", "add", "{}")}}
	called := []string{"user go", "assistant ab", "call 1", "call 2"}
	const never = "not called: the user said something else"
	for name, c := range map[string]struct {
		answers []fakemodel.Answer
		read    int  // events
		waits   bool // for one more answer of the model
		want    []string
	}{
		"before anything was read": {nil, 0, true, []string{"user go"}},
		"in the middle":            {[]fakemodel.Answer{{Chunks: []string{"a", "b", "c"}}}, 2, false, []string{"user go", "assistant ab"}},
		"before the end":           {[]fakemodel.Answer{{Chunks: []string{"a", "b"}}}, 2, false, []string{"user go", "assistant ab"}},
		"before the calls":         {[]fakemodel.Answer{thinking}, 2, false, append(called, "result 1 "+never+" true", "result 2 "+never+" true")},
		"between the calls":        {[]fakemodel.Answer{thinking}, 3, false, append(called, "result 1 "+never+" true", "result 2 "+never+" true")},
		"after the results":        {[]fakemodel.Answer{thinking}, 6, true, append(called, "result 1 add{} false", "result 2 add{} false")},
		"after the second turn":    {[]fakemodel.Answer{thinking, {Chunks: []string{"c", "d"}}}, 7, false, append(called, "result 1 add{} false", "result 2 add{} false", "assistant c")},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{})
			answers := c.answers[:len(c.answers):len(c.answers)]
			if c.waits {
				answers = append(answers, fakemodel.Answer{Do: func(ctx context.Context, _ *models.Request) (fakemodel.Answer, error) {
					close(begun)
					<-ctx.Done()
					return fakemodel.Answer{}, context.Cause(ctx)
				}})
			}
			p := fakemodel.New(append(answers, fakemodel.Answer{Text: "new"}, fakemodel.Answer{Text: "last"})...)
			a := newAgent(t, p)
			require.NoError(t, a.InputText("go"))
			for range c.read {
				_, err := a.Next(limited(t))
				require.NoError(t, err)
			}
			if c.waits {
				ctx, cancel := context.WithCancel(limited(t))
				go func() { <-begun; cancel() }()
				_, err := a.Next(ctx)
				require.ErrorIs(t, err, context.Canceled)
			}
			require.False(t, a.NeedsInput())
			require.NoError(t, a.InputText("stop"))
			require.NoError(t, a.InputText("and go on"))
			answer, err := a.Collect(limited(t))
			require.NoError(t, err)
			require.Equal(t, "new", answer.Text)
			require.True(t, a.NeedsInput())
			require.NoError(t, a.InputText("more"))
			_, err = a.Collect(limited(t))
			require.NoError(t, err)
			requests := p.Requests()
			last := requests[len(requests)-1].Messages
			requireWhole(t, last)
			require.Equal(t, append(c.want[:len(c.want):len(c.want)], "user stop", "user and go on", "assistant new", "user more"), told(last))
		})
	}
}

// Tools that run are stopped; one that had ended keeps its result, and those that had not begun never do.
func TestInputStopsTools(t *testing.T) {
	p := fakemodel.New(fakemodel.Answer{Calls: []models.ToolCall{toolCall("1", "add", "{}"), toolCall("2", "add", `{"wait":1}`), toolCall("3", "add", "{}")}}, says("new"))
	waiting := make(chan struct{})
	a := newAgent(t, p, func(o *agent.Options) {
		o.Parallel = 1
		o.Call = func(ctx context.Context, _ string, arguments json.RawMessage) (string, bool) {
			if string(arguments) == "{}" {
				return "done", false
			}
			close(waiting)
			<-ctx.Done()
			return "stopped", true
		}
	})
	require.NoError(t, a.InputText("go"))
	reader := make(chan error, 1)
	heard := make(chan agent.Answer, 1)
	go func() { // it waits for the second result while the user speaks
		answer, err := a.Collect(limited(t))
		heard <- answer
		reader <- err
	}()
	<-waiting
	require.NoError(t, a.InputText("stop"))
	require.NoError(t, <-reader)
	require.Equal(t, "new", (<-heard).Text)
	last := p.Requests()[1].Messages
	requireWhole(t, last)
	require.Equal(t, []string{"user go", "call 1", "call 2", "call 3", "result 1 done false", "result 2 stopped true",
		"result 3 not called: the user said something else true", "user stop"}, told(last))
}
