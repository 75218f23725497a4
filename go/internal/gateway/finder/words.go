package finder

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is the longest word that counts, in bytes; of a longer one the beginning does.
const maxWord = 40

// words gives the words of a text to use, in small letters and without their endings. Names are split where their
// letters change case and at all that is no letter; scripts without spaces give each two neighbours.
func words(text string, use func(word string)) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		switch class := classOf(runes[i]); class {
		case other:
			i++
		case ideograph:
			end := i
			for end < len(runes) && classOf(runes[end]) == ideograph {
				end++
			}
			pairs(runes[i:end], use)
			i = end
		default:
			end := wordEnd(runes, i, class)
			if word := strings.ToLower(string(runes[i:end])); class == digit {
				use(clipWord(word))
			} else {
				use(stem(clipWord(word)))
			}
			i = end
		}
	}
}

type class int

const (
	other class = iota
	lower
	upper
	digit
	ideograph
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case r >= 'a' && r <= 'z':
			return lower
		case r >= 'A' && r <= 'Z':
			return upper
		case r >= '0' && r <= '9':
			return digit
		}
		return other
	case isCJK(r):
		return ideograph
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

func isCJK(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) ||
		r == 'ー' || r == '々'
}

// wordEnd is where a word ends that begins at i: `HTTPServer` is two, as `createPet` is.
func wordEnd(runes []rune, i int, first class) int {
	end := i + 1
	if first == digit {
		for end < len(runes) && classOf(runes[end]) == digit {
			end++
		}
		return end
	}
	if first == upper {
		for end < len(runes) && classOf(runes[end]) == upper {
			end++
		}
		if end-i > 1 {
			if end < len(runes) && classOf(runes[end]) == lower && !plural(runes, end) {
				return end - 1
			}
			if end >= len(runes) || classOf(runes[end]) != lower {
				return end
			}
		}
	}
	for end < len(runes) && classOf(runes[end]) == lower {
		end++
	}
	return end
}

// plural says whether a single s ends a word, as in URLs.
func plural(runes []rune, i int) bool {
	return runes[i] == 's' && (i+1 >= len(runes) || classOf(runes[i+1]) != lower)
}

// pairs gives each two neighbours, and each one for those who ask for one.
func pairs(runes []rune, use func(string)) {
	for i := range runes {
		if i+1 < len(runes) {
			use(string(runes[i : i+2]))
		}
	}
	if len(runes) == 1 {
		use(string(runes))
	}
}

func clipWord(word string) string {
	if len(word) <= maxWord {
		return word
	}
	return strings.ToValidUTF8(word[:maxWord], "")
}

// stem takes the endings of English off: issues and issue are one word, so are creating, created, creation, create.
func stem(word string) string {
	if len(word) < 4 {
		return word
	}
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		word = word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"):
		word = word[:len(word)-2]
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us") && !strings.HasSuffix(word, "is"):
		word = word[:len(word)-1]
	}
	for _, ending := range []string{"ing", "ed", "ion"} {
		rest, found := strings.CutSuffix(word, ending)
		if !found || len(rest) < 3 || !strings.ContainsAny(rest, "aeiouy") || ending == "ion" && !strings.HasSuffix(rest, "t") {
			continue
		}
		if n := len(rest); n > 3 && rest[n-1] == rest[n-2] && !strings.ContainsRune("lsz", rune(rest[n-1])) {
			rest = rest[:n-1]
		}
		word = rest
		break
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

// tokensOf is about how many tokens of a model a text takes: one for four characters, one for each ideograph.
func tokensOf(text string) int {
	chars, single := 0, 0
	for _, r := range text {
		if isCJK(r) {
			single++
		} else {
			chars++
		}
	}
	return single + (chars+3)/4
}
