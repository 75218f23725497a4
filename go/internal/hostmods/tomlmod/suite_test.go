package tomlmod

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tomltest "github.com/toml-lang/toml-test/v2"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// free is memory without a limit.
func free(int64) error { return nil }

// The text is counted before it is looked at, and what it becomes before that is made.
func TestDecodingIsCharged(t *testing.T) {
	const size = 1000
	full := errors.New("full")
	for text, room := range map[string]int64{
		"a = " + strings.Repeat("[", size):                 size,
		"a = [" + strings.Repeat("1,", size/2) + "1]\nb =": 4 * size,
	} {
		_, err := decode([]byte(text), func(n int64) error {
			if room -= n; room < 0 {
				return full
			}
			return nil
		})
		require.Equal(t, full, err, text)
	}
}

// official gives the texts of the official suite for TOML 1.0 under "valid" or "invalid", and what they
// mean.
func official(t *testing.T, kind string) map[string][2]string {
	t.Helper()
	files := tomltest.TestCases()
	list, err := fs.ReadFile(files, "files-toml-1.0.0")
	require.NoError(t, err)
	cases := map[string][2]string{}
	for name := range strings.FieldsSeq(string(list)) {
		if !strings.HasPrefix(name, kind+"/") || !strings.HasSuffix(name, ".toml") {
			continue
		}
		text, err := fs.ReadFile(files, name)
		require.NoError(t, err)
		meaning, err := fs.ReadFile(files, strings.TrimSuffix(name, ".toml")+".json")
		if kind == "valid" {
			require.NoError(t, err)
		}
		cases[name] = [2]string{string(text), string(meaning)}
	}
	require.Greater(t, len(cases), 150, kind)
	return cases
}

// Texts of the suite that the library reads although TOML 1.0 forbids them: they are TOML 1.1.
var accepted = []string{
	"invalid/datetime/no-secs.toml", "invalid/local-datetime/no-secs.toml", "invalid/local-time/no-secs.toml",
	"invalid/inline-table/linebreak-01.toml", "invalid/inline-table/linebreak-02.toml",
	"invalid/inline-table/linebreak-03.toml", "invalid/inline-table/linebreak-04.toml",
	"invalid/inline-table/trailing-comma.toml", "invalid/string/basic-byte-escapes.toml",
}

func TestOfficialInvalid(t *testing.T) {
	for name, test := range official(t, "invalid") {
		table, err := decode([]byte(test[0]), free)
		if slices.Contains(accepted, name) {
			require.NoError(t, err, "%s is refused now: take it from the list", name)
			continue
		}
		if err == nil {
			t.Errorf("%s is taken: %v", name, table)
			continue
		}
		require.NotZero(t, err.(*hostmod.TextError).Line, "%s: %v", name, err)
		require.NotZero(t, err.(*hostmod.TextError).Column, "%s: %v", name, err)
	}
}

func TestOfficialValid(t *testing.T) {
	for name, test := range official(t, "valid") {
		table, err := decode([]byte(test[0]), free)
		require.NoError(t, err, name)
		var want any
		require.NoError(t, json.Unmarshal([]byte(test[1]), &want))
		requireMeans(t, name, want, table)
	}
}

// What a script got from a text it can write, and read again.
func TestOfficialThereAndBack(t *testing.T) {
	for name, test := range official(t, "valid") {
		table, err := decode([]byte(test[0]), free)
		require.NoError(t, err, name)
		text, err := encode(asFromScript(table).(map[string]any), free)
		require.NoError(t, err, name)
		again, err := decode([]byte(text), free)
		require.NoError(t, err, "%s: %s", name, text)
		var want any
		require.NoError(t, json.Unmarshal([]byte(test[1]), &want))
		requireMeans(t, name, timesAsText(want), again)
	}
}

// asFromScript copies a value with the number types that come from a script.
func asFromScript(v any) any {
	switch v := v.(type) {
	case map[string]any:
		table := map[string]any{}
		for key, value := range v {
			table[key] = asFromScript(value)
		}
		return table
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = asFromScript(value)
		}
		return list
	case int64:
		if v >= -1<<53 && v <= 1<<53 {
			return float64(v)
		}
		return luau.Integer(v)
	}
	return v
}

// timesAsText turns the times of a case into texts: they cannot come back as times.
func timesAsText(want any) any {
	switch want := want.(type) {
	case map[string]any:
		kind, _ := want["type"].(string)
		if text, ok := want["value"].(string); ok && (strings.HasPrefix(kind, "date") || strings.HasPrefix(kind, "time")) {
			return map[string]any{"type": "string-time", "value": text}
		}
		for key, value := range want {
			want[key] = timesAsText(value)
		}
	case []any:
		for i, value := range want {
			want[i] = timesAsText(value)
		}
	}
	return want
}

// requireMeans compares a value with the tagged JSON of the suite.
func requireMeans(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case []any:
		list, ok := got.([]any)
		require.True(t, ok && len(list) == len(want), "%s: %v", at, got)
		for i := range want {
			requireMeans(t, at, want[i], list[i])
		}
	case map[string]any:
		kind, _ := want["type"].(string)
		text, scalar := want["value"].(string)
		if scalar && kind != "" && len(want) == 2 {
			requireScalar(t, at, kind, text, got)
			return
		}
		table, ok := got.(map[string]any)
		require.True(t, ok && len(table) == len(want), "%s: %v", at, got)
		for key := range want {
			requireMeans(t, at+"."+key, want[key], table[key])
		}
	}
}

func requireScalar(t *testing.T, at, kind, text string, got any) {
	t.Helper()
	switch kind {
	case "string":
		require.Equal(t, text, got, at)
	case "bool":
		require.Equal(t, text == "true", got, at)
	case "integer":
		require.Equal(t, text, strconv.FormatInt(got.(int64), 10), at)
	case "float":
		want, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err, at)
		number, ok := got.(float64)
		if n, whole := got.(int64); whole { // written by encode, which knows numbers only
			number, ok = float64(n), true
		}
		require.True(t, ok && (number == want || math.IsNaN(number) && math.IsNaN(want)), "%s: %v", at, got)
	default:
		require.True(t, sameTime(text, got.(string)), "%s: %s is not %s", at, got, text)
	}
}

func sameTime(a, b string) bool {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly, "15:04:05.999999999"} {
		x, err1 := time.Parse(layout, a)
		y, err2 := time.Parse(layout, b)
		if err1 == nil && err2 == nil {
			return x.Equal(y)
		}
	}
	return false
}
