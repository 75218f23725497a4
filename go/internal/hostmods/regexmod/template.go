package regexmod

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// template is a replacement: texts and groups in turn.
type template []part

type part struct {
	text  string
	group int // when text is empty
}

// parseTemplate reads $1, ${1}, ${name} and $$. A group that the pattern has not is an error: the
// standard library would write nothing, which is hard to find.
func (p *pattern) parseTemplate(text string) (template, error) {
	var t template
	for text != "" {
		plain, rest, found := strings.Cut(text, "$")
		if plain != "" {
			t = append(t, part{text: plain})
		}
		if !found {
			break
		}
		name, after, err := groupName(rest)
		if err != nil {
			return nil, err
		}
		text = after
		if name == "$" {
			t = append(t, part{text: "$"})
			continue
		}
		group, err := p.group(name)
		if err != nil {
			return nil, err
		}
		t = append(t, part{group: group})
	}
	return t, nil
}

// groupName reads what stands behind a $.
func groupName(text string) (name, rest string, err error) {
	if strings.HasPrefix(text, "$") {
		return "$", text[1:], nil
	}
	if strings.HasPrefix(text, "{") {
		if end := strings.IndexByte(text, '}'); end > 1 {
			return text[1:end], text[end+1:], nil
		}
	} else if digits := strings.IndexFunc(text+".", func(r rune) bool { return r < '0' || r > '9' }); digits > 0 {
		return text[:digits], text[digits:], nil
	}
	return "", "", &luau.Error{Code: CodeRegex,
		Message: "a $ in the replacement must be $1, ${1}, ${name}, or $$ for the character"}
}

func (p *pattern) group(name string) (int, error) {
	n, err := strconv.Atoi(name)
	if err != nil {
		n = slices.Index(p.names, name)
	}
	if n < 0 || n >= len(p.names) {
		return 0, &luau.Error{Code: CodeRegex, Message: fmt.Sprintf("the replacement names the group %.60q, which the pattern has not", name)}
	}
	return n, nil
}

// expand appends the replacement for one match.
func (t template) expand(out, subject []byte, match []int) []byte {
	for _, part := range t {
		if part.text != "" {
			out = append(out, part.text...)
		} else if from := match[2*part.group]; from >= 0 {
			out = append(out, subject[from:match[2*part.group+1]]...)
		}
	}
	return out
}

// size of the replacement for one match.
func (t template) size(match []int) (n int64) {
	for _, part := range t {
		n += int64(len(part.text))
		if part.text == "" {
			n += int64(match[2*part.group+1] - match[2*part.group])
		}
	}
	return n
}
