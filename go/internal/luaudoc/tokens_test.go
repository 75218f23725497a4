package luaudoc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokens(t *testing.T) {
	list, err := Tokens(Source{Chunk: "@x", Text: "-- c\ntool = { n = 1.5,\n a = 'x' }\n--[[ y\n]] f(`a{b}`)"})
	require.NoError(t, err)
	texts, lines := []string{}, []int{}
	for _, token := range list {
		texts, lines = append(texts, token.Text), append(lines, token.Line)
	}
	require.Equal(t, []string{"tool", "=", "{", "n", "=", "1.5", ",", "a", "=", "'x'", "}", "f", "(", "`a{b}`", ")"}, texts)
	require.Equal(t, []int{2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 5, 5, 5, 5}, lines)
	require.Equal(t, []TokenKind{TokenWord, TokenSymbol, TokenNumber, TokenText}, []TokenKind{list[0].Kind, list[1].Kind, list[5].Kind, list[9].Kind})

	_, err = Tokens(Source{Chunk: "@x", Text: "\n\"abc"})
	require.EqualError(t, err, "x:2: the string that begins here has no end in its line")
}

func TestQuoted(t *testing.T) {
	for written, want := range map[string]string{
		`"a b"`: "a b", `'a'`: "a", "[[a]]": "a", "[==[\na]]==]": "a]", "`a`": "a", `""`: "", "`a{b}c`": "-", `"a\n"`: "-",
	} {
		list, err := Tokens(Source{Text: written})
		require.NoError(t, err)
		got, whole := list[0].Quoted()
		if !whole {
			got = "-"
		}
		require.Equal(t, want, got, written)
	}
}
