package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPatterns(t *testing.T) {
	for text, c := range map[string]struct {
		match bool
		in    string
	}{
		`^\u0041\u{42}$`: {true, "AB"}, `^\cA$`: {true, "\x01"}, `^[^]$`: {true, "\n"}, `[]`: {false, "a"}, `^\/\-$`: {true, "/-"},
		`^\s$`: {true, "\u00a0"}, `^[\s]$`: {true, "\ufeff"}, `^\S$`: {false, "\u2028"}, `^\d$`: {false, "٣"}, `^\w+$`: {true, "a_1"},
		`^[[:a]+$`: {true, "[:a"}, `^[^\]]$`: {false, "]"}, `^(?<year>\d{4})$`: {true, "2026"}, `^\p{L}+$`: {true, "é"},
		`a$`: {false, "a\n"}, `^\0$`: {true, "\x00"}, `b`: {true, "abc"}, `^[a\u002d\u005d]+$`: {true, "a-]"},
	} {
		p, err := compilePattern(text)
		require.NoError(t, err, text)
		assert.Equal(t, c.match, p.MatchString(c.in), "%s in %q", text, c.in)
		assert.Equal(t, text, p.String())
	}
	for _, bad := range []string{`\a`, `\Aa`, `a\z`, `\Qa\E`, `\c1`, `\u12`, `(`, `a{1001}`, `\`} {
		_, err := compilePattern(bad)
		assert.Error(t, err, bad)
	}
}
