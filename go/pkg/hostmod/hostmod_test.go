package hostmod_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

func TestDuration(t *testing.T) {
	for n, want := range map[float64]time.Duration{
		0: 0, 1.5: 1500 * time.Millisecond, 1e-300: 1, 1e9: 1e9 * time.Second, 1e10: hostmod.Forever, math.Inf(1): hostmod.Forever,
	} {
		got, ok := hostmod.Duration(n, time.Second)
		require.True(t, ok, n)
		require.Equal(t, want, got, n)
	}
	for _, n := range []float64{-1, -1e-300, math.NaN(), math.Inf(-1)} {
		_, ok := hostmod.Duration(n, time.Millisecond)
		require.False(t, ok, n)
	}
	require.True(t, time.Now().Add(hostmod.Forever).After(time.Now()))
}

// Nanoseconds since 1970 as one number would be off by some hundred.
func TestSecondsAreTheNearestNumber(t *testing.T) {
	require.Equal(t, 1700000000.1, hostmod.Seconds(time.Unix(1700000000, 100_000_000)))
	require.Equal(t, -0.25, hostmod.Seconds(time.Unix(-1, 750_000_000)))
	require.Equal(t, -62167219200.0, hostmod.Seconds(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)))
}

func TestInside(t *testing.T) {
	for path, want := range map[string]bool{
		"/a/b": true, "/a/b/c": true, "/a/b/..c": true, "/a": false, "/a/bc": false, "/": false, "b": false,
	} {
		require.Equal(t, want, hostmod.Inside("/a/b", path), path)
	}
	require.True(t, hostmod.Inside("/", "/a"))
	require.Equal(t, "/a/b", hostmod.From("/x", "/a/./b"))
	require.Equal(t, "/x/b", hostmod.From("/x", "b"))
}
