//go:build hukilau_malloc

package engine_test

// onMalloc takes the VMs of these tests from malloc, where the address sanitizer sees every block.
const onMalloc = true
