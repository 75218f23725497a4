package luautype

import "strings"

// Mentioned are the names that a script may mean: its words, and its texts on one line. More than are meant do no
// harm, so comments count, too.
func Mentioned(script string) []string {
	seen := map[string]bool{}
	var list []string
	add := func(name string) {
		if name != "" && len(name) <= maxText && !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	for _, word := range strings.FieldsFunc(script, func(r rune) bool {
		return r >= 0x80 || r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		add(word)
	}
	for text := range strings.Lines(script) {
		for _, quote := range []string{`"`, `'`, "`"} {
			parts := strings.Split(text, quote)
			for i := 1; i < len(parts)-1; i++ {
				add(parts[i])
			}
		}
		for _, part := range strings.Split(text, "[[")[1:] {
			inside, _, _ := strings.Cut(part, "]]")
			add(inside)
		}
	}
	return list
}
