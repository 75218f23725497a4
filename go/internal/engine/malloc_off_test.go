//go:build !hukilau_malloc

package engine_test

const onMalloc = false
