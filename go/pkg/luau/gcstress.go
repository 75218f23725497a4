//go:build hukilau_gcstress

package luau

import "runtime"

// maybeCollect collects at every call, so that a use after free shows in tests: go test -tags
// hukilau_gcstress.
func maybeCollect() { runtime.GC() }
