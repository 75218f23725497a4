package typecheck_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/typecheck"
)

var update = flag.Bool("update", false, "write what the checker says into testdata")

// says is what stands under each script.
func says(findings []typecheck.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%d:%d %s %s: %s\n", f.Line, f.Column, f.Severity, f.Kind, f.Text())
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// Every script of testdata/messages.txt with what is said about it.
func TestMessages(t *testing.T) {
	const file, between, mark = "testdata/messages.txt", "\n----\n", "\n=>\n"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	c, seen := checker(t, typecheck.Options{})
	var written []string
	for _, block := range strings.Split(strings.TrimSuffix(string(text), "\n"), between) {
		script, want, _ := strings.Cut(block, mark)
		findings, err := c.Check(context.Background(), typecheck.Request{
			Source: script, Definitions: definitions,
			Modules: typecheck.Modules{ID: "test", Resolve: noModules, Names: []string{"async", "json", "http"}},
		})
		require.NoError(t, err, script)
		got := says(findings)
		written = append(written, script+mark+strings.TrimSuffix(got, "\n"))
		for _, f := range findings {
			require.NotContains(t, f.Text(), "\n")
			require.LessOrEqual(t, len(f.Text()), 500)
		}
		if !*update {
			require.Equal(t, want+"\n", got, script)
		}
	}
	require.Greater(t, len(written), 45)
	require.Equal(t, 1, seen.count(), "one process for all")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(written, between)+"\n"), 0o644))
	}
}

func noModules(_, name string) (string, string, error) {
	return "", "", errors.New("there is no such module")
}
