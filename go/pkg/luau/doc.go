// Package luau runs Luau, Roblox's typed and sandboxed Lua, inside a Go program.
//
// A [State] is one Luau VM in memory of its own. Source is compiled with [Compile], loaded with
// [State.Load] into a [Function], and called. Go functions become Luau functions as a [Func], and
// Go values cross both ways: see [State.SetGlobal] for what becomes what.
//
//	s, err := luau.New(luau.Options{})
//	...
//	defer s.Close()
//	results, err := s.Do(ctx, "=sum", "return 1 + 2")
//
// Every State is sandboxed: scripts cannot reach files, the network or the process except through
// functions that the program gives them. Memory is limited by [Options.MemoryLimit], time by the
// context of each call, and the end of a run cannot be caught by the script.
//
// A State belongs to one goroutine at a time. Using it from two at once, using it after Close, and
// passing it values of another State are errors, not crashes.
package luau
