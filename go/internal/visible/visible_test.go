package visible_test

import (
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/visible"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"plain, Grüße, 中文":          "plain, Grüße, 中文",
		"a\n\tb":                    "a\n\tb",
		"\x1b]0;title\x07":          `\x1b]0;title\x07`,
		"over\rwritten\r\n":         `over\rwritten\r` + "\n",
		"\x00\x7f":                  `\x00\x7f`,
		"\u009b31m\u0085":           `\u{9b}31m\u{85}`,
		"\u202etxt\u2066":           `\u{202e}txt\u{2066}`,
		"\u2028\u2029":              `\u{2028}\u{2029}`,
		"\ufeffmark\u200b\u00ad":    `\u{feff}mark\u{200b}\u{ad}`,
		"\U000e0041\U0001fffe":      `\u{e0041}\u{1fffe}`,
		"\xff\xc3(\xe2\x80":         `\xff\xc3(\xe2\x80`,
		"\ufffd":                    "\ufffd",
		"👩\u200d💻 می\u200cخواهم":    "👩\u200d💻 می\u200cخواهم",
		`already \x1b`:              `already \x1b`,
		"e\u0301 \ue000 \U0001f3c4": "e\u0301 \ue000 \U0001f3c4",
	} {
		require.Equal(t, want, visible.Text(text), "%q", text)
	}
}

func TestLine(t *testing.T) {
	require.Equal(t, `a\nDA:1,1\r\tb`, visible.Line("a\nDA:1,1\r\tb"))
	require.Equal(t, "a b", visible.Line("a b"))
}

func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		"one":                        "one",
		"one\nerror: two\n\nhint: 3": "one\n  error: two\n\n  hint: 3",
		"one\n  two\n   three\n\t4":  "one\n  two\n   three\n\t4",
		"one\n two":                  "one\n   two",
		"one\r\nerror: two":          "one\\r\n  error: two",
		"one\n\x1b[1Aerror: two":     "one\n  \\x1b[1Aerror: two",
	} {
		require.Equal(t, want, visible.Message(text), "%q", text)
	}
}

// Whatever comes in, a program that reads the JSON gets the same, and a terminal gets nothing to obey.
func TestJSON(t *testing.T) {
	for _, text := range []string{"plain", "\x1b\x7f\u009b\u202e\u2028\ufeff", "\U000e0041 👩\u200d💻", `\ "`} {
		data, err := json.Marshal(map[string]string{text: text})
		require.NoError(t, err)
		data = visible.JSON(append(data, '\n'))
		var back map[string]string
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, map[string]string{text: text}, back)
		shown := string(data[:len(data)-1])
		require.Equal(t, shown, visible.Line(shown))
	}
	require.Equal(t, `"\u009b\udb40\udc41"`, string(visible.JSON([]byte("\"\u009b\U000e0041\""))))
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b[1m\r\n\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, shown := range []string{visible.Text(text), visible.Line(text), visible.Message(text)} {
			require.True(t, utf8.ValidString(shown))
			for _, r := range shown {
				require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t', "%q", shown)
				require.False(t, unicode.Is(unicode.Bidi_Control, r), "%q", shown)
			}
			require.Equal(t, shown, visible.Text(shown), "what is shown is shown as it is")
		}
	})
}

func TestWord(t *testing.T) {
	for word, want := range map[string]string{
		"tools/a-b.yaml": "tools/a-b.yaml", "my tools/a.yaml": "'my tools/a.yaml'", "it's": `'it'\''s'`, "": "''", "$HOME": "'$HOME'", "é": "'é'",
	} {
		require.Equal(t, want, visible.Word(word))
	}
}
