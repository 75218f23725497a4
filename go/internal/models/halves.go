package models

import "unicode/utf16"

// halfLen is the length of half a character, in the three bytes that UTF-8 would give it.
const halfLen = 3

// IsFirstHalf says whether a UTF-16 unit is the first half of a character.
func IsFirstHalf(unit rune) bool { return unit >= 0xd800 && unit < 0xdc00 }

// IsSecondHalf says whether a UTF-16 unit is the second half of a character.
func IsSecondHalf(unit rune) bool { return unit >= 0xdc00 && unit < 0xe000 }

// Half is half a character in a text for a Collector, which joins it with the other one.
func Half(unit rune) string {
	return string([]byte{0xe0 | byte(unit>>12), 0x80 | byte(unit>>6)&0x3f, 0x80 | byte(unit)&0x3f})
}

// half reads what Half wrote; 0 when text does not begin with it.
func half(text string) rune {
	if len(text) < halfLen || text[0] != 0xed || text[1] < 0xa0 || text[1]&0xc0 != 0x80 || text[2]&0xc0 != 0x80 {
		return 0
	}
	return 0xd000 | rune(text[1]&0x3f)<<6 | rune(text[2]&0x3f)
}

// joined is text behind what was cut before it, without halves at the seam: two make a character, one
// alone is none.
func joined(cut, text string) string {
	first, second := half(cut), half(text)
	switch {
	case IsFirstHalf(first) && IsSecondHalf(second):
		return string(utf16.DecodeRune(first, second)) + text[halfLen:]
	case IsFirstHalf(first):
		return "\ufffd" + text
	case IsSecondHalf(second) && cut == "":
		return "\ufffd" + text[halfLen:]
	}
	return cut + text
}
