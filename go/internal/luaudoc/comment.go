package luaudoc

import "strings"

// above is the text of the comments that end in the line over a token and have no empty line between.
func (f *file) above(t token) string {
	return f.join(attached(t.lead, t.line))
}

// attached are the last comments of a list that touch one another and the line.
func attached(list []comment, line int) []comment {
	first := len(list)
	for first > 0 && list[first-1].own && list[first-1].last == line-1 {
		first--
		line = list[first].line
	}
	return list[first:]
}

// beside is the text of the comment that follows in the line of what ended there.
func (f *file) beside(last int, next token) string {
	if len(next.lead) > 0 && !next.lead[0].own && next.lead[0].line == last {
		return f.join(next.lead[:1])
	}
	return ""
}

// top is the comment of the module: those before its first statement, without the ones that are the
// statement's own.
func (f *file) top(t token, takes bool) string {
	list := t.lead
	if takes && t.kind != endOfFile {
		list = list[:len(list)-len(attached(list, t.line))]
	}
	var parts []string
	for first := 0; first < len(list); {
		last := first + 1
		for last < len(list) && list[last].line == list[last-1].last+1 {
			last++
		}
		if part := f.join(list[first:last]); part != "" {
			parts = append(parts, part)
		}
		first = last
	}
	return strings.Join(parts, "\n\n")
}

// join is the text of comments without their marks. Directives such as --!strict are none.
func (f *file) join(list []comment) string {
	var lines []string
	for _, c := range list {
		raw := strings.ReplaceAll(f.src[c.start:c.end], "\r\n", "\n")
		switch {
		case strings.HasPrefix(raw, "--!"):
		case isLong(raw):
			lines = append(lines, longLines(raw)...)
		default:
			lines = append(lines, shortLine(raw))
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

func isLong(raw string) bool {
	rest := strings.TrimLeft(strings.TrimPrefix(raw, "--["), "=")
	return strings.HasPrefix(raw, "--[") && strings.HasPrefix(rest, "[")
}

// shortLine is the text of a comment of one line; a rule of dashes is empty.
func shortLine(raw string) string {
	line := strings.TrimRight(raw, " \t\r")
	if strings.Trim(line, "-=") == "" {
		return ""
	}
	line = strings.TrimPrefix(strings.TrimPrefix(line, "--"), "-")
	return strings.TrimPrefix(line, " ")
}

// longLines are the lines of a comment in long brackets, without the indentation that all have.
func longLines(raw string) []string {
	open := strings.IndexByte(raw[len("--["):], '[') + len("--[") + 1
	inner := raw[open : len(raw)-(open-len("--"))]
	lines := strings.Split(inner, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	lines[0] = strings.TrimLeft(lines[0], " \t")
	if lines[0] == "" {
		return dedented(lines[1:])
	}
	return append(lines[:1:1], dedented(lines[1:])...)
}

// dedented cuts the indentation that all lines but empty ones have.
func dedented(lines []string) []string {
	indent, known := "", false
	for _, line := range lines {
		if strings.TrimLeft(line, " \t") == "" {
			continue
		}
		own := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if !known {
			indent, known = own, true
		}
		for !strings.HasPrefix(own, indent) {
			indent = indent[:len(indent)-1]
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimPrefix(line, indent)
	}
	return out
}
