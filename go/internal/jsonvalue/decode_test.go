package jsonvalue

import (
	"encoding/json"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string]any{
		"null": nil, " true\n": true, "false": false, `""`: "", "[]": []any{}, "{}": map[string]any{},
		`"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"`: "a\"\\/\b\f\n\r\té😀é",
		`[1, 2.5, -3, 1e2, 3.0]`:                 []any{1.0, 2.5, -3.0, 100.0, 3.0},
		`{"a": {"b": [null]}, "": 0}`:            map[string]any{"a": map[string]any{"b": []any{nil}}, "": 0.0},
		"9007199254740991":                       float64(9007199254740991),
		"9007199254740992":                       json.Number("9007199254740992"),
		"-9007199254740993":                      json.Number("-9007199254740993"),
		"123456789012345678901234567890":         json.Number("123456789012345678901234567890"),
		"0.1":                                    0.1, "1E-7": 1e-7, "1e+21": 1e21, "3.141592653589793238": math.Pi, "123456.789": 123456.789,
		"0.000001234567": 0.000001234567, "1e-400": 0.0, "179.99999999999999": 179.99999999999999,
	} {
		got, err := Decode([]byte(text), Options{})
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	zero, err := Decode([]byte("-0"), Options{})
	require.NoError(t, err)
	assert.True(t, math.Signbit(zero.(float64)))
}

func TestDecodeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "unexpected end of text, expected a value at line 1, column 1, byte 0",
		"  \n":                   "unexpected end of text, expected a value at line 2, column 1, byte 3",
		"[1,\n 2 3]":             "unexpected '3', expected ',' or ']' at line 2, column 4, byte 7",
		"1 2":                    "unexpected '2', expected the end of the text at line 1, column 3, byte 2",
		"1\x00":                  `unexpected '\x00', expected the end of the text at line 1, column 2, byte 1`,
		`{"a":{"b":[0,01]}}`:     "a number with a zero in front at line 1, column 14, byte 13 (in /a/b/1)",
		`{"a":1,"b":2,"a":3}`:    `duplicate key "a" at line 1, column 14, byte 13`,
		`{"a":1,"\u0061":3}`:     `duplicate key "a" at line 1, column 8, byte 7`,
		`{"x/y":{"~":tru}}`:      "unexpected 't', expected a value at line 1, column 13, byte 12 (in /x~1y/~0)",
		`["a` + "\xff" + `"]`:    "bytes that are not UTF-8 at line 1, column 4, byte 3",
		`"\ud800"`:               "a lone surrogate at line 1, column 2, byte 1",
		`"\ud800\u0041"`:         "a lone surrogate at line 1, column 2, byte 1",
		`"\u+123"`:               `\u without four hexadecimal digits at line 1, column 2, byte 1`,
		`"\x41"`:                 "an escape that JSON does not have at line 1, column 2, byte 1",
		"\"\n\"":                 "a control character in a string: write it as an escape at line 1, column 2, byte 1",
		`"a`:                     `unexpected end of text, expected '"' at line 1, column 3, byte 2`,
		`"\`:                     "unexpected end of text, expected an escape at line 1, column 3, byte 2",
		"1.":                     "unexpected end of text, expected a digit at line 1, column 3, byte 2",
		"-":                      "unexpected end of text, expected a digit at line 1, column 2, byte 1",
		"1e":                     "unexpected end of text, expected a digit at line 1, column 3, byte 2",
		".5":                     "unexpected '.', expected a value at line 1, column 1, byte 0",
		"1e400":                  "a number that is too large at line 1, column 1, byte 0",
		"[1,]":                   "unexpected ']', expected a value at line 1, column 4, byte 3 (in /1)",
		`{"a":1,}`:               "unexpected '}', expected a key in double quotes at line 1, column 8, byte 7",
		`{"a" 1}`:                "unexpected '1', expected ':' at line 1, column 6, byte 5",
		"\ufeff{}":               `unexpected '\ufeff', expected a value at line 1, column 1, byte 0`,
		"NaN":                    "unexpected 'N', expected a value at line 1, column 1, byte 0",
		"[" + "\n" + "'single']": `unexpected '\'', expected a value at line 2, column 1, byte 2 (in /0)`,
	} {
		_, err := Decode([]byte(text), Options{})
		assert.EqualError(t, err, want, "%q", text)
	}
}

func TestDecodeDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	_, err := Decode(nested(MaxDepth), Options{})
	require.NoError(t, err)
	_, err = Decode(nested(MaxDepth+1), Options{})
	require.ErrorContains(t, err, "nested too deep")
	_, err = Decode([]byte(strings.Repeat(`{"a":`, 1<<20)), Options{MaxDepth: 1 << 30})
	require.ErrorContains(t, err, "nested too deep")
	_, err = Decode([]byte(`[[],[[]],{"a":{}}]`), Options{MaxDepth: 3})
	require.NoError(t, err, "what was closed does not count")
	_, err = Decode([]byte(`[[],[[]]]`), Options{MaxDepth: 2})
	var syntax *SyntaxError
	require.ErrorAs(t, err, &syntax)
	assert.Equal(t, "/1/0", syntax.Pointer)
}

func TestDecodeSharesNothing(t *testing.T) {
	for _, size := range []int{10, shared + 1} {
		data := []byte(`["` + strings.Repeat("a", size) + `",12345678901234567890]`)
		v, err := Decode(data, Options{})
		require.NoError(t, err)
		clear(data)
		assert.Equal(t, []any{strings.Repeat("a", size), json.Number("12345678901234567890")}, v)
	}
}

// Keys of any length make no error that fills a screen or the memory.
func TestDecodeErrorsAreShort(t *testing.T) {
	key := `{"` + strings.Repeat("k", 10_000) + `":`
	_, err := Decode([]byte(strings.Repeat(key, 150)), Options{})
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 400)
	long := `"` + strings.Repeat("é", 10_000) + `":1`
	_, err = Decode([]byte("{"+long+","+long+"}"), Options{})
	require.ErrorContains(t, err, "duplicate key")
	assert.Less(t, len(err.Error()), 400)
}

// Memory is asked for before it is taken, and about as much as it is: values of each kind, and many of them.
func TestDecodeAsksForRoom(t *testing.T) {
	const n = 200_000
	for name, item := range map[string]string{
		"small objects": `{"":0}`, "empty objects": `{}`, "empty arrays": `[]`, "numbers": `1`, "short texts": `"a\n"`, "nested": `[[[1]]]`,
		"objects of eight": `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}`, "long texts": `"` + strings.Repeat("x", 300) + `"`,
	} {
		text := []byte{'['}
		for range n {
			text = append(append(text, item...), ',')
		}
		text = append(append(text, item...), ']')
		var asked int64
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := Decode(text, Options{Room: func(more int64) error {
			asked += more
			return nil
		}})
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		real := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		require.Greater(t, asked+1<<20, real*3/4, name)
		require.Less(t, asked, real*3+1<<20, name)
		require.InEpsilon(t, float64(asked+1<<20), float64(Weight(text)+1<<20), 0.5, name)
		runtime.KeepAlive(v)
		runtime.KeepAlive(text)
	}
	_, err := Decode([]byte(`{"a":"`+strings.Repeat("x", 200<<10)+`"}`), Options{Room: func(int64) error { return io.EOF }})
	require.NoError(t, err, "small texts ask for none")
	_, err = Decode([]byte("["+strings.Repeat("{},", n)+"{}]"), Options{Room: func(int64) error { return io.EOF }})
	require.Equal(t, io.EOF, err)
}
