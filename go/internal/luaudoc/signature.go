package luaudoc

import "strings"

// maxWork is how many bytes of a source are put into words again. A part may be asked for many times.
const maxWork = 16 << 20

// charge says whether n more bytes may be.
func (f *file) charge(n int) bool {
	f.work += n
	return f.work <= maxWork
}

// leftOut stands for what would have been too much work.
const leftOut = "..."

// flat is a part of the source in one line, without comments and trailing commas.
func (f *file) flat(s span) string {
	if !f.charge(s.end - s.start) {
		return leftOut
	}
	lex := newLexer(Source{f.chunk, f.src[s.start:s.end]})
	var b strings.Builder
	var before, comma string
	end := 0
	for t := lex.next(); t.kind != endOfFile; t = lex.next() {
		now := lex.src[t.start:t.end]
		closes := now == ")" || now == "}" || now == "]"
		if comma != "" && !closes {
			b.WriteString(comma)
			before = comma
		}
		comma = ""
		gap := t.start > end && b.Len() > 0 && before != "(" && now != ")" && now != ","
		if gap {
			b.WriteByte(' ')
		}
		end = t.end
		if now == "," || now == ";" {
			comma = now
			continue
		}
		b.WriteString(now)
		before = now
	}
	return b.String()
}

// signature is that of a function; method says that a first parameter self is left out.
func (f *file) signature(fn *function, method bool) *Signature {
	s := &Signature{Generics: f.flat(fn.generics)}
	for i, p := range fn.params {
		if i == 0 && method && (p.name == "self" || p.name == "_self") {
			s.Method = true
			continue
		}
		text := f.flat(p.span)
		if fn.typ && p.name == "" {
			text = unnamed(text)
		}
		s.Params = append(s.Params, text)
	}
	if fn.returns != nil {
		s.Returns = f.flat(fn.returns.span)
	}
	if s.Returns == "()" {
		s.Returns = ""
	}
	return s
}

// unnamed is a parameter of which a function type says the type only.
func unnamed(typ string) string {
	if rest, variadic := strings.CutPrefix(typ, "..."); variadic {
		return "...: " + rest
	}
	if strings.HasSuffix(typ, "...") {
		return "...: " + typ
	}
	return "_: " + typ
}

// Called is the name of a function as it is called: with a colon where it is a method.
func (s *Signature) Called(name string) string {
	if dot := strings.LastIndexByte(name, '.'); s.Method && dot >= 0 {
		return name[:dot] + ":" + name[dot+1:]
	}
	return name
}

// Text is the declaration of a function of that name, over several lines where one is longer than
// width.
func (s *Signature) Text(name string, width int) string {
	head, tail := "function "+s.Called(name)+s.Generics+"(", ")"
	if s.Returns != "" {
		tail += ": " + s.Returns
	}
	line := head + strings.Join(s.Params, ", ") + tail
	if len(line) <= width || len(s.Params) == 0 {
		return line
	}
	return head + "\n\t" + strings.Join(s.Params, ",\n\t") + "\n" + tail
}

// raw is a part of the source as it is written, without the indentation of its first line.
func (f *file) raw(s span) string {
	const most = 400 // no line is indented further
	if !f.charge(s.end - s.start + most) {
		return leftOut
	}
	before := f.src[max(0, s.start-most):s.start]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	lines := strings.Split(strings.ReplaceAll(f.src[s.start:s.end], "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(lines[i], indent), " \t")
	}
	return strings.Join(lines, "\n")
}
