package hostapp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseParams(t *testing.T) {
	types := func(names ...any) map[string]any { return map[string]any{"type": names} }
	one := func(name string) map[string]any { return map[string]any{"type": name} }
	list := func(items string) map[string]any { return map[string]any{"type": "array", "items": one(items)} }
	doc := map[string]any{"properties": map[string]any{
		"text": one("string"), "n": one("integer"), "x": one("number"), "yes": one("boolean"), "tags": list("string"), "numbers": list("number"),
		"object": one("object"), "either": types("null", "string", "number"), "level": map[string]any{"enum": []any{"low", "5"}}, "any": map[string]any{},
		"mixed":    map[string]any{"enum": []any{1.0, "two", true, nil, "4", json.Number("9007199254740993"), []any{1.0}}},
		"numbered": map[string]any{"enum": []any{"5", 5.0, "6"}}, "fixed": map[string]any{"const": 3.0}, "named": map[string]any{"const": "3"},
		"some":  map[string]any{"type": "array", "items": map[string]any{"enum": []any{1.0, "b"}}},
		"typed": map[string]any{"type": []any{"integer", "string"}, "enum": []any{"7", 8.0}}, "maybe": types("integer", "null"), "bare": types("object", "array"),
	}}
	for _, c := range []struct {
		pairs  []string
		object string
		want   map[string]any
		fails  string
	}{
		{pairs: []string{"text=5", "n=5", "x=1.5", "yes=true"}, want: map[string]any{"text": "5", "n": 5.0, "x": 1.5, "yes": true}},
		{pairs: []string{"text=a=b"}, want: map[string]any{"text": "a=b"}},
		{pairs: []string{"text="}, want: map[string]any{"text": ""}},
		{pairs: []string{"n=9007199254740993"}, want: map[string]any{"n": json.Number("9007199254740993")}},
		{pairs: []string{"n=2.5"}, want: map[string]any{"n": 2.5}}, // the schema refuses it
		{pairs: []string{"tags=5", "tags=a"}, want: map[string]any{"tags": []any{"5", "a"}}},
		{pairs: []string{`tags=["a","b"]`}, want: map[string]any{"tags": []any{"a", "b"}}},
		{pairs: []string{"numbers=1", "numbers=2"}, want: map[string]any{"numbers": []any{1.0, 2.0}}},
		{pairs: []string{`object={"a":1}`}, want: map[string]any{"object": map[string]any{"a": 1.0}}},
		{pairs: []string{"either=null"}, want: map[string]any{"either": nil}},
		{pairs: []string{"either=x"}, want: map[string]any{"either": "x"}},
		{pairs: []string{"level=5"}, want: map[string]any{"level": "5"}},
		{pairs: []string{"mixed=1"}, want: map[string]any{"mixed": 1.0}},
		{pairs: []string{"mixed=two"}, want: map[string]any{"mixed": "two"}},
		{pairs: []string{"mixed=true"}, want: map[string]any{"mixed": true}},
		{pairs: []string{"mixed=null"}, want: map[string]any{"mixed": nil}},
		{pairs: []string{"mixed=4"}, want: map[string]any{"mixed": "4"}},
		{pairs: []string{"mixed=9007199254740993"}, want: map[string]any{"mixed": json.Number("9007199254740993")}},
		{pairs: []string{"mixed=[1]"}, want: map[string]any{"mixed": []any{1.0}}},
		{pairs: []string{"mixed=other"}, want: map[string]any{"mixed": "other"}}, // the schema refuses it
		{pairs: []string{"numbered=5"}, want: map[string]any{"numbered": "5"}},
		{pairs: []string{"numbered=6"}, want: map[string]any{"numbered": "6"}},
		{pairs: []string{"fixed=3"}, want: map[string]any{"fixed": 3.0}},
		{pairs: []string{"named=3"}, want: map[string]any{"named": "3"}},
		{pairs: []string{"some=1", "some=b"}, want: map[string]any{"some": []any{1.0, "b"}}},
		{pairs: []string{"typed=7", "maybe=null"}, want: map[string]any{"typed": "7", "maybe": nil}},
		{pairs: []string{"typed=8"}, want: map[string]any{"typed": 8.0}},
		{pairs: []string{"maybe=x"}, fails: "the parameter must be an integer or null"},
		{pairs: []string{"object=x"}, fails: "the parameter must be an object"},
		{pairs: []string{"any=[1]"}, want: map[string]any{"any": []any{1.0}}},
		{pairs: []string{"any=word"}, want: map[string]any{"any": "word"}},
		{pairs: []string{"n=2"}, object: `{"n":1,"text":"t"}`, want: map[string]any{"n": 2.0, "text": "t"}},
		{pairs: []string{"n=five"}, fails: "the parameter must be an integer"},
		{pairs: []string{"numbers=x"}, fails: "the parameter must be a number"},
		{pairs: []string{"yes=1"}, fails: "the parameter must be a boolean"},
		{pairs: []string{"txt=1"}, fails: "did you mean text?"},
		{pairs: []string{"text"}, fails: "write name=value"},
		{pairs: []string{"n=1", "n=2"}, fails: "given twice"},
		{object: "[]", fails: "--json must be a JSON object"},
		{object: "{", fails: "--json: "},
	} {
		got, err := ParseParams(doc, c.pairs, c.object)
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails, "%v %s", c.pairs, c.object)
			continue
		}
		require.NoError(t, err, "%v", c.pairs)
		require.Equal(t, c.want, got, "%v", c.pairs)
	}
}
