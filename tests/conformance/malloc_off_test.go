//go:build !hukilau_malloc

package conformance

const onMalloc = false
