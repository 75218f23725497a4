package regexmod

import "regexp/syntax"

// sizeOf is about how many instructions a pattern compiles to. A repetition like x{1000} compiles to
// copies, so a short pattern can need a large program; each byte of a subject may take a step of every
// instruction.
func sizeOf(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/8
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += sizeOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		size = (size - 1) * max(1, re.Min, re.Max)
	}
	return size
}
