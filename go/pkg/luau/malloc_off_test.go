//go:build !hukilau_malloc

package luau_test

const onMalloc = false
