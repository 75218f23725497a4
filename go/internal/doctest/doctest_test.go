// Package doctest runs the documents: every block of code on every page is run, compiled or, where it builds
// the project itself, looked at. CONTRIBUTING.md says how a page is written for it.
package doctest

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/cli"
	"github.com/hukilau/hukilau/go/internal/cli/hostedcmd"
	"github.com/hukilau/hukilau/go/internal/gateway/supervise/supervisor"
)

// The test binary is the program itself when it is started as `luau`.
func TestMain(m *testing.M) {
	supervisor.Main(os.Args) // of a server that a page's gateway starts
	testscript.Main(m, map[string]func(){"luau": func() {
		hostedcmd.HandOver = handOver
		os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}})
}

// withoutGo says whether Go programs are left out: a sanitized build cannot be linked into them, and a
// second build of the binding is slow.
func withoutGo() bool { return testing.Short() }

func treeRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	return root
}

// pages are all documents, by their paths from the root.
func pages(t *testing.T, root string) (list []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/tools/*.md", "examples/tools/*/*.md", "examples/gateway/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, path := range found {
			name, err := filepath.Rel(root, path)
			require.NoError(t, err)
			list = append(list, filepath.ToSlash(name))
		}
	}
	return list
}

func TestPages(t *testing.T) {
	root := treeRoot(t)
	list := pages(t, root)
	require.Subset(t, list, []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/guide/README.md", "examples/tools/weather/README.md", "examples/gateway/README.md"})
	for _, path := range list {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			p, faults, err := readPage(root, path)
			require.NoError(t, err)
			r := newRunner(t, root, p)
			require.NoError(t, r.begin())
			r.run()
			report(t, path, faults, r.faults, brokenLinks(root, p))
		})
	}
}

func report(t *testing.T, path string, lists ...[]fault) {
	t.Helper()
	for _, list := range lists {
		for _, f := range list {
			t.Errorf("%s:%d: %s", path, f.line, f.text)
		}
	}
}

// brokenLinks are links within the tree to what is not there.
func brokenLinks(root string, p *page) (faults []fault) {
	for _, l := range p.links {
		to, err := url.Parse(l.to)
		if err != nil {
			faults = append(faults, fault{l.line, err.Error()})
			continue
		}
		if to.Scheme != "" {
			continue
		}
		target := p
		if to.Path != "" {
			path := filepath.Join(filepath.Dir(p.path), filepath.FromSlash(to.Path))
			if err := mustExist(root, path); err != nil {
				faults = append(faults, fault{l.line, err.Error()})
				continue
			}
			if !strings.HasSuffix(path, ".md") {
				continue
			}
			if target, _, err = readPage(root, path); err != nil {
				faults = append(faults, fault{l.line, err.Error()})
				continue
			}
		}
		if to.Fragment != "" && !target.anchor[to.Fragment] {
			faults = append(faults, fault{l.line, l.to + ": no such heading"})
		}
	}
	return faults
}

// The index of the guide leads to each of its pages.
func TestGuideIndex(t *testing.T) {
	root := treeRoot(t)
	index, _, err := readPage(root, "docs/guide/README.md")
	require.NoError(t, err)
	linked := map[string]bool{}
	for _, l := range index.links {
		linked["docs/guide/"+l.to] = true
	}
	for _, path := range pages(t, root) {
		if strings.HasPrefix(path, "docs/guide/") && path != index.path {
			require.True(t, linked[path], "docs/guide/README.md has no link to %s", path)
		}
	}
}

// The guide has each code that a call can end with.
func TestErrorCodes(t *testing.T) {
	root := treeRoot(t)
	source, err := os.ReadFile(filepath.Join(root, "go/internal/toolhost/error.go"))
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs/guide/serving.md"))
	require.NoError(t, err)
	codes := regexp.MustCompile(`\bCode = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	require.Greater(t, len(codes), 10)
	for _, code := range codes {
		require.Contains(t, string(page), "`"+code[1]+"`", "docs/guide/serving.md")
	}
}
