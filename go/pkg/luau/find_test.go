package luau_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// The search for plain texts is ours: it agrees with Go's, however often a first byte misleads.
func TestPlainFindAndSplit(t *testing.T) {
	s := newState(t, luau.Options{})
	out, err := s.Do(context.Background(), "=t", `return function(text, part)
		return string.find(text, part, 1, true), select(2, string.find(text, part)), table.concat(string.split(text, part), "|")
	end`)
	require.NoError(t, err)
	f := out[0].(*luau.Function)
	random := rand.New(rand.NewPCG(3, 4))
	word := func(most int) string {
		b := make([]byte, random.IntN(most+1))
		for i := range b {
			b[i] = "ab\x00"[random.IntN(3)*random.IntN(2)]
		}
		return string(b)
	}
	for range 3000 {
		text, part := word(120), "a"+word(7)
		var first, last any
		if at := strings.Index(text, part); at >= 0 {
			first, last = float64(at+1), float64(at+len(part))
		}
		got, err := f.Call(context.Background(), text, part)
		require.NoError(t, err)
		require.Equal(t, []any{first, last, strings.Join(strings.Split(text, part), "|")}, got, "%q in %q", part, text)
	}
}
