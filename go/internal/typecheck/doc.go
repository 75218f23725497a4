// Package typecheck asks Luau's type checker about scripts before they run, and words what it finds for a model: one
// line, where, what was wanted, what was given, and the name that was probably meant.
//
// The checker is a process of its own, luau-check, since it reads what others write: it has limits on time and memory,
// and when it ends, one script is not checked and the next one starts it anew. This package neither finds the program
// nor starts processes; it is given a function that does. It runs no scripts.
package typecheck
