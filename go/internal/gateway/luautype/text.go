package luautype

import (
	"strings"
	"unicode"

	"github.com/hukilau/hukilau/go/internal/visible"
)

// Bounds of descriptions, in bytes.
const (
	maxSentence    = 300
	maxDescription = 4_000
)

// line makes one line of a text, without what a terminal would obey and what has a reader see another order of the
// characters than there is.
func line(text string) string {
	return visible.Line(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "))
}

// sentence is a short form of a description, on one line.
func sentence(text string) string {
	return cut(line(text[:min(len(text), 4*maxSentence)]), maxSentence)
}

// cut shortens a text behind a word.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	short := strings.ToValidUTF8(text[:most], "")
	if i := strings.LastIndexByte(short, ' '); i > most/2 {
		short = short[:i]
	}
	return short + " ..."
}

// comment writes a text as comment lines; an empty text is none.
func comment(text string) string {
	var b strings.Builder
	for part := range strings.Lines(cut(strings.TrimSpace(text), maxDescription)) {
		b.WriteString(strings.TrimRight("-- "+line(part), " ") + "\n")
	}
	return b.String()
}
