package finder

import (
	"slices"
	"testing"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sortedStrings(list []string) []string {
	slices.Sort(list)
	return list
}

func pageNames(t *testing.T, i *Index, o ListOptions) []string {
	t.Helper()
	page, err := i.List(o)
	require.NoError(t, err)
	var names []string
	for _, f := range page.Functions {
		names = append(names, f.FullName())
	}
	assert.GreaterOrEqual(t, page.Total, len(names))
	return names
}

func TestListInPages(t *testing.T) {
	c := catalogue(t)
	i := New(c)
	for _, limit := range []int{1, 7, 60, 1_000} {
		var all []string
		cursor, pages := "", 0
		for {
			page, err := i.List(ListOptions{Limit: limit, Cursor: cursor})
			require.NoError(t, err)
			require.Equal(t, c.Len(), page.Total)
			for _, f := range page.Functions {
				all = append(all, f.FullName())
			}
			pages++
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		require.Len(t, all, c.Len())
		require.Equal(t, (c.Len()+limit-1)/limit, pages)
		require.Len(t, slices.Compact(slices.Clone(all)), len(all))
	}
}

func TestListFilters(t *testing.T) {
	i := New(catalogue(t))
	assert.Len(t, pageNames(t, i, ListOptions{Source: "petstore"}), 8)
	assert.Len(t, pageNames(t, i, ListOptions{Source: "petstore", Tag: "pets"}), 4)
	assert.Equal(t, []string{"github.add_issue_comment"}, pageNames(t, i, ListOptions{Text: "Comment issue"}))
	assert.Empty(t, pageNames(t, i, ListOptions{Source: "nowhere"}))
	assert.Len(t, pageNames(t, i, ListOptions{Source: "社内"}), 3, "by its name")
}

func TestListCursors(t *testing.T) {
	c := catalogue(t)
	page, err := New(c).List(ListOptions{Limit: 5})
	require.NoError(t, err)
	rest := slices.DeleteFunc(slices.Clone(c.Sources()), func(s *catalog.Scope) bool { return s == page.Functions[0].Scope })
	var sources []*catalog.Source
	for _, s := range rest {
		sources = append(sources, s.Source)
	}
	next, err := New(catalog.New(c, sources)).List(ListOptions{Limit: 5, Cursor: page.Next})
	require.NoError(t, err, "what the cursor stands behind may be gone")
	assert.NotEmpty(t, next.Functions)
	for _, cursor := range []string{"x", "!", "YWZ0ZXI6", "bm90aGluZw"} {
		_, err := New(c).List(ListOptions{Cursor: cursor})
		assert.ErrorIs(t, err, ErrCursor, cursor)
	}
}
