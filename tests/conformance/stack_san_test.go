//go:build hukilau_san

package conformance

const smallStack = true
