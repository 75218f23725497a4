package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const mostPattern = 10_000 // bytes

// pattern is a regular expression with what it costs to match a byte.
type pattern struct {
	*regexp.Regexp
	text  string
	steps int
}

// String is the pattern as the schema has it.
func (p *pattern) String() string { return p.text }

// cost of matching in units: RE2 may visit each instruction for each byte.
func (p *pattern) cost(s string) int { return len(s) * p.steps / 16 }

// compilePattern reads a pattern of JavaScript as one of RE2, which never takes exponential time.
func compilePattern(text string) (jsonschema.Regexp, error) {
	if len(text) > mostPattern {
		return nil, fmt.Errorf("a pattern of more than %d bytes", mostPattern)
	}
	translated, err := translatePattern(text)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", clip(text, 100), err)
	}
	compiled, err := regexp.Compile(translated)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %s", clip(text, 100), patternProblem(err))
	}
	parsed, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	return &pattern{compiled, text, len(program.Inst)}, nil
}

// patternProblem says what RE2 lacks in the words of those who miss it.
func patternProblem(err error) string {
	var failed *syntax.Error
	if !errors.As(err, &failed) {
		return err.Error()
	}
	if strings.HasPrefix(failed.Expr, "(?=") || strings.HasPrefix(failed.Expr, "(?!") || strings.HasPrefix(failed.Expr, "(?<") {
		return "look-ahead and look-behind are not supported (patterns are RE2's): write it without them"
	}
	if failed.Code == syntax.ErrInvalidEscape && len(failed.Expr) == 2 && failed.Expr[1] >= '1' && failed.Expr[1] <= '9' {
		return "references to groups are not supported (patterns are RE2's)"
	}
	return failed.Code.String() + ": " + clip(failed.Expr, 100)
}

// javaScriptSpace is what \s means there.
const javaScriptSpace = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

// translatePattern writes the escapes that RE2 lacks or means otherwise.
func translatePattern(text string) (string, error) {
	var out strings.Builder
	class := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			used, err := translateEscape(&out, text[i:], class)
			if err != nil {
				return "", err
			}
			i += used - 1
		case c == '[' && !class:
			class = true
			used := translateClassStart(&out, text[i:])
			i += used - 1
			class = used < 3 || !strings.HasSuffix(text[:i+1], "]")
		case c == '[':
			out.WriteString(`\[`) // RE2 has classes of POSIX there
		default:
			class = class && c != ']'
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}

// translateClassStart writes [, and what JavaScript means by [^] and [].
func translateClassStart(out *strings.Builder, text string) int {
	switch {
	case strings.HasPrefix(text, "[^]"):
		out.WriteString(`(?s:.)`)
		return 3
	case strings.HasPrefix(text, "[]"):
		out.WriteString(`[^\x{0}-\x{10ffff}]`)
		return 2
	}
	out.WriteByte('[')
	return 1
}

// translateEscape writes the escape at the start of text and tells its length.
func translateEscape(out *strings.Builder, text string, class bool) (int, error) {
	switch c := text[1]; c {
	case 'u':
		return translateUnicode(out, text)
	case 'c':
		if len(text) > 2 && (text[2]|0x20 >= 'a' && text[2]|0x20 <= 'z') {
			fmt.Fprintf(out, `\x{%x}`, text[2]&0x1f)
			return 3, nil
		}
		return 0, errors.New(`\c without a letter`)
	case 's':
		writeClass(out, "", javaScriptSpace, class)
	case 'S':
		if class {
			out.WriteString(`\S`)
		} else {
			out.WriteString("[^" + javaScriptSpace + "]")
		}
	case 'A', 'z', 'Z', 'Q', 'E', 'C', 'a':
		return 0, fmt.Errorf(`\%c is no escape in a pattern of JSON Schema`, c)
	case '0':
		out.WriteString(`\x{0}`)
	default:
		out.WriteString(text[:2])
	}
	return 2, nil
}

var unicodeEscape = regexp.MustCompile(`^\\u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,6})\})`)

func translateUnicode(out *strings.Builder, text string) (int, error) {
	found := unicodeEscape.FindStringSubmatch(text)
	if found == nil {
		return 0, errors.New(`\u without four hexadecimal digits`)
	}
	fmt.Fprintf(out, `\x{%s%s}`, found[1], found[2])
	return len(found[0]), nil
}

func writeClass(out *strings.Builder, negate, members string, inside bool) {
	if inside {
		out.WriteString(members)
		return
	}
	out.WriteString("[" + negate + members + "]")
}
