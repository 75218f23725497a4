package hostapp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShownArgs(t *testing.T) {
	for _, test := range []struct {
		params []string
		json   string
		want   string
	}{
		{nil, "", "{}"},
		{[]string{"title=Test ticket", "body=Testing the tool"}, "", `{title: "Test ticket", body: "Testing the tool"}`},
		{[]string{"z=1", "a=x"}, `{"y": {"b": [1, true, {}], "a b": null}, "a": "under", "c": 9007199254740993}`,
			`{z: 1, a: "x", y: {b: [1, true, {}], "a b": null}, c: 9007199254740993}`},
		{[]string{"list=a", "list=b", "more=[1,2]"}, "", `{list: ["a", "b"], more: [1, 2]}`},
		{nil, `{"password": "userpw999", "x": {"api_key": 1, "n": 1.50}, "e": 1e3}`, `{password: "[redacted]", x: {api_key: "[redacted]", n: 1.50}, e: 1e3}`},
		{[]string{"token=abc", "q=a\"b\n<é>"}, "", `{token: "[redacted]", q: "a\"b\n<é>"}`},
	} {
		doc := map[string]any{"properties": map[string]any{"list": map[string]any{"type": "array"}}, "additionalProperties": true}
		args, err := ParseParams(doc, test.params, test.json)
		require.NoError(t, err)
		got, err := shownArgs(ToolTest{Params: test.params, JSON: test.json}, args)
		require.NoError(t, err)
		require.Equal(t, test.want, got)
	}
}
