package tooldef

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/luaudoc"
)

// names is what the tokens of a script say about its tool, without running it.
type names struct {
	tokens     []luaudoc.Token
	globalTool bool           // it assigns to a global `tool`
	localTool  bool           // it has a local of that name at its top level
	execute    bool           // it defines tool.execute in a statement
	method     int            // line of a tool:execute, with a colon; 0: none
	lines      map[string]int // of the fields of the table, by path
}

// scan looks through a script. Of one that is no Luau it knows nothing: the compiler will say so.
func scan(chunk, source string) *names {
	n := &names{lines: map[string]int{}}
	tokens, err := luaudoc.Tokens(luaudoc.Source{Chunk: chunk, Text: source})
	if err != nil {
		return n
	}
	n.tokens = tokens
	depth := 0
	for i, t := range tokens {
		switch t.Text {
		case "{", "(", "[":
			depth++
		case "}", ")", "]":
			depth--
		case "tool":
			if depth == 0 {
				n.mention(i)
			}
		}
	}
	return n
}

// is says whether a token is a word or a symbol; false beyond the ends.
func (n *names) is(i int, text string) bool {
	return i >= 0 && i < len(n.tokens) && n.tokens[i].Text == text
}

// mention looks at a word `tool` outside of brackets.
func (n *names) mention(i int) {
	own := !n.is(i-1, ".") && !n.is(i-1, ":") || n.is(i-2, "_G") && n.is(i-1, ".")
	switch {
	case !own:
	case n.is(i-1, "local"):
		n.localTool = true
		if n.is(i+1, "=") {
			n.toolTable(i)
		}
	case n.is(i-1, "function") && n.is(i+1, ":") && n.is(i+2, "execute"):
		n.method, n.execute = n.tokens[i].Line, true
	case n.is(i-1, "function") && n.is(i+1, ".") && n.is(i+2, "execute"),
		n.is(i+1, ".") && n.is(i+2, "execute") && n.is(i+3, "="):
		n.execute = true
	case n.is(i+1, ".") && n.is(i+3, "=") && !n.localTool:
		n.field(i + 2)
	case n.is(i+1, "=") && !n.localTool:
		n.globalTool = true
		n.toolTable(i)
	case n.is(i+1, ".") && n.is(i+3, "="):
		if field := "tool." + n.tokens[i+2].Text; n.lines[field] == 0 && slices.Contains(luaFields, n.tokens[i+2].Text) {
			n.lines[field] = n.tokens[i].Line
		}
	}
}

// toolTable notes the lines of the table that is given to the name at token i; those of the first.
func (n *names) toolTable(i int) {
	if n.lines["tool"] > 0 {
		return
	}
	n.lines["tool"] = n.tokens[i].Line
	if n.is(i+2, "{") {
		n.table(i+2, "tool", 2)
		n.execute = n.execute || n.lines["tool.execute"] > 0
	}
}

// looksLikeTool says whether a file without a global tool was meant to have one. A module may have a local of that
// name; one that it returns is a tool when it says what tools say.
func (n *names) looksLikeTool() bool {
	if !n.localTool || !n.execute {
		return false
	}
	for i := range n.tokens {
		if n.is(i, "return") && n.is(i+1, "tool") && !n.is(i+2, ".") {
			return slices.ContainsFunc([]string{"name", "description", "parameters", "schema"}, func(field string) bool {
				return n.lines["tool."+field] > 0
			})
		}
	}
	return true
}

// field notes the line of a field that a statement sets, as tool.approve = true.
func (n *names) field(i int) {
	path := "tool." + n.tokens[i].Text
	if _, noted := n.lines[path]; noted {
		return
	}
	n.lines[path] = n.tokens[i].Line
	if n.is(i+2, "{") {
		n.table(i+2, path, 1)
	}
}

// table notes the lines of the fields of a constructor, which begins at token i, down to some levels, and
// gives the token behind it.
func (n *names) table(i int, path string, levels int) int {
	item := 0
	for i++; i < len(n.tokens) && !n.is(i, "}"); {
		at, key := i, ""
		if n.tokens[i].Kind == luaudoc.TokenWord && n.is(i+1, "=") {
			key, i = n.tokens[i].Text, i+2
		} else {
			key = strconv.Itoa(item)
			item++
		}
		inner := path + "." + key
		n.lines[inner] = n.tokens[at].Line
		if levels > 0 && n.is(i, "{") {
			i = n.table(i, inner, levels-1)
		}
		i = n.value(i)
		if n.is(i, ",") || n.is(i, ";") || i == at { // a stray bracket is nobody's value
			i++
		}
	}
	return i + 1
}

// value is the token behind the rest of a field's value.
func (n *names) value(i int) int {
	depth := 0
	for ; i < len(n.tokens); i++ {
		switch n.tokens[i].Text {
		case "if":
			if !n.inExpression(i) {
				depth++
			}
		case "{", "(", "[", "function", "do":
			depth++
		case "}", ")", "]", "end":
			if depth == 0 {
				return i
			}
			depth--
		case ",", ";":
			if depth == 0 {
				return i
			}
		case "repeat":
			depth++
		case "until":
			depth--
		}
	}
	return i
}

// inExpression says whether the `if` at token i is an expression, which has no end.
func (n *names) inExpression(i int) bool {
	if i == 0 {
		return false
	}
	switch before := n.tokens[i-1]; before.Text {
	case ")", "}", "]", ";":
		return false
	case "return", "and", "or", "not", "in", "if", "elseif", "while", "until":
		return true
	default:
		return before.Kind == luaudoc.TokenSymbol
	}
}

// place is the line of a part of the tool table, or of what is around it; 0 when unknown.
func (n *names) place(path []string) int {
	for end := len(path); end >= 0; end-- {
		key := strings.Join(append([]string{"tool"}, path[:end]...), ".")
		if line := n.lines[key]; line > 0 {
			return line
		}
	}
	return 0
}
