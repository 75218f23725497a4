package regexmod

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Going on from the middle of a text must find what a search over the whole text finds.
func TestSearchAgreesWithTheStandardLibrary(t *testing.T) {
	patterns := []string{
		`a`, `a*`, `a*?`, `(a)|b`, `\ba`, `a\b`, `\B`, `^a`, `(?m)^a*`, `(?m)a$`, `\z`, `ä|ö`, `(?i)ÄB`, `[^a]b?`, `(a(b)?)+`,
		`(?s).`, `.`, `$`, ``, `ab|a`, `(?P<x>a)(?P<y>b)?`, `\pL+`, `\Qa.\E`, `\Qa`, `(?U)a+b*`, `(?:a|b){2}`, `a(?i)b`, `b\x{fffd}?`,
	}
	compiled := map[string]*pattern{}
	for _, text := range patterns {
		p, err := compile(text)
		require.NoError(t, err, text)
		compiled[text] = p
	}
	rapid.Check(t, func(t *rapid.T) {
		subject := strings.Join(rapid.SliceOfN(rapid.SampledFrom(
			[]string{"a", "b", "ab", "ä", "Ö", "\n", " ", ".", "\xff", "\xe2\x82", "€"}), 0, 12).Draw(t, "subject"), "")
		for text, p := range compiled {
			for _, heavy := range []bool{false, true} {
				requireSame(t, text, *p, heavy, []byte(subject))
			}
		}
	})
}

func requireSame(t *rapid.T, text string, p pattern, heavy bool, subject []byte) {
	want := regexp.MustCompile(text).FindAllSubmatchIndex(subject, -1)
	if heavy { // as if it were too much to search at once
		p.size = maxAtOnce * 2
	}
	s := search{ctx: context.Background(), pattern: &p, subject: subject}
	var got [][]int
	err := s.each(1000, func(match []int) error {
		got = append(got, append([]int{}, match...))
		return nil
	})
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%q in %q: got %v (%v), want %v", text, subject, got, err, want)
	}
}

// Each of these takes far longer than a test may. The bounds are far above what is seen (0.1 s).
func TestSearchEndsWithItsContext(t *testing.T) {
	long := []byte(strings.Repeat("a", 10<<20))
	for name, test := range map[string]struct {
		pattern string
		run     func(*search) error
	}{
		"one match": {`(?:(?:a?){20}){20}b`, func(s *search) error { _, err := s.next(0); return err }},
		"quadratic": {`a(?:.*b)?`, func(s *search) error { return s.each(1<<30, func([]int) error { return nil }) }},
		"many":      {`a\b|`, func(s *search) error { return s.each(1<<30, func([]int) error { return nil }) }},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := compile(test.pattern)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			started := time.Now()
			require.ErrorIs(t, test.run(&search{ctx: ctx, pattern: p, subject: long}), context.DeadlineExceeded)
			require.Less(t, time.Since(started), 3*time.Second)
			t.Log(time.Since(started))
		})
	}
}

func TestPatternsAreBounded(t *testing.T) {
	for text, code := range map[string]string{
		strings.Repeat("a", maxText+1): "limit", `(?:[a-z]{100}){10}(?:[a-z]{100}){100}`: "regex", `(?:a{30}){30}`: "",
		strings.Repeat("a{900}", 12): "limit", strings.Repeat(`(?:\pL{30}){30}`, 12): "limit",
		strings.Repeat("(", 1001) + strings.Repeat(")", 1001): "regex", `(a`: "regex", `a**`: "regex", `(?=a)`: "regex", `\1`: "regex",
	} {
		_, err := compile(text)
		if code == "" {
			require.NoError(t, err, text)
			continue
		}
		require.Error(t, err, "%.50s", text)
		require.Equal(t, code, err.(interface{ ErrorCode() string }).ErrorCode(), "%.50s: %v", text, err)
	}
}

// The pattern nested as deeply as the parser allows cannot be put inside another; that must be an error.
func TestDeepestPattern(t *testing.T) {
	p, err := compile(strings.Repeat("(?:", 499) + "[ac]" + strings.Repeat("b)?", 499))
	require.NoError(t, err)
	s := search{ctx: context.Background(), pattern: p, subject: []byte("abb")}
	require.ErrorContains(t, s.each(10, func([]int) error { return nil }), "nests too deeply")
}

func TestCacheIsBounded(t *testing.T) {
	c := cache{}
	for n := range 20_000 {
		_, err := c.get(fmt.Sprintf("a{%d}b%d", n%50, n))
		require.NoError(t, err)
		require.LessOrEqual(t, c.held, maxCached)
	}
	require.Equal(t, len(c.entries), c.recent.Len())
	require.Less(t, len(c.entries), maxCached/20)
	first, err := c.get("kept")
	require.NoError(t, err)
	for n := range 3000 {
		_, err = c.get(fmt.Sprintf("x%d", n))
		require.NoError(t, err)
		again, err := c.get("kept")
		require.NoError(t, err)
		require.Same(t, first, again, "what is used stays")
	}
}
