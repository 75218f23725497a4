package fsmod

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
)

// glob is a pattern for paths below a directory. Each of its alternatives is a list of parts: one for
// a path's part, as path.Match has them, or "**" for any number of them. It is run as an automaton
// over the parts of a path: backtracking would take for ever on patterns made for that.
type glob struct{ alternatives [][]string }

const (
	anyDepth        = "**"
	maxGlob         = 1024 // bytes
	maxAlternatives = 64
	maxParts        = 64
)

// parseGlob gives the pattern, or what is wrong with it as a sentence about the argument.
func parseGlob(text string) (glob, string) {
	switch {
	case text == "":
		return glob{}, "must not be empty"
	case len(text) > maxGlob:
		return glob{}, fmt.Sprintf("must have at most %d bytes", maxGlob)
	case strings.HasPrefix(text, "/"):
		return glob{}, `must be a pattern for paths below the directory, which do not begin with "/"`
	}
	list, problem := expand(text)
	if problem != "" {
		return glob{}, problem
	}
	g := glob{}
	for _, alternative := range list {
		parts := []string{}
		for part := range strings.SplitSeq(alternative, "/") {
			if part == ".." {
				return glob{}, `must not contain ".."`
			}
			if _, err := path.Match(part, ""); err != nil {
				return glob{}, "is not a pattern: " + part
			}
			repeated := part == anyDepth && len(parts) > 0 && parts[len(parts)-1] == anyDepth
			if part != "" && part != "." && !repeated {
				parts = append(parts, part)
			}
		}
		if len(parts) > maxParts {
			return glob{}, fmt.Sprintf("has more than %d parts", maxParts)
		}
		g.alternatives = append(g.alternatives, parts)
	}
	return g, ""
}

// expand writes out each {a,b}.
func expand(text string) ([]string, string) {
	done, todo := []string{}, []string{text}
	for len(todo) > 0 {
		if len(done)+len(todo) > maxAlternatives {
			return nil, fmt.Sprintf("has more than %d alternatives", maxAlternatives)
		}
		next := todo[0]
		todo = todo[1:]
		open := indexOutside(next, '{')
		if open < 0 {
			done = append(done, next)
			continue
		}
		before, rest := next[:open], next[open+1:]
		choices, after, ok := choicesOf(rest)
		if !ok {
			return nil, `has a "{" without its "}"`
		}
		for _, choice := range choices {
			todo = append(todo, before+choice+after)
		}
	}
	return done, ""
}

// outside are the bytes that are neither escaped nor in a [class], with their places.
func outside(text string) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		class := false
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case c == '\\':
				i++
			case c == '[':
				class = true
			case c == ']':
				class = false
			case !class && !yield(i, c):
				return
			}
		}
	}
}

// indexOutside finds a character that is outside of classes and not escaped.
func indexOutside(text string, wanted byte) int {
	for i, c := range outside(text) {
		if c == wanted {
			return i
		}
	}
	return -1
}

// choicesOf splits what stands behind a "{" at the commas of its own level, up to its "}".
func choicesOf(text string) (choices []string, after string, ok bool) {
	depth, begin := 0, 0
	for i, c := range outside(text) {
		switch {
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}':
			return append(choices, text[begin:i]), text[i+1:], true
		case c == ',' && depth == 0:
			choices = append(choices, text[begin:i])
			begin = i + 1
		}
	}
	return nil, "", false
}

// states are where in a pattern one may be after some parts of a path.
type states struct {
	of glob
	at []state
}

type state struct{ alternative, part int }

// start is the states before the first part.
func (g glob) start() states {
	s := states{of: g}
	for i := range g.alternatives {
		s.enter(state{i, 0})
	}
	return s
}

// enter adds a state, and those that it is without another part of the path.
func (s *states) enter(at state) {
	if slices.Contains(s.at, at) {
		return
	}
	s.at = append(s.at, at)
	if parts := s.of.alternatives[at.alternative]; at.part < len(parts) && parts[at.part] == anyDepth {
		s.enter(state{at.alternative, at.part + 1})
	}
}

// step is the states after one more part of the path.
func (s states) step(name string) states {
	next := states{of: s.of}
	for _, at := range s.at {
		parts := s.of.alternatives[at.alternative]
		if at.part == len(parts) {
			continue
		}
		if parts[at.part] == anyDepth {
			next.enter(at)
		} else if matched, _ := path.Match(parts[at.part], name); matched {
			next.enter(state{at.alternative, at.part + 1})
		}
	}
	return next
}

// accept says whether the path so far matches.
func (s states) accept() bool {
	return slices.ContainsFunc(s.at, func(at state) bool { return at.part == len(s.of.alternatives[at.alternative]) })
}

// open says whether something below may match.
func (s states) open() bool {
	return slices.ContainsFunc(s.at, func(at state) bool { return at.part < len(s.of.alternatives[at.alternative]) })
}
