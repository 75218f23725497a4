package main

import (
	"bytes"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

var (
	blocks  = regexp.MustCompile("(?ms)^```luau( no-run)?\n(.*?)^```$")
	printed = regexp.MustCompile(`--> ?(.*)`)
)

// All Luau on the pages compiles; what is not marked otherwise runs, and prints what stands behind -->
// in it, where it says so.
func TestExamples(t *testing.T) {
	all, err := pages()
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	ran := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, block := range blocks.FindAllStringSubmatch(string(all[name]), -1) {
			if _, err := luau.Compile("="+name, block[2], luau.CompileOptions{}); !assert.NoError(t, err, "%s:\n%s", name, block[2]) {
				continue
			}
			if block[1] == "" {
				runs(t, name, block[2])
				ran++
			}
		}
	}
	require.Greater(t, ran, 80)
}

func runs(t *testing.T, page, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	s := app.Script{Path: page, Text: &text}
	s.Grants.All, s.Stdout, s.Stderr = true, &out, &errs
	_, err := app.Run(ctx, s)
	if err != nil {
		t.Errorf("%s:\n%s\n%s%s", page, text, app.Report(err, false), errs.String())
		return
	}
	var want []string
	for _, line := range printed.FindAllStringSubmatch(text, -1) {
		want = append(want, line[1])
	}
	if want != nil {
		assert.Equal(t, want, strings.Split(strings.TrimRight(out.String(), "\n"), "\n"), "%s:\n%s", page, text)
	}
}
