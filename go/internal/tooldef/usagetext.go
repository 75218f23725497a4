package tooldef

import (
	"strings"

	"github.com/hukilau/hukilau/go/internal/luaudoc"
	"github.com/hukilau/hukilau/go/internal/redact"
)

// unseen stands in a text for what only a run shows.
const unseen = "\x00"

// The bounds of following an expression.
const (
	maxTerms  = 50
	maxNested = 10
	maxText   = 4096

	maxHead = 200 // tokens
)

// text is what the expression at a token gives, with unseen at its end where that is not all, and the token behind it.
func (u *usage) text(i, nested int) (text string, next int) {
	for term := 0; term < maxTerms && nested < maxNested && len(text) < maxText; term++ {
		part, behind, whole := u.term(i, nested, term == 0)
		if text += part; !whole {
			return text + unseen, behind
		}
		if !u.is(behind, "..") {
			return text, behind
		}
		i = behind + 1
	}
	return text + unseen, i
}

// term is one operand of an expression; first says that nothing stands in front of it.
func (u *usage) term(i, nested int, first bool) (text string, next int, whole bool) {
	if i < 0 || i >= len(u.tokens) {
		return "", i, false
	}
	switch t := u.tokens[i]; {
	case t.Kind == luaudoc.TokenText:
		text, whole = u.written(t, nested)
		return text, i + 1, whole
	case t.Text == "(":
		text, next = u.text(i+1, nested+1)
		if !u.is(next, ")") || strings.HasSuffix(text, unseen) || !u.ends(next+1) {
			return "", next, false
		}
		return text, next + 1, true
	case t.Kind != luaudoc.TokenWord:
		return "", i, false
	}
	text, next, whole = u.named(i)
	if !u.is(next, "or") {
		return text, next, whole && u.ends(next)
	}
	other, behind := u.text(next+1, nested+1)
	switch known := !strings.HasSuffix(other, unseen) && u.ends(behind); {
	case !known:
		return "", behind, false
	case whole:
		return text, behind, true
	}
	name, _ := u.chain(i)
	return other, behind, first && strings.HasPrefix(name, "ctx.config.") && !u.configures(name)
}

// written is a text of the script; one with expressions as far as those can be seen.
func (u *usage) written(t luaudoc.Token, nested int) (text string, whole bool) {
	if t.Text[0] != '`' {
		return t.Quoted()
	}
	rest := strings.TrimSuffix(t.Text[1:], "`")
	for {
		open := strings.IndexByte(rest, '{')
		if strings.Contains(rest[:max(open, 0)], `\`) || open < 0 && strings.Contains(rest, `\`) {
			return text, false
		}
		if open < 0 {
			return text + rest, true
		}
		text += rest[:open]
		inside, behind, closed := strings.Cut(rest[open+1:], "}")
		tokens, err := luaudoc.Tokens(luaudoc.Source{Text: inside})
		if !closed || err != nil {
			return text, false
		}
		value, next := u.within(tokens).text(0, nested+1)
		if strings.HasSuffix(value, unseen) || next < len(tokens) {
			return text, false
		}
		text, rest = text+value, behind
	}
}

// within is the same for tokens of an expression in a text.
func (u *usage) within(tokens []luaudoc.Token) *usage {
	inner := *u
	inner.names, inner.tables, inner.found = &names{tokens: tokens}, map[string]int{}, nil
	return &inner
}

// named is the text that a name stands for: one that is given to it once, or a key of the tool's configuration.
func (u *usage) named(i int) (text string, next int, whole bool) {
	name, next := u.chain(i)
	if text, known := u.constants[u.tokens[i].Text]; known && next == i+1 {
		text, more := strings.CutSuffix(text, unseen)
		return text, next, !more
	}
	key, ok := strings.CutPrefix(name, "ctx.config.")
	if text, whole = u.config[key].(string); !ok || !whole || strings.Contains(text, redact.Mark) {
		return "", next, false
	}
	return text, next, true
}

// configures says whether the configuration has a key, whatever stands there.
func (u *usage) configures(name string) bool {
	return u.config[strings.TrimPrefix(name, "ctx.config.")] != nil
}

// ends says whether an operand is over at a token: no operator, index or call follows.
func (u *usage) ends(i int) bool {
	if i >= len(u.tokens) {
		return true
	}
	switch t := u.tokens[i]; t.Text {
	case "..", ",", ")", "]", "}", ";":
		return true
	case "or", "and":
		return false
	default:
		return t.Kind == luaudoc.TokenWord
	}
}

// constantAt notes the text that is given to the name at token i, where it is given nothing else.
func (u *usage) constantAt(i int) {
	name := u.tokens[i].Text
	if u.bound[name] != 1 || u.is(i-1, ",") {
		return
	}
	at := i + 1
	for end := at + maxNested; u.is(i-1, "local") && u.is(i+1, ":") && at < end && !u.is(at, "="); at++ { // its type
	}
	if !u.is(at, "=") {
		return
	}
	if text, _ := u.text(at+1, 0); text != unseen {
		u.constants[name] = text
	}
}

// bindings counts how often each name is given something: one that stands for two things is no constant.
func (n *names) bindings() map[string]int {
	bound := map[string]int{}
	var brackets []string
	for i, t := range n.tokens {
		switch t.Text {
		case "{", "(", "[":
			brackets = append(brackets, t.Text)
		case "}", ")", "]":
			brackets = brackets[:max(len(brackets)-1, 0)]
		case "local", "for":
			n.bindList(bound, i+1)
		case "function":
			n.bindParameters(bound, i+1)
		}
		if t.Kind != luaudoc.TokenWord || n.is(i-1, ".") || n.is(i-1, ":") || n.is(i-1, "local") || n.is(i-1, "for") || i+1 >= len(n.tokens) {
			continue
		}
		inTable := len(brackets) > 0 && brackets[len(brackets)-1] == "{" && (n.is(i-1, "{") || n.is(i-1, ",") || n.is(i-1, ";"))
		switch next := n.tokens[i+1].Text; next {
		case "==", "~=", "<=", ">=":
		default:
			if strings.HasSuffix(next, "=") && !inTable && n.tokens[i+1].Kind == luaudoc.TokenSymbol {
				bound[t.Text]++
			}
		}
	}
	return bound
}

// bindList counts the names of a list, but for a last one of several that an equals sign follows: it is counted there.
func (n *names) bindList(bound map[string]int, i int) {
	for first := i; i < len(n.tokens) && n.tokens[i].Kind == luaudoc.TokenWord; i += 2 {
		if i == first || !n.is(i+1, "=") {
			bound[n.tokens[i].Text]++
		}
		if !n.is(i+1, ",") {
			return
		}
	}
}

func (n *names) bindParameters(bound map[string]int, i int) {
	for end := min(i+maxHead, len(n.tokens)); i < end && !n.is(i, "("); i++ {
	}
	for end := min(i+maxHead, len(n.tokens)); i < end && !n.is(i, ")"); i++ {
		if n.tokens[i].Kind == luaudoc.TokenWord && (n.is(i-1, "(") || n.is(i-1, ",")) {
			bound[n.tokens[i].Text]++
		}
	}
}
