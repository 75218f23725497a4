package module

import (
	"bytes"
	"fmt"
	"strings"
)

// config is what a .luaurc says that matters to require.
type config struct {
	aliases map[string]aliasValue // by folded name
	names   []string              // as written, in order
}

type aliasValue struct {
	value string
	line  int
}

// configError is a mistake in a .luaurc.
type configError struct {
	line, column int
	message      string
}

func (e *configError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.message)
}

// maxConfigDepth bounds recursion; what Luau knows is two levels deep.
const maxConfigDepth = 16

// parseConfig reads a .luaurc as Luau does: JSON objects of strings, booleans
// and arrays of strings, with // comments and trailing commas. Keys that Luau
// does not know are errors, there as here. The error is a *configError.
func parseConfig(text []byte) (c *config, err error) {
	p := &configParser{lexer: configLexer{text: text}, out: &config{aliases: map[string]aliasValue{}}}
	if bytes.HasPrefix(text, utf8Mark) {
		p.lexer.at = len(utf8Mark)
	}
	if bad := p.file(); bad != nil {
		return nil, bad
	}
	return p.out, nil
}

type configParser struct {
	lexer configLexer
	now   configToken
	out   *config
}

func (p *configParser) file() *configError {
	if err := p.next(); err != nil {
		return err
	}
	if p.now.kind != '{' {
		return p.expected(`"{"`)
	}
	if err := p.object(nil); err != nil {
		return err
	}
	if p.now.kind != tokenEnd {
		return p.expected("end of file")
	}
	return nil
}

// object reads from "{" to behind "}".
func (p *configParser) object(keys []string) *configError {
	if len(keys) >= maxConfigDepth {
		return p.fail(p.now, "objects are nested too deeply")
	}
	if err := p.next(); err != nil {
		return err
	}
	for p.now.kind != '}' {
		if p.now.kind != tokenString {
			return p.expected(`a key in quotes or "}"`)
		}
		key := p.now
		if err := p.next(); err != nil {
			return err
		}
		if p.now.kind != ':' {
			return p.expected(`":"`)
		}
		if err := p.next(); err != nil {
			return err
		}
		if err := p.value(append(keys[:len(keys):len(keys)], key.text), key); err != nil {
			return err
		}
		if p.now.kind == ',' {
			if err := p.next(); err != nil {
				return err
			}
		} else if p.now.kind != '}' {
			return p.expected(`"," or "}"`)
		}
	}
	return p.next()
}

func (p *configParser) value(keys []string, key configToken) *configError {
	switch {
	case p.now.kind == '{':
		return p.object(keys)
	case p.now.kind == '[':
		return p.array(keys, key)
	case p.now.isScalar():
		if err := p.set(keys, key, p.now); err != nil {
			return err
		}
		return p.next()
	}
	return p.expected("a string, true, false, an object or an array")
}

func (p *configParser) array(keys []string, key configToken) *configError {
	if err := p.next(); err != nil {
		return err
	}
	for p.now.kind != ']' {
		if p.now.kind != tokenString {
			return p.expected(`a string or "]"`)
		}
		if err := p.set(keys, key, p.now); err != nil {
			return err
		}
		if err := p.next(); err != nil {
			return err
		}
		if p.now.kind == ',' {
			if err := p.next(); err != nil {
				return err
			}
		} else if p.now.kind != ']' {
			return p.expected(`"," or "]"`)
		}
	}
	return p.next()
}

// set takes one setting. Only aliases are kept; the rest is for the checker.
func (p *configParser) set(keys []string, key, value configToken) *configError {
	switch whole := strings.Join(keys, "/"); {
	case whole == "languageMode":
		return p.oneOf(value, "nocheck", "nonstrict", "strict")
	case whole == "lintErrors", whole == "typeErrors", len(keys) == 2 && keys[0] == "lint":
		return p.oneOf(value, "true", "false")
	case whole == "globals":
		return nil
	case len(keys) == 2 && keys[0] == "aliases":
		return p.alias(key, value)
	default:
		message := fmt.Sprintf("unknown key %q", whole)
		if found := closest(keys[0], []string{"aliases", "globals", "languageMode", "lint", "lintErrors", "typeErrors"}); len(found) > 0 {
			message += "; " + didYouMean(found)
		}
		return p.fail(key, message)
	}
}

func (p *configParser) oneOf(value configToken, allowed ...string) *configError {
	for _, one := range allowed {
		if value.text == one {
			return nil
		}
	}
	return p.fail(value, fmt.Sprintf("%s is not one of %s", value, strings.Join(allowed, ", ")))
}

func (p *configParser) alias(key, value configToken) *configError {
	if !isAlias(key.text) {
		return p.fail(key, fmt.Sprintf(`%s cannot be an alias; use letters, digits, "-", "_" and "."`, key))
	}
	if value.kind != tokenString || value.text == "" {
		return p.fail(value, "the value of an alias is a path in quotes")
	}
	folded := lower(key.text)
	if earlier, ok := p.out.aliases[folded]; ok {
		return p.fail(key, fmt.Sprintf("alias %s is already given in line %d; upper and lower case are the same", key, earlier.line))
	}
	line, _ := position(p.lexer.text, key.at)
	p.out.aliases[folded] = aliasValue{value.text, line}
	p.out.names = append(p.out.names, key.text)
	return nil
}

// isAlias is Luau's rule for the names of aliases.
func isAlias(name string) bool {
	rest := strings.TrimPrefix(name, "@")
	if name == "" || name == "." || name == ".." {
		return false
	}
	for _, c := range []byte(rest) {
		isLetter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !isLetter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func (p *configParser) next() *configError {
	var message string
	if p.now, message = p.lexer.next(); message != "" {
		return p.fail(p.now, message)
	}
	return nil
}

func (p *configParser) expected(what string) *configError {
	return p.fail(p.now, fmt.Sprintf("expected %s, got %s", what, p.now))
}

func (p *configParser) fail(at configToken, message string) *configError {
	line, column := position(p.lexer.text, at.at)
	return &configError{line, column, message}
}
