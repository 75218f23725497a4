package models

import "strings"

// maxCandidates is how many places of an answer are tried: each may be read to its end.
const maxCandidates = 64

// jsonTexts are the pieces of an answer that may be its JSON: all of it, what stands in code fences,
// and objects and arrays in prose, in this order. The first is never empty.
func jsonTexts(answer string) []string {
	whole := strings.TrimSpace(answer)
	if whole == "" {
		return nil
	}
	list := append([]string{whole}, fenced(whole)...)
	return append(list, inProse(whole)...)
}

// fenced are the contents of code fences.
func fenced(text string) []string {
	var list []string
	for len(list) < maxCandidates {
		_, rest, ok := strings.Cut(text, "```")
		if !ok {
			return list
		}
		inside, after, _ := strings.Cut(rest, "```")
		// The word behind the fence names the language.
		if line, body, ok := strings.Cut(inside, "\n"); ok && !strings.ContainsAny(line, "{[\"") {
			inside = body
		}
		if inside = strings.TrimSpace(inside); inside != "" {
			list = append(list, inside)
		}
		text = after
	}
	return list
}

// inProse are the outermost objects and arrays in a text.
func inProse(text string) []string {
	var list []string
	for tries := 0; tries < maxCandidates; tries++ {
		from := strings.IndexAny(text, "{[")
		if from < 0 {
			break
		}
		text = text[from:]
		end := closing(text)
		if end < 0 {
			text = text[1:]
			continue
		}
		list = append(list, text[:end])
		text = text[end:]
	}
	return list
}

// closing is where the object or array ends that text begins with, or -1. Brackets in strings do not
// count.
func closing(text string) int {
	var open []byte
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case c == '}' || c == ']':
			if open[len(open)-1] != c {
				return -1
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		}
	}
	return -1
}
