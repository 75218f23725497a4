// Command docgen writes docs/reference: a page for each module of the SDK, one for the functions of the
// host and one for the command line, all from what the sources say. `make docs` runs it. It is no part of
// the luau command.
package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docgen FOLDER")
		os.Exit(2)
	}
	written, err := write(os.Args[1])
	for _, path := range written {
		fmt.Println("written", path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// write makes the folder hold the pages, and no other ones. It gives those that are new or changed.
func write(folder string) (written []string, err error) {
	pages, err := pages()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, path := range old {
		if _, kept := pages[filepath.Base(path)]; !kept {
			if err := os.Remove(path); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		path := filepath.Join(folder, name)
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, pages[name]) {
			continue
		}
		if err := os.WriteFile(path, pages[name], 0o644); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// fileName is the page of a module.
func fileName(module string) string { return strings.ReplaceAll(module, "/", "-") + ".md" }
