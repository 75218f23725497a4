package config

// Pattern is a name in which "*" stands for any text and "?" for one character. Letters are told apart by case.
type Pattern string

// Matches says whether a name fits, in a time that grows with the product of both lengths at most.
func (p Pattern) Matches(name string) bool {
	pattern, text := []rune(string(p)), []rune(name)
	at, star, from := 0, -1, 0 // from: where the text of the last star ends
	for i := 0; i < len(text); {
		switch {
		case at < len(pattern) && pattern[at] == '*':
			star, from = at, i
			at++
		case at < len(pattern) && (pattern[at] == '?' || pattern[at] == text[i]):
			at, i = at+1, i+1
		case star >= 0:
			from++
			at, i = star+1, from
		default:
			return false
		}
	}
	for at < len(pattern) && pattern[at] == '*' {
		at++
	}
	return at == len(pattern)
}
