// Package capi is the only package with cgo and unsafe: one Go function for each function of
// luau/include/hukilau.h. It keeps no rules of its own; package luau makes it safe.
//
// Data in a Result and arguments of a Call are views of C memory. They are valid until the next
// call on the same VM at the same nesting depth, and a caller copies what it keeps.
package capi
