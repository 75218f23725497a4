package units

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[any]time.Duration{
		"30s": 30 * time.Second, "500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour,
		"1d12h": 36 * time.Hour, "1.5": 1500 * time.Millisecond, 30.0: 30 * time.Second, 0.25: 250 * time.Millisecond, "0": 0, " 2s ": 2 * time.Second,
	} {
		got, err := ParseDuration(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, bad := range []any{"", "soon", "-5s", -1.0, math.NaN(), math.Inf(1), 1e300, "1e300", "NaN", "d", "1d-3d", "99999999999d", true, nil, json.Number("99999999999999999999")} {
		_, err := ParseDuration(bad)
		assert.ErrorContains(t, err, "duration", "%v", bad)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[any]int64{"64MiB": 64 << 20, 1024.0: 1024, "500": 500} {
		got, err := ParseSize(text)
		assert.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, bad := range []any{"", "big", 0.0, -1.0, 0.5, 1e300, true, json.Number("99999999999999999999")} {
		_, err := ParseSize(bad)
		assert.ErrorContains(t, err, "size", "%v", bad)
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"10/s": {10, time.Second}, "100/m": {100, time.Minute}, "5/30s": {5, 30 * time.Second}, " 1 / h ": {1, time.Hour}, "9/d": {9, 24 * time.Hour},
	} {
		got, err := ParseRate(text)
		assert.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, bad := range []any{"", "10", "/s", "0/s", "-1/s", "1/0", "x/s", "1/x", 5.0, nil} {
		_, err := ParseRate(bad)
		assert.ErrorContains(t, err, "rate", "%v", bad)
	}
}

func TestCounted(t *testing.T) {
	assert.Equal(t, []string{"0 tools", "1 tool", "2 tools"}, []string{Counted(0, "tool"), Counted(1, "tool"), Counted(2, "tool")})
}
