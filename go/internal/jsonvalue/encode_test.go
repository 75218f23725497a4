package jsonvalue

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEncode(t *testing.T) {
	for want, v := range map[string]any{
		"null": nil, "true": true, `"<>&\u0001\n\"\\é"`: "<>&\x01\n\"\\é", "[]": []any{}, "{}": map[string]any{},
		`{"":0,"B":1,"a":{"z":[1.5,"x"]},"é":2}`: map[string]any{"é": 2, "a": map[string]any{"z": []any{1.5, "x"}}, "B": int64(1), "": uint64(0)},
		"9007199254740993":                       json.Number("9007199254740993"), "-1.50E+3": json.Number("-1.50E+3"),
		"[null]": []any{nil}, `"\b\f\r\t"`: "\b\f\r\t",
	} {
		got, err := Encode(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	out, err := Append([]byte("x="), "y")
	require.NoError(t, err)
	assert.Equal(t, `x="y"`, string(out))
}

func TestEncodeNumbersAsJavaScript(t *testing.T) {
	for want, n := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "1": 1, "-5": -5, "100000": 1e5, "771234567890123": 771234567890123,
		"0.1": 0.1, "1e+21": 1e21, "100000000000000000000": 1e20, "1e-7": 1e-7, "0.000001": 1e-6, "1.5e-10": 1.5e-10,
		"1e+100": 1e100, "5e-324": 5e-324, "1.7976931348623157e+308": math.MaxFloat64, "123456789.125": 123456789.125,
		"1000000000000000": 1e15, "0.30000000000000004": 0.30000000000000004, "-1.5e-9": -1.5e-9,
	} {
		got, err := Encode(n)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestEncodeErrors(t *testing.T) {
	cycle := map[string]any{}
	cycle["me"] = cycle
	for want, v := range map[string]any{
		"NaN is no JSON number at /a~1b/1":              map[string]any{"a/b": []any{1, math.NaN()}},
		"cannot encode as JSON: infinity":               math.Inf(-1),
		"a string that is not UTF-8 at /0":              []any{"a\xff"},
		"a key that is not UTF-8":                       map[string]any{"\xff": 1},
		"nested too deep, or within itself at /me/me":   cycle,
		"a Go []int at /x":                              map[string]any{"x": []int{1}},
		`a json.Number that is no number: "1x" at /0/n`: []any{map[string]any{"n": json.Number("1x")}},
		`a json.Number that is no number: ""`:           json.Number(""),
		`a json.Number that is no number: "-"`:          json.Number("-"),
		`a json.Number that is no number: "NaN"`:        json.Number("NaN"),
		`a json.Number that is no number: "01"`:         json.Number("01"),
	} {
		_, err := Encode(v)
		assert.ErrorContains(t, err, want)
	}
	out, err := Append([]byte("kept"), []any{1, math.NaN()})
	require.Error(t, err)
	assert.Equal(t, "kept", string(out))
}

func TestIndent(t *testing.T) {
	got, err := Indent(map[string]any{"b": []any{1, map[string]any{"x": nil}}, "a": []any{}, "c": map[string]any{}})
	require.NoError(t, err)
	assert.Equal(t, `{
  "a": [],
  "b": [
    1,
    {
      "x": null
    }
  ],
  "c": {}
}`, string(got))
}
