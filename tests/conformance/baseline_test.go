package conformance

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed baseline.txt
var baselineText []byte

// baseline says which scripts are expected to pass whole, which without some lines, and which not.
type baseline map[string]*expectation

type expectation struct {
	fails string // why the script cannot pass; empty when it must
	cuts  []cut
}

// cut is a range of lines that is left out, both ends included.
type cut struct {
	from, to int
	reason   string
}

func (c cut) String() string { return fmt.Sprintf("%d-%d", c.from, c.to) }

// parseBaseline reads lines of `pass SCRIPT`, `fail SCRIPT REASON` and `cut SCRIPT FROM-TO REASON`.
func parseBaseline(text []byte) (baseline, error) {
	list := baseline{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if words := strings.Fields(lines.Text()); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			if err := list.add(words); err != nil {
				return nil, fmt.Errorf("baseline.txt:%d: %w", n, err)
			}
		}
	}
	return list, lines.Err()
}

func (b baseline) add(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("%q names no script", words[0])
	}
	kind, script := words[0], words[1]
	known := b[script]
	if kind == "cut" {
		if known == nil || known.fails != "" {
			return fmt.Errorf("a cut of %s needs a line `pass %[1]s` before it", script)
		}
		c, err := parseCut(words[2:])
		if err == nil && len(known.cuts) > 0 && c.from <= known.cuts[len(known.cuts)-1].to {
			err = fmt.Errorf("cut %v is not behind the one before it", c)
		}
		known.cuts = append(known.cuts, c)
		return err
	}
	if known != nil {
		return fmt.Errorf("%s is listed twice", script)
	}
	reason := strings.Join(words[2:], " ")
	if kind == "pass" && reason == "" || kind == "fail" && reason != "" {
		b[script] = &expectation{fails: reason}
		return nil
	}
	return fmt.Errorf("want `pass SCRIPT`, `fail SCRIPT REASON` or `cut SCRIPT FROM-TO REASON`, got %q", strings.Join(words, " "))
}

func parseCut(words []string) (cut, error) {
	if len(words) < 2 {
		return cut{}, fmt.Errorf("a cut needs lines and a reason")
	}
	first, last, isRange := strings.Cut(words[0], "-")
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return cut{}, err
	}
	to, err := strconv.Atoi(last)
	if err == nil && (from < 1 || to < from) {
		err = fmt.Errorf("no lines: %s", words[0])
	}
	return cut{from, to, strings.Join(words[1:], " ")}, err
}

// without gives the source with the lines of the cuts empty, so that all others keep their numbers.
func without(source string, cuts []cut) string {
	lines := strings.Split(source, "\n")
	for _, c := range cuts {
		for i := c.from; i <= c.to && i <= len(lines); i++ {
			lines[i-1] = ""
		}
	}
	return strings.Join(lines, "\n")
}

func TestBaselineIsRefused(t *testing.T) {
	for _, text := range []string{
		"pass", "pass a.luau because", "fail a.luau", "skip a.luau x", "pass a.luau\nfail a.luau x",
		"cut a.luau 1-2 x", "fail a.luau x\ncut a.luau 1-2 x", "pass a.luau\ncut a.luau 3-2 x",
		"pass a.luau\ncut a.luau 1-2", "pass a.luau\ncut a.luau one x", "pass a.luau\ncut a.luau 5-9 x\ncut a.luau 9 y",
	} {
		_, err := parseBaseline([]byte(text))
		require.Error(t, err, "%q", text)
	}
}

func TestWithoutKeepsLineNumbers(t *testing.T) {
	require.Equal(t, "a\n\n\nd\n", without("a\nb\nc\nd\n", []cut{{from: 2, to: 3}}))
	require.Equal(t, "a\nb\nc\n\n", without("a\nb\nc\nd\n", []cut{{from: 4, to: 9}}))
	require.Equal(t, "a", without("a", nil))
	require.Equal(t, []cut{{2, 3, "why so"}}, func() []cut {
		list, err := parseBaseline([]byte("# text\n\npass a.luau\ncut a.luau 2-3 why so\n"))
		require.NoError(t, err)
		return slices.Clone(list["a.luau"].cuts)
	}())
}
