package luautype

import "github.com/hukilau/hukilau/go/internal/gateway/catalog"

// ExampleResult is a value that a call of the function may give, a JSON tree; nil where nothing is known of it.
func ExampleResult(f *catalog.Callable) any {
	if f.Result == nil || f.NoResult {
		return nil
	}
	value, _ := sample(f.Result, place{root: f.Result, defs: f.Defs}, 0)
	return value
}
