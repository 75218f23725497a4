package jsonvalue

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzDecode holds what is decoded against encoding/json, and to what comes of writing and reading it.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,"x\n\u00e9",null,true,{"b":{}}]}`, `9007199254740993`, `[1e20,1e-7,-0,0.1,12345678901234567890123]`,
		`{"a":1,"a":2}`, `"\ud83d\ude00"`, `"\ud800"`, `[1,]`, `1e400`, "\xff", ` "a" `, `nul`, `{"a":"` + strings.Repeat("x", 5000) + `"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Decode(data, Options{})
		if err != nil {
			requireKnownRefusal(t, data, err.(*SyntaxError))
			return
		}
		require.Equal(t, standard(t, data), v)
		text, err := Encode(v)
		require.NoError(t, err)
		again, err := Decode(text, Options{})
		require.NoError(t, err)
		require.Equal(t, nearest(v), nearest(again))
		same, err := Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(same))
		pretty, err := Indent(v)
		require.NoError(t, err)
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, pretty))
		require.Equal(t, string(text), compact.String())
	})
}

// requireKnownRefusal: what encoding/json takes is refused for these reasons only.
func requireKnownRefusal(t *testing.T, data []byte, err *SyntaxError) {
	t.Helper()
	require.LessOrEqual(t, err.Offset, len(data))
	require.Positive(t, err.Line)
	require.Positive(t, err.Column)
	if !json.Valid(data) {
		return
	}
	for _, ours := range []string{"duplicate key", "lone surrogate", "nested too deep", "too large"} {
		if strings.Contains(err.Problem, ours) {
			return
		}
	}
	require.False(t, utf8.Valid(data), "refused: %v", err)
}

// standard reads with encoding/json and makes of its numbers what package jsonvalue says.
func standard(t *testing.T, data []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	require.NoError(t, decoder.Decode(&v))
	return numbers(v, func(n json.Number) any {
		if whole, ok := new(big.Int).SetString(string(n), 10); ok && whole.CmpAbs(big.NewInt(maxSafe)) > 0 {
			return n
		}
		f, err := n.Float64()
		require.NoError(t, err)
		return f
	})
}

// numbers replaces each json.Number.
func numbers(v any, replace func(json.Number) any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = numbers(item, replace)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, item := range v {
			object[key] = numbers(item, replace)
		}
		return object
	case json.Number:
		return replace(v)
	}
	return v
}

// nearest forgets the digits that a float64 cannot hold: 1e20 is written as a whole number and read as one.
func nearest(v any) any {
	return numbers(v, func(n json.Number) any {
		f, _ := n.Float64()
		return f
	})
}
