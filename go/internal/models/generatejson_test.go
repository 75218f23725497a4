package models_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
)

// person is valid with a name and an age of at least 0.
var person = models.JSONOptions{
	Decode: func(text []byte) (tree any, err error) {
		err = json.Unmarshal(text, &tree)
		return tree, err
	},
	Validate: func(tree any) []string {
		object, _ := tree.(map[string]any)
		var list []string
		if _, ok := object["name"].(string); !ok {
			list = append(list, "/name: must be a string")
		}
		if age, ok := object["age"].(float64); !ok || age < 0 {
			list = append(list, "/age: must be a number of at least 0")
		}
		return list
	},
}

var personSchema = map[string]any{"type": "object", "required": []any{"name", "age"}}

func said(texts ...string) *fakemodel.Provider {
	var answers []fakemodel.Answer
	for _, text := range texts {
		answers = append(answers, fakemodel.Answer{Text: text, Usage: models.Usage{InputTokens: 10, OutputTokens: 1}})
	}
	return fakemodel.New(answers...)
}

func ask(text string) *models.Request {
	return &models.Request{Model: "m", Messages: []models.Message{models.TextMessage(models.RoleUser, text)}}
}

// X21: an answer that is not the JSON asked for is repaired, a few times.
func TestX21RepairsOfGeneratedJSON(t *testing.T) {
	const (
		prose  = "Sure! Here it is:\n{\"name\": \"Kai {x}\", \"age\": -1}\nAnything else?"
		fence  = "```json\n{\"name\": \"Kai\"}\n```"
		broken = `{"name": "Kai", "age": `
		right  = `{"name": "Kai", "age": 7}`
	)
	p := said(prose, fence, right)
	tree, response, err := models.GenerateJSON(t.Context(), p, ask("who"), personSchema, person)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"name": "Kai", "age": 7.0}, tree)
	require.Equal(t, int64(33), response.Usage.Tokens(), "the usage of all turns")
	requests := p.Requests()
	require.Len(t, requests, 3)
	require.Equal(t, personSchema, requests[0].Schema)
	last := requests[2].Messages
	require.Len(t, last, 5)
	require.Equal(t, prose, last[1].Text())
	require.Contains(t, last[2].Text(), "- /age: must be a number of at least 0")
	require.NotContains(t, last[2].Text(), "/name")
	require.Contains(t, last[4].Text(), "- /age: must be a number of at least 0")

	p = said(prose, broken, fence, right)
	_, _, err = models.GenerateJSON(t.Context(), p, ask("who"), personSchema, person)
	var failed *models.OutputError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, &models.OutputError{Text: fence, Violations: []string{"/age: must be a number of at least 0"}, Repairs: 2}, failed)
	require.Len(t, p.Requests(), 3)
	require.Contains(t, p.Requests()[2].Messages[4].Text(), "the answer is not JSON: unexpected end of JSON input")
	require.Equal(t, "invalid_output", failed.ErrorCode())
	require.Equal(t, []any{"/age: must be a number of at least 0"}, failed.ErrorFields()["violations"])

	none := person
	none.Repairs = -1
	p = said(prose, right)
	_, _, err = models.GenerateJSON(t.Context(), p, ask("who"), personSchema, none)
	require.ErrorAs(t, err, &failed)
	require.EqualError(t, failed, "the model gave no valid JSON: /age: must be a number of at least 0")
	require.Len(t, p.Requests(), 1)
}

func TestJSONIsFoundInAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`{"name":"a","age":1}`:                                          "a",
		"I think {not this} but {\"name\":\"b\",\"age\":1}.":            "b",
		"```\n{\"name\":\"c\",\"age\":1}\n```":                          "c",
		"```json\n{\"name\":\"d\",\"age\":1}":                           "d",
		"First ```{}``` then ```json\n{\"name\":\"e\",\"age\":1}\n```":  "e",
		"<think>[1, {\"a\":2}]</think>\n\n{\"name\":\"f\",\"age\":1}\n": "f",
		`He said "[" and then {"name":"g\"}","age":1}`:                  "g\"}",
		strings.Repeat("[", 40) + `{"name":"h","age":1}`:                "h",
		"]}{\"name\":\"i\",\"age\":1}":                                  "i",
	} {
		tree, _, err := models.GenerateJSON(t.Context(), said(answer), ask("who"), personSchema, person)
		require.NoError(t, err, answer)
		require.Equal(t, want, tree.(map[string]any)["name"], answer)
	}
	var failed *models.OutputError
	for _, answer := range []string{"", "no", "{", "```", "``````", "\"", `{"name":"\`, strings.Repeat("[", 1<<20), strings.Repeat("```\n", 1000)} {
		_, _, err := models.GenerateJSON(t.Context(), said(answer, answer, answer), ask("who"), personSchema, person)
		require.ErrorAs(t, err, &failed)
		require.LessOrEqual(t, len(failed.Text), 16<<10)
	}
}

func TestASchemaThatTheProviderRefuses(t *testing.T) {
	refused := &models.Error{Code: models.CodeInvalidRequest, Provider: "x", Status: 400, Message: "keyword not supported"}
	p := fakemodel.New(fakemodel.Answer{Err: refused}, fakemodel.Answer{Text: `{"name":"a","age":1}`})
	r := ask("who")
	r.System = "be kind"
	_, _, err := models.GenerateJSON(t.Context(), p, r, personSchema, person)
	require.NoError(t, err)
	second := p.Requests()[1]
	require.Nil(t, second.Schema)
	require.Contains(t, second.System, "be kind\n\nAnswer with one JSON value")
	require.Contains(t, second.System, `"required":["name","age"]`)

	p = fakemodel.New(fakemodel.Answer{Err: refused}, fakemodel.Answer{Err: refused})
	_, _, err = models.GenerateJSON(t.Context(), p, r, personSchema, person)
	require.ErrorIs(t, err, refused)
	require.Len(t, p.Requests(), 2)
}

func TestViolationsAreBounded(t *testing.T) {
	many := person
	many.Validate = func(any) []string {
		var list []string
		for i := range 1000 {
			list = append(list, fmt.Sprint(i, strings.Repeat("x", 1000)))
		}
		return list
	}
	_, _, err := models.GenerateJSON(t.Context(), said("{}", "{}", "{}"), ask("who"), true, many)
	var failed *models.OutputError
	require.True(t, errors.As(err, &failed))
	require.Len(t, failed.Violations, 21)
	require.Equal(t, "and 980 more", failed.Violations[20])
	require.Less(t, len(err.Error()), 12_000)
}
