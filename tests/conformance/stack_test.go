//go:build !hukilau_san

package conformance

// smallStack tells the scripts that calls take much of the C stack.
const smallStack = false
