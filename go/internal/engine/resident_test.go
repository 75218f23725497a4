//go:build !hukilau_san

package engine_test

// mayGrow is how many MiB a process may keep of what a script of the given memory limit, in MiB, made.
func mayGrow(limit int) int { return limit + 32 }
