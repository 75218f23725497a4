package finder

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// ListOptions is what a page may hold. The zero value is the first page of all functions.
type ListOptions struct {
	Source string // only of this one, in either spelling; "" is of all
	Tag    string // only with this one; "" is with any or none
	Text   string // only with all of these words in the name or the description
	Cursor string // Next of the page before; "" is the first page
	Limit  int    // functions; 0 is DefaultPage
}

// Sizes of a page.
const (
	DefaultPage = 50
	maxPage     = 500
)

// Page is a part of a list.
type Page struct {
	Functions []*catalog.Callable
	Total     int    // of all pages
	Next      string // the cursor of the next page; "" is none
}

// ErrCursor is what List gives for a cursor that is none of its own.
var ErrCursor = errors.New("this cursor is none that a list gave: leave it out to begin anew")

const cursorMark = "after:"

// List gives functions by their names in pages. A cursor stays good when the catalogue changes.
func (i *Index) List(o ListOptions) (Page, error) {
	after, err := readCursor(o.Cursor)
	if err != nil {
		return Page{}, err
	}
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultPage
	}
	limit = min(limit, maxPage)
	keep := i.listed(o)
	var page Page
	for _, f := range i.sorted() {
		if !keep(f) {
			continue
		}
		page.Total++
		if after != "" && byName(f) <= after {
			continue
		}
		if len(page.Functions) < limit {
			page.Functions = append(page.Functions, f)
		} else if page.Next == "" {
			page.Next = base64.RawURLEncoding.EncodeToString([]byte(cursorMark + byName(page.Functions[limit-1])))
		}
	}
	return page, nil
}

func readCursor(cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	after, found := strings.CutPrefix(string(data), cursorMark)
	if err != nil || !found || after == "" {
		return "", ErrCursor
	}
	return after, nil
}

func (i *Index) listed(o ListOptions) func(*catalog.Callable) bool {
	chosen := among(i.catalog, o.Source, o.Tag)
	asked := strings.Fields(strings.ToLower(o.Text))
	return func(f *catalog.Callable) bool {
		if !chosen(f) {
			return false
		}
		if len(asked) == 0 {
			return true
		}
		text := strings.ToLower(f.Ident + " " + f.Name + " " + f.Title + " " + f.Description)
		return !slices.ContainsFunc(asked, func(word string) bool { return !strings.Contains(text, word) })
	}
}

// byName is what functions are sorted by: the source, then the function.
func byName(f *catalog.Callable) string { return f.Scope.Ident + "\x00" + f.Ident }

func sortedByName(c *catalog.Catalog) []*catalog.Callable {
	list := make([]*catalog.Callable, 0, c.Len())
	for _, s := range c.Sources() {
		list = append(list, s.Callables...)
	}
	slices.SortFunc(list, func(a, b *catalog.Callable) int {
		if a.Scope != b.Scope {
			return strings.Compare(a.Scope.Ident, b.Scope.Ident)
		}
		return strings.Compare(a.Ident, b.Ident)
	})
	return list
}
