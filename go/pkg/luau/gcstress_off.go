//go:build !hukilau_gcstress

package luau

// maybeCollect does nothing in ordinary builds; see gcstress.go.
func maybeCollect() {}
