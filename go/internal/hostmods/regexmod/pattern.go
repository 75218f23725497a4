package regexmod

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Codes of errors that scripts see.
const (
	CodeRegex = "regex"        // a pattern or a replacement that is none
	CodeLimit = luau.CodeLimit // a pattern that is too large
)

// The bounds of a pattern: bytes of its text, and instructions.
const (
	maxText = 8 << 10
	maxSize = 10_000
)

// pattern is a compiled pattern. Any goroutine may use it.
type pattern struct {
	re      *regexp.Regexp
	text    string
	size    int
	machine machine
	names   []string // of the groups, by number; "" where a group has none
	prefix  []byte   // every match begins with it
	resume  func() (*regexp.Regexp, error)
}

func compile(text string) (*pattern, error) {
	if len(text) > maxText {
		return nil, &luau.Error{Code: CodeLimit, Message: fmt.Sprintf("a pattern of %d bytes: the limit is %d", len(text), maxText)}
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, patternError(err)
	}
	size := sizeOf(tree)
	if size > maxSize {
		return nil, &luau.Error{Code: CodeLimit, Message: fmt.Sprintf(
			"the pattern needs about %d steps for each byte of a text: the limit is %d; make its repetitions smaller", size, maxSize)}
	}
	machine, err := machineOf(tree)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, patternError(err)
	}
	prefix, _ := re.LiteralPrefix()
	p := &pattern{re: re, text: text, size: size, machine: machine, names: re.SubexpNames(), prefix: []byte(prefix)}
	p.resume = sync.OnceValues(p.compileResume)
	return p, nil
}

func patternError(err error) error {
	message := err.Error()
	var detail *syntax.Error
	if errors.As(err, &detail) {
		message = fmt.Sprintf("%s: %.100q", detail.Code, detail.Expr)
		if hint := hints[detail.Code]; hint != "" {
			message += " (" + hint + ")"
		}
	}
	return &luau.Error{Code: CodeRegex, Message: message}
}

// hints for those who know other engines or Luau's own patterns.
var hints = map[syntax.ErrorCode]string{
	syntax.ErrInvalidPerlOp: "look-around is not part of RE2, whose time is linear in the text",
	syntax.ErrInvalidEscape: "back-references are not part of RE2; `\\` before a letter is a class or an assertion",
}

// compileResume is the pattern behind one character and as few more as possible: it finds the next
// match in a text that begins one character before the place to go on from, so that \b and ^ see what
// stands before it. Group 1 is the match, the others follow.
func (p *pattern) compileResume() (*regexp.Regexp, error) {
	// As the parser writes it, the pattern stands alone inside another.
	tree, err := syntax.Parse(p.text, syntax.Perl)
	if err != nil {
		return nil, patternError(err)
	}
	re, err := regexp.Compile(`\A(?s:.)(?s:.*?)(` + tree.String() + `)`)
	if err != nil { // the parser bounds nesting, and this is one level deeper
		return nil, patternError(err)
	}
	return re, nil
}
