//go:build hukilau_san

package engine_test

// mayGrow allows for the 256 MiB of freed memory that the address sanitizer keeps back, to see uses of it.
func mayGrow(limit int) int { return limit + 32 + 256 }
