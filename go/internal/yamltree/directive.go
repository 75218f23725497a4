package yamltree

import "bytes"

// acceptVersions rewrites `%YAML 1.2` and later ones of 1 to 1.1, in place: the library takes only that
// one, and the schema is ours in any case. Directives stand before a document, at the start of the text
// or behind a line of "...".
func acceptVersions(text []byte) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	directive := []byte("%YAML 1.")
	for before := true; len(text) > 0; {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		switch {
		case bytes.HasPrefix(line, []byte("...")):
			before = true
		case before && bytes.HasPrefix(line, directive) && len(line) > len(directive):
			if digit := &line[len(directive)]; *digit > '1' && *digit <= '9' {
				*digit = '1'
			}
		case len(bytes.TrimSpace(line)) > 0 && line[0] != '#' && line[0] != '%':
			before = false
		}
		text = rest
	}
}
