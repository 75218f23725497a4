package tooldef

import "github.com/hukilau/hukilau/go/internal/luaudoc"

// assigned notes the table that is given to a name at token i, as far as one is written out, and what is put into one
// later.
func (u *usage) assigned(i int) {
	t := u.tokens[i]
	if t.Kind != luaudoc.TokenWord || u.is(i-1, ".") || u.is(i-1, ":") {
		return
	}
	u.constantAt(i)
	switch {
	case u.is(i+1, "=") && u.is(i+2, "{"):
		u.tables[t.Text] = i + 2
	case u.is(i+1, "=") || (u.is(i+1, ".") && u.is(i+3, "=")) || (u.is(i+1, "[") && u.is(i+3, "]") && u.is(i+4, "=")):
		u.tables[t.Text] = -1 // something else, or something more
	}
}

// tooFar is the place of what stands too far away to be looked for.
const tooFar = -1

// argumentAt is where argument n of a call begins, from 1, whose first one is at token i; false where there is none.
func (u *usage) argumentAt(i, n int) (int, bool) {
	depth := 0
	for end := min(i+maxAhead, len(u.tokens)); i < end; i++ {
		if depth == 0 && n == 1 {
			return i, !u.is(i, ")")
		}
		switch u.tokens[i].Text {
		case "(", "{", "[", "function":
			depth++
		case ")", "}", "]", "end":
			depth--
		case ",":
			if depth == 0 {
				n--
			}
		}
		if depth < 0 {
			return 0, false
		}
	}
	return tooFar, true
}

// table is the constructor of the table at token i, which may be a name; false where it cannot be seen.
func (u *usage) table(i int) (int, bool) {
	if i == tooFar || u.is(i, "{") {
		return i, i != tooFar
	}
	at := u.tables[u.tokens[i].Text]
	lone := u.is(i+1, ")") || u.is(i+1, ",") || u.is(i+1, "}") || u.is(i+1, ";")
	return at, at > 0 && lone && u.tokens[i].Kind == luaudoc.TokenWord
}

// entry is the value of a field in the table whose constructor begins at token i; 0 where it has
// none.
func (u *usage) entry(i int, key string) int {
	depth := 0
	for end := min(i+maxAhead, len(u.tokens)); i < end; i++ {
		switch u.tokens[i].Text {
		case "(", "{", "[", "function":
			depth++
		case ")", "}", "]", "end":
			if depth--; depth == 0 {
				return 0
			}
		case key:
			if depth == 1 && u.is(i+1, "=") && (u.is(i-1, "{") || u.is(i-1, ",") || u.is(i-1, ";")) && i+2 < len(u.tokens) {
				return i + 2
			}
		}
	}
	return tooFar
}

// offered notes the tools that a model is offered by a call whose options are argument n.
func (u *usage) offered(call string, line, i, n int) {
	perhaps := use{key: "tools", call: call, line: line, perhaps: true}
	at, given := u.argumentAt(i, n)
	if !given {
		return
	}
	open, seen := u.table(at)
	if !seen {
		u.found = append(u.found, perhaps)
		return
	}
	value := u.entry(open, "tools")
	if value == 0 {
		return
	}
	if open, seen = u.table(value); !seen {
		u.found = append(u.found, perhaps)
		return
	}
	for i := open + 1; i < min(open+maxAhead, len(u.tokens)) && !u.is(i, "}"); i++ {
		name := u.constant(i)
		switch {
		case u.is(i, ",") || u.is(i, ";"):
		case name != "" && (u.is(i+1, ",") || u.is(i+1, ";") || u.is(i+1, "}")):
			u.found = append(u.found, use{key: "tools", value: name, call: call, line: line})
		default:
			u.found = append(u.found, perhaps)
			return
		}
	}
}

// agentModel is the model of an agent whose configuration is the second argument.
func (u *usage) agentModel(i int) string {
	at, given := u.argumentAt(i, 2)
	if !given {
		return ""
	}
	open, seen := u.table(at)
	if !seen {
		return ""
	}
	if value := u.entry(open, "model"); value > 0 {
		return u.constant(value)
	}
	return ""
}
