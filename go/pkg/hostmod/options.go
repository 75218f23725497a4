package hostmod

import (
	"maps"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Options reads argument i, from 0: a table of named options that may be left out. A name that is not
// known is an error, as a misspelt one would be taken for none.
func Options(c *luau.Call, i int, known ...string) (map[string]any, error) {
	options, err := c.MapOpt(i)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if !slices.Contains(known, name) {
			return nil, c.Argument(i, ": there is no option "+name+"; there "+listed(known))
		}
	}
	return options, nil
}

// listed is "is a", or "are a, b and c".
func listed(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return "is " + names[0]
	}
	return "are " + strings.Join(names[:last], ", ") + " and " + names[last]
}
