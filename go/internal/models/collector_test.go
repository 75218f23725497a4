package models_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hukilau/hukilau/go/internal/models"
)

func collector(r *models.Request) (*models.Collector, *[]models.Event) {
	events := &[]models.Event{}
	return models.NewCollector(r, func(e models.Event) error {
		*events = append(*events, e)
		return nil
	}), events
}

// However a text is cut, every event has whole characters, and together they are the text.
func TestCharactersStayWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aé漢🎏\u200d"))).Draw(t, "text")
		c, events := collector(ask("hi"))
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(5, len(rest))).Draw(t, "n")
			require.NoError(t, c.Text(rest[:n]))
			rest = rest[n:]
		}
		response, err := c.End(models.StopEnd)
		require.NoError(t, err)
		require.Equal(t, text, response.Text())
		var heard strings.Builder
		for _, e := range *events {
			require.True(t, utf8.ValidString(e.Text))
			heard.WriteString(e.Text)
		}
		require.Equal(t, text, heard.String())
	})
}

func TestPartsKeepTheirOrder(t *testing.T) {
	c, events := collector(ask("hi"))
	require.NoError(t, c.Reasoning("think"))
	require.NoError(t, c.Sign("sig", ""))
	require.NoError(t, c.Text("a"))
	require.NoError(t, c.Text("\xe6\xbc")) // never finished
	require.NoError(t, c.Call(models.ToolCall{Name: "f", Arguments: json.RawMessage(" ")}))
	require.NoError(t, c.Sign("", "sealed"))
	require.NoError(t, c.Text("b"))
	response, err := c.End(models.StopOther)
	require.NoError(t, err)
	require.Equal(t, models.StopCalls, response.Stop)
	require.Equal(t, []models.Part{
		{Reasoning: &models.Reasoning{Text: "think", Signature: "sig"}},
		{Text: "a\xe6\xbc"},
		{Call: &models.ToolCall{ID: "call_1", Name: "f", Arguments: json.RawMessage("{}")}},
		{Reasoning: &models.Reasoning{Redacted: "sealed"}},
		{Text: "b"},
	}, response.Message.Parts)
	require.Equal(t, models.EventUsage, (*events)[len(*events)-2].Kind)
	require.Equal(t, models.EventEnd, (*events)[len(*events)-1].Kind)
}

func TestIDsOfCallsAreNew(t *testing.T) {
	r := ask("hi")
	r.Messages = append(r.Messages, models.Message{Role: models.RoleAssistant, Parts: []models.Part{
		{Call: &models.ToolCall{ID: "call_2"}}, {Call: &models.ToolCall{ID: "call_3"}}}})
	c, _ := collector(r)
	seen := map[string]bool{"call_2": true, "call_3": true}
	for range 5 {
		require.NoError(t, c.Call(models.ToolCall{Name: "f"}))
	}
	response, err := c.End(models.StopEnd)
	require.NoError(t, err)
	for _, call := range response.Calls() {
		require.False(t, seen[call.ID], call.ID)
		seen[call.ID] = true
	}
}

func TestCallsAreBounded(t *testing.T) {
	c, _ := collector(ask("hi"))
	var err error
	for i := 0; err == nil; i++ {
		require.LessOrEqual(t, i, 1000)
		err = c.Call(models.ToolCall{Name: "f"})
	}
	require.ErrorContains(t, err, "more than 1000 tools")
}

func TestFailKeepsWhatCame(t *testing.T) {
	lost := errors.New("lost")
	c, _ := collector(ask("12345678"))
	response, err := c.Fail(lost)
	require.ErrorIs(t, err, lost)
	require.Nil(t, response)

	require.NoError(t, c.Text("half"))
	response, err = c.Fail(lost)
	require.ErrorIs(t, err, lost)
	require.Equal(t, "half", response.Text())
	require.True(t, response.Usage.Estimated)
	require.Equal(t, int64(3), response.Usage.Tokens(), "a token for four bytes")
}

func TestErrorsShowLittle(t *testing.T) {
	long := models.Clip(strings.Repeat("語\n", 1000))
	require.LessOrEqual(t, len(long), 510)
	require.True(t, utf8.ValidString(long))
	o := models.Options{APIKey: "secret", BaseURL: "http://x"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(verb, o), "secret")
		require.NotContains(t, fmt.Sprintf(verb, &o), "secret")
	}
}

func TestStrictSchemas(t *testing.T) {
	object := func(properties map[string]any, required ...any) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	number := map[string]any{"type": "number"}
	for name, c := range map[string]struct {
		schema any
		want   bool
	}{
		"closed":               {object(map[string]any{"a": number}, "a"), true},
		"nested":               {object(map[string]any{"a": map[string]any{"type": "array", "items": object(map[string]any{"b": number}, "b")}}, "a"), true},
		"choices":              {object(map[string]any{"a": map[string]any{"anyOf": []any{number, map[string]any{"type": "null"}}}}, "a"), true},
		"an optional property": {object(map[string]any{"a": number}), false},
		"an unknown one":       {object(map[string]any{"a": number}, "b"), false},
		"open":                 {map[string]any{"type": "object"}, false},
		"open inside":          {object(map[string]any{"a": map[string]any{"type": "object"}}, "a"), false},
		"a condition":          {object(map[string]any{"a": map[string]any{"type": "number", "minimum": 1.0}}, "a"), false},
		"a choice with one":    {object(map[string]any{"a": map[string]any{"anyOf": []any{map[string]any{"type": "number", "minimum": 1.0}}}}, "a"), false},
		"maybe an open one":    {object(map[string]any{"a": map[string]any{"type": []any{"object", "null"}}}, "a"), false},
		"maybe a number":       {object(map[string]any{"a": map[string]any{"type": []any{"number", "null"}}}, "a"), true},
		"no object":            {number, false},
		"anything":             {true, false},
		"none":                 {nil, false},
	} {
		require.Equal(t, c.want, models.IsStrict(c.schema), name)
	}
}

// A model that never ends is stopped.
func TestAnswersHaveABound(t *testing.T) {
	piece := strings.Repeat("x", 1<<20)
	for name, add := range map[string]func(*models.Collector) error{
		"text":      func(c *models.Collector) error { return c.Text(piece) },
		"reasoning": func(c *models.Collector) error { return c.Reasoning(piece) },
		"calls": func(c *models.Collector) error {
			return c.Call(models.ToolCall{Name: "a", Arguments: json.RawMessage(`"` + piece + `"`)})
		},
	} {
		c := models.NewCollector(&models.Request{}, func(models.Event) error { return nil })
		var err error
		n := 0
		for ; err == nil && n < 100; n++ {
			err = add(c)
		}
		var failed *models.Error
		require.ErrorAs(t, err, &failed, name)
		require.Equal(t, models.CodeTooLarge, failed.Code, name)
		require.InDelta(t, 17, n, 1, name)
	}
}
