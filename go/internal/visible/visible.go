// Package visible makes text from outside safe to show: what a terminal would obey, and what nobody sees,
// becomes an escape. It is for messages, reports and logs, not for what scripts print themselves.
package visible

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text shows a text of several lines: line ends and tabs stay.
func Text(text string) string { return escaped(text, "\n\t") }

// Line shows a text that stands in one line, as a name or a path.
func Line(text string) string { return escaped(text, "") }

// Message shows what is said of one thing. Its lines after the first are indented, so that none of them
// reads as a line of the report that it is in.
func Message(text string) string {
	text = Text(text)
	if !strings.Contains(text, "\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		if line != "" && !strings.HasPrefix(line, indent) && !strings.HasPrefix(line, "\t") {
			lines[i+1] = indent + line
		}
	}
	return strings.Join(lines, "\n")
}

const indent = "  "

// JSON escapes within the strings of a JSON text what package encoding/json leaves as it is. Outside of
// strings JSON has nothing that is escaped here.
func JSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, hidden) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		switch {
		case !hidden(r) || r == '\n': // which stands between values
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// hidden says whether r is a control or formatting character, or none at all. The joiners are within words
// of some languages and within emoji, and change nothing around them.
func hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == nonJoiner || r == joiner:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
}

// escaped shows all but the characters of kept as Luau writes them in a string.
func escaped(text, kept string) string {
	harmful := func(r rune) bool { return hidden(r) && !strings.ContainsRune(kept, r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, harmful) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case harmful(r):
			b.WriteString(escape(r))
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// Word is a word as a person gives it to a shell: in quotes where it needs them.
func Word(word string) string {
	special := func(r rune) bool {
		return !strings.ContainsRune("/.-_=:@%+,", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if word != "" && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
