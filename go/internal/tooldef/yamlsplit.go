package tooldef

import "bytes"

// part is one document of a YAML text.
type part struct {
	text   []byte
	before int // lines in front of it
}

// split cuts a text at its document markers, so that a broken document leaves the others alone. YAML
// allows a line that begins with "---" or "..." nowhere else, not even in a quoted or block text.
func split(text []byte) []part {
	var parts []part
	start, line, first := 0, 0, 0
	begun := false // the part has more than comments and directives
	cut := func(at, next int) {
		if begun {
			parts = append(parts, part{text[start:at], first})
		}
		start, first, begun = at, next, false
	}
	for at := 0; at < len(text); line++ {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		row := text[at:end]
		switch {
		case isMarker(row, "---"):
			cut(at, line)
			begun = true
		case isMarker(row, "..."):
			cut(end, line+1)
		case !begun && row[0] != '%' && row[0] != '#' && len(bytes.TrimSpace(row)) > 0:
			begun = true
		}
		at = end
	}
	cut(len(text), line)
	return parts
}

func isMarker(row []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(row, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
