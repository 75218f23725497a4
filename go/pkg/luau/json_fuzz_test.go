package luau

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// jsonState is a State with the JSON functions and these two: decode gives the value of a text and
// the text of that value; encode gives the text of the global `fuzz`, or nil and why not.
func jsonState(t testing.TB) (s *State, decode, encode *Function) {
	s, err := New(Options{MemoryLimit: 64 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.SetGlobal("json", Native("json")))
	got, err := s.Do(context.Background(), "=fuzz", `
		local function decode(text)
			local value = json.decode(text)
			local written = json.encode(value)
			return value, written, json.encode(json.decode(written))
		end
		local function encode()
			local ok, text = pcall(json.encode, fuzz)
			if not ok then return nil, tostring(text) end
			return text, json.encode(json.decode(text))
		end
		return decode, encode`)
	require.NoError(t, err)
	return s, got[0].(*Function), got[1].(*Function)
}

// Where a text means something to encoding/json and not to us, on purpose: it is not UTF-8 or holds
// half of a surrogate pair (Go puts U+FFFD there), it is nested deeper than 200, or a number is
// beyond a float64 (read as text here, Go does not look). The other way: we skip a byte order mark.
// Both take the last of two values under one key.
func isOurJSON(text []byte) bool {
	return json.Valid(text) && utf8.Valid(text) && !hasLoneSurrogate(text) && depthOf(text) <= capi.MaxDepth
}

func hasLoneSurrogate(valid []byte) bool {
	unit := func(i int) rune {
		if i+6 > len(valid) || valid[i] != '\\' || valid[i+1] != 'u' {
			return -1
		}
		n, _ := strconv.ParseUint(string(valid[i+2:i+6]), 16, 32)
		return rune(n)
	}
	for i := 0; i < len(valid); i++ {
		if valid[i] != '\\' {
			continue
		}
		switch u := unit(i); {
		case u >= 0xd800 && u < 0xdc00:
			if low := unit(i + 6); low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		case u >= 0xdc00 && u < 0xe000:
			return true
		default:
			i++ // what is escaped is not an escape
		}
	}
	return false
}

func depthOf(valid []byte) int {
	depth, deepest, inside := 0, 0, false
	for i := 0; i < len(valid); i++ {
		switch c := valid[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}

var errTooLarge = errors.New("beyond a float64")

// goValue reads JSON by encoding/json into what Values.All gives for the same text.
func goValue(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return ourNumbers(v)
}

func ourNumbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		return ourNumber(string(v))
	case []any:
		for i := range v {
			if v[i], err = ourNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = ourNumbers(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func ourNumber(digits string) (any, error) {
	if !strings.ContainsAny(digits, ".eE") {
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return Exact(digits), nil
		}
		if n < -maxExact || n > maxExact {
			return Integer(n), nil
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return nil, errTooLarge
	}
	return n, nil
}

var placed = regexp.MustCompile(` at byte ([0-9]+) \(line ([0-9]+), column ([0-9]+)\)`)

// checkPlace holds that a refusal says where in the text.
func checkPlace(t *testing.T, err error, text []byte) {
	at := placed.FindStringSubmatch(err.Error())
	require.NotNil(t, at, "no place in: %v", err)
	offset, _ := strconv.Atoi(at[1])
	line, _ := strconv.Atoi(at[2])
	require.LessOrEqual(t, offset, len(text)+1)
	require.LessOrEqual(t, line, bytes.Count(text[:min(offset, len(text))], []byte("\n"))+1)
}

// FuzzJSONDecode holds that we read what encoding/json reads, as the same value, and write it back.
func FuzzJSONDecode(f *testing.F) {
	s, decode, _ := jsonState(f)
	for _, text := range []string{
		`null`, `true`, ` [1, -0, 0.1, 1e21, 5e-324, 771234567890123, 9007199254740993, 18446744073709551616, 1e400] `,
		`{"a":1,"b":[],"c":{},"d":null,"e":[null,{"":""}],"a":null}`, `"\ud83e\uddea\u00e9\b\f\n\r\t\"\\\/"`, `"\ud800"`, `"\udc00\ud800"`, `"\\ud800"`,
		"\"\xff\xfe\"", "\"\xc0\xaf\"", "\ufeff{}", `"\u0000"`, `[1,]`, `{"a"}`, `01`, `+1`, `.5`, `1.`, `-`, `nul`, `"`, "\"\x01\"", `[1] 2`, ``, `{"a":{"a":{"a":[[[{}]]]}}}`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat("[", 201) + strings.Repeat("]", 201), strings.Repeat(`{"k":`, 300),
	} {
		f.Add([]byte(text))
	}
	files, err := filepath.Glob("../../../luau/tests/corpus/json/*.json")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		plain := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		var want any
		expected := isOurJSON(plain)
		if expected {
			var err error
			want, err = goValue(plain)
			expected = err == nil
		}
		got, err := decode.Call(context.Background(), string(text))
		if !expected {
			require.Error(t, err, "read as %v", got)
			checkPlace(t, err, text)
			return
		}
		require.NoError(t, err)
		require.Len(t, got, 3)
		require.True(t, same(want, got[0]), "Go reads %#v, we %#v", want, got[0])
		written := got[1].(string)
		require.Equal(t, written, got[2], "the text does not stay as it is")
		require.True(t, isOurJSON([]byte(written)), "not JSON: %s", written)
		back, err := goValue([]byte(written))
		require.NoError(t, err)
		require.True(t, alike(want, back), "%#v was written as %s", want, written)
		stats, err := s.Stats()
		require.NoError(t, err)
		require.Less(t, stats.MemoryUsed, uint64(48<<20))
	})
}

// alike is same, but for whole numbers: they are written by JavaScript's rules, as digits alone, so
// that 5i reads as 5 and 1e20 as an Exact.
func alike(a, b any) bool {
	_, ours := a.(float64)
	if _, theirs := b.(float64); ours || theirs {
		return same(float(a), float(b))
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !alike(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if w, ok := b[k]; !ok || !alike(a[k], w) {
				return false
			}
		}
		return true
	}
	return same(whole(a), whole(b))
}

func whole(v any) any {
	if n, ok := v.(Integer); ok {
		return Exact(strconv.FormatInt(int64(n), 10))
	}
	return v
}

func float(v any) any {
	switch v := v.(type) {
	case Integer:
		return float64(v)
	case Exact:
		n, _ := strconv.ParseFloat(string(v), 64)
		return n
	}
	return v
}

// FuzzJSONEncode holds that a value either is JSON and is written as what encoding/json reads back
// as the same, or is refused.
func FuzzJSONEncode(f *testing.F) {
	s, _, encode := jsonState(f)
	for _, seed := range flatSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if r := s.vm.SetGlobal("fuzz", data); r.Status != capi.OK {
			return
		}
		value, err := s.Global("fuzz")
		expected := err == nil && isJSONValue(value, 0)
		got, err := encode.Call(context.Background())
		require.NoError(t, err)
		require.Len(t, got, 2)
		text, ok := got[0].(string)
		if !expected {
			require.False(t, ok, "%#v was written as %s", value, text)
			require.NotEmpty(t, got[1])
			return
		}
		if !ok && refusedForWhatGoDoesNotSee(value, got[1].(string)) {
			return
		}
		require.True(t, ok, "%#v is refused: %v", value, got[1])
		require.Equal(t, text, got[1], "the text does not stay as it is")
		require.True(t, isOurJSON([]byte(text)), "not JSON: %s", text)
		back, err := goValue([]byte(text))
		require.NoError(t, err)
		require.True(t, alike(plainNulls(value), back), "%#v was written as %s", value, text)
	})
}

// Two things are lost on the way to Go: nil in a list is json.null or a hole, and a table marked as an
// array is a map when it has string keys.
func refusedForWhatGoDoesNotSee(value any, reason string) bool {
	return strings.Contains(reason, "an array with holes") && hasNil(value) ||
		strings.Contains(reason, "an array with string keys")
}

// hasNil says whether a list in v holds nil.
func hasNil(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if item == nil || hasNil(item) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if hasNil(item) {
				return true
			}
		}
	}
	return false
}

func plainNulls(v any) any {
	if v == (Null{}) {
		return nil
	}
	if m, ok := v.(map[string]any); ok {
		for k := range m {
			m[k] = plainNulls(m[k])
		}
	}
	if list, ok := v.([]any); ok {
		for i := range list {
			list[i] = plainNulls(list[i])
		}
	}
	return v
}

func isJSONValue(v any, depth int) bool {
	switch v := v.(type) {
	case nil, bool, Null, Integer, Exact:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		return utf8.ValidString(v)
	case []any:
		for _, item := range v {
			if !isJSONValue(item, depth+1) {
				return false
			}
		}
		return depth < capi.MaxDepth
	case map[string]any:
		for k, item := range v {
			if !utf8.ValidString(k) || !isJSONValue(item, depth+1) {
				return false
			}
		}
		return depth < capi.MaxDepth
	}
	return false
}
