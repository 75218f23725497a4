package module

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

const (
	configName     = ".luaurc"
	luauConfigName = ".config.luau"
	maxConfig      = 1 << 20
)

// splitAlias cuts "@name/rest" into the alias, with its case folded, and the rest.
func splitAlias(name string) (alias, rest string) {
	alias, rest, _ = strings.Cut(name[1:], "/")
	return lower(alias), rest
}

// toAliased goes where "@alias/rest" leads from the requiring module.
func (n *navigator) toAliased(name string) *Error {
	alias, rest := splitAlias(name)
	if alias != "self" {
		search := &aliasSearch{}
		config, err := n.findAlias(alias, search)
		if err == nil {
			err = n.followAlias(alias, config, search)
		}
		if err != nil {
			return err
		}
	}
	return n.through(rest)
}

// aliasSearch collects what was seen on the way up, for the error's sake.
type aliasSearch struct {
	chain   []string // aliases being followed, outermost first
	configs []string // .luaurc files without the alias
	luau    []string // .config.luau files, which are not run
	known   []string // aliases of those files
}

// findAlias goes up to the nearest directory whose .luaurc defines the alias.
// It starts above the present place: an init file's own directory is not asked.
func (n *navigator) findAlias(alias string, seen *aliasSearch) (*config, *Error) {
	for n.at != "/" {
		n.at = path.Dir(n.at)
		c, err := n.readConfig(n.at)
		if err != nil {
			return nil, err
		}
		if c != nil {
			if _, ok := c.aliases[alias]; ok {
				return c, nil
			}
			seen.configs = append(seen.configs, n.show(path.Join(n.at, configName)))
			seen.known = append(seen.known, c.names...)
		}
		if file := path.Join(n.at, luauConfigName); n.isFile(file) {
			seen.luau = append(seen.luau, n.show(file))
		}
	}
	return nil, unknownAlias(alias, seen)
}

// followAlias goes where the alias of a config leads; the present place is the
// directory of that config.
func (n *navigator) followAlias(alias string, c *config, seen *aliasSearch) *Error {
	value := c.aliases[alias].value
	switch {
	case strings.HasPrefix(value, "@"):
		return n.followChain(alias, value, c, seen)
	case strings.HasPrefix(value, "/"):
		at := modulePath(path.Clean(value))
		if at != "/" && !n.exists(at) {
			err := n.lost(at)
			err.Message = fmt.Sprintf("could not jump to alias %q", value)
			err.Hint = fmt.Sprintf("correct @%s in .luaurc", alias)
			return err
		}
		n.at = at
		return nil
	}
	config := n.show(path.Join(n.at, configName))
	if err := n.through(value); err != nil {
		err.Details = append(err.Details, fmt.Sprintf("on the way to @%s = %q of %s", alias, value, config))
		return err
	}
	return nil
}

// followChain handles an alias whose value starts with another alias: of the
// same file first, then of the files above it.
func (n *navigator) followChain(alias, value string, c *config, seen *aliasSearch) *Error {
	if start := slices.Index(seen.chain, alias); start >= 0 {
		cycle := append(slices.Clone(seen.chain[start:]), alias)
		return &Error{
			Code:    CodeConfig,
			Message: fmt.Sprintf("detected alias cycle (@%s)", strings.Join(cycle, " -> @")),
			Details: []string{"in " + n.show(path.Join(n.at, configName))},
			Hint:    "let one of them name a directory",
		}
	}
	seen.chain = append(seen.chain, alias)
	next, rest := splitAlias(value)
	var err *Error
	if _, ok := c.aliases[next]; !ok {
		above := &aliasSearch{configs: []string{n.show(path.Join(n.at, configName))}, known: c.names}
		if c, err = n.findAlias(next, above); err != nil {
			err.Details = append(err.Details, fmt.Sprintf("on the way to @%s = %q", alias, value))
			return err
		}
		seen = above // going up only, a chain cannot come back to the files below
	}
	if err = n.followAlias(next, c, seen); err != nil {
		return err
	}
	return n.through(rest)
}

// readConfig reads the .luaurc of a directory; without one it returns nil.
func (n *navigator) readConfig(dir string) (*config, *Error) {
	file := path.Join(dir, configName)
	info, err := n.in.files.Stat(file)
	if err != nil && (isAbsent(err) || errors.Is(err, ErrOutside)) || err == nil && info.IsDir() {
		return nil, nil
	}
	text, bad := readFile(n.in.files, file, maxConfig, fileOnly, 0)
	if bad != nil {
		bad.Message = "a .luaurc cannot be read: " + bad.Message
		bad.Hint = ""
		bad.Details = append(bad.Details, "in "+n.show(file))
		return nil, bad
	}
	c, err := parseConfig(text)
	if err != nil {
		var at *configError
		errors.As(err, &at)
		return nil, &Error{
			Code:    CodeConfig,
			Message: "bad .luaurc: " + at.message,
			Details: []string{fmt.Sprintf("at %s:%d:%d", n.show(file), at.line, at.column)},
			Err:     err,
		}
	}
	return c, nil
}

func unknownAlias(alias string, seen *aliasSearch) *Error {
	e := &Error{Code: CodeNotFound, Message: fmt.Sprintf("@%s is not a valid alias", alias)}
	switch {
	case alias == "self":
		e.Hint = `@self is the requiring module and no part of an alias; write "./" for the directory of the .luaurc`
		return e
	case len(seen.configs) == 0:
		e.Details = append(e.Details, "there is no .luaurc in the directory of the requiring module or above it")
	case len(seen.known) == 0:
		e.Details = append(e.Details, "no aliases in "+strings.Join(seen.configs, ", "))
	default:
		e.Details = append(e.Details, fmt.Sprintf("%s: only @%s", strings.Join(seen.configs, ", "), listed(seen.known)))
	}
	if len(seen.luau) > 0 {
		e.Details = append(e.Details, "not read, as it would have to be run: "+strings.Join(seen.luau, ", "))
		e.Hint = "write its aliases into a .luaurc beside it"
		return e
	}
	if !isAlias(alias) {
		e.Hint = `an alias has letters, digits, "-", "_" and "."; the module directory itself is @self`
		return e
	}
	e.Hint = fmt.Sprintf(`add it to a .luaurc: {"aliases": {%q: "./directory"}}`, alias)
	if found := closest(alias, seen.known); len(found) > 0 {
		e.Hint = didYouMean(prefixed("@", found))
	}
	return e
}

// listed joins the names of aliases; of very many it says how many there are.
func listed(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", @"), len(names)-most)
	}
	return strings.Join(names, ", @")
}
