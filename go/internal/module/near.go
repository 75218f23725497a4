package module

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

const (
	maxListed    = 2000 // names of a directory that are looked at for a suggestion
	maxSuggested = 3
)

// moduleNames and wholeNames say what a suggestion is made of: the names that
// require takes, or file names.
const (
	moduleNames = true
	wholeNames  = false
)

// near lists the names in a directory that differ from name by case or one edit.
func near(files FS, dir, name string, modules bool) []string {
	listed, err := files.Names(dir, maxListed)
	if err != nil {
		return nil // a suggestion is an extra
	}
	if !modules {
		return closest(name, listed)
	}
	// Other files are none of a script's business, not even their names.
	isModule := map[string]bool{}
	for i, entry := range listed {
		base, known := cutExtension(entry)
		listed[i] = base
		isModule[base] = isModule[base] || known
	}
	return slices.DeleteFunc(closest(name, listed), func(found string) bool {
		if isModule[found] {
			return false
		}
		info, err := files.Stat(path.Join(dir, found))
		return err != nil || !info.IsDir()
	})
}

// closest picks the names that differ from name by case, then those that differ
// by one edit. It never returns name itself.
func closest(name string, among []string) []string {
	var byCase, byEdit []string
	for _, other := range among {
		switch {
		case other == name || strings.HasPrefix(other, "."):
		case strings.EqualFold(other, name):
			byCase = append(byCase, other)
		case len(name) > 2 && spelling.Distance(strings.ToLower(name), strings.ToLower(other), 1) <= 1:
			byEdit = append(byEdit, other)
		}
	}
	slices.Sort(byCase)
	slices.Sort(byEdit)
	found := slices.Compact(append(byCase, byEdit...))
	return found[:min(len(found), maxSuggested)]
}

func prefixed(prefix string, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = prefix + name
	}
	return out
}

// didYouMean words a suggestion; without names it is empty.
func didYouMean(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	switch len(quoted) {
	case 0:
		return ""
	case 1:
		return "did you mean " + quoted[0] + "?"
	}
	last := len(quoted) - 1
	return fmt.Sprintf("did you mean %s or %s?", strings.Join(quoted[:last], ", "), quoted[last])
}
