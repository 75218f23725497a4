package finder

import (
	"strings"
	"unicode"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// maxSnippet is the length of a snippet, in tokens, and maxBefore how much of it may stand before what was found.
const (
	maxSnippet = 45
	maxBefore  = 60 // characters
)

// snippet is the part of a description in which the first word stands that was looked for; else its beginning.
func snippet(f *catalog.Callable, looked map[string]bool) string {
	text := f.Description
	if strings.TrimSpace(text) == "" {
		text = f.Title
	}
	if len(text) > maxText {
		text = text[:maxText]
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	start := 0
	if tokensOf(text) > maxSnippet {
		start = beginning(text, firstMatch(text, looked))
	}
	return window(text, start)
}

// firstMatch is where the first word begins that was looked for; 0 where there is none.
func firstMatch(text string, looked map[string]bool) int {
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], ' ')
		if next < 0 {
			next = len(text) - at
		}
		found := false
		words(text[at:at+next], func(word string) { found = found || looked[word] })
		if found {
			return at
		}
		at += next + 1
	}
	return 0
}

// beginning is where to start so that a place is seen with what stands before it: at its sentence, else at a word.
func beginning(text string, at int) int {
	if end := strings.LastIndex(text[:at], ". "); end >= 0 && at-end <= 2*maxBefore {
		return end + 2
	}
	if at <= maxBefore {
		return 0
	}
	if space := strings.IndexByte(text[at-maxBefore:at], ' '); space >= 0 {
		return at - maxBefore + space + 1
	}
	return at
}

// window is the text from a place on, as long as a snippet may be, with dots where something is missing.
func window(text string, start int) string {
	var b strings.Builder
	if start > 0 {
		b.WriteString("... ")
	}
	tokens, quarter, space := 0, 0, 0
	for i, r := range text[start:] {
		if isCJK(r) {
			tokens++
		} else if quarter++; quarter%4 == 0 {
			tokens++
		}
		if r == ' ' {
			space = start + i
		}
		if tokens >= maxSnippet {
			end := start + i
			if space > start && end-space < 30 {
				end = space
			}
			return b.String() + text[start:end] + " ..."
		}
	}
	return b.String() + text[start:]
}
