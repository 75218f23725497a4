package catalog

import (
	"context"
	"strings"
	"testing"

	"github.com/hukilau/hukilau/go/pkg/luau"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestQuotedTextsAreThemselves(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	texts := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\r\n", "\x00", "\xff\"", "\\", "]]", "\u202e\u2028", "\uFFFD\xff", "\x7f9"}))
	rapid.Check(t, func(r *rapid.T) {
		text := texts.Draw(r, "text")
		quoted := Quote(text)
		require.False(r, strings.ContainsAny(quoted, "\r\n\x00"), quoted)
		results, err := s.Do(context.Background(), "=quoted", "return "+quoted)
		require.NoError(r, err, quoted)
		require.Equal(r, text, results[0], quoted)
	})
}
