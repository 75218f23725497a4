package luau

import (
	"fmt"
	"runtime"
)

// Integer is a value of Luau's own 64-bit integer type, which is another type than number there:
// `5i`. A Go int or int64 becomes a number while a number holds it exactly, else an Integer.
type Integer int64

// Exact is a whole number outside 64 bits, as decimal digits with an optional minus sign. Scripts
// can print it and pass it on, not calculate with it.
type Exact string

// Vector is Luau's vector: three 32-bit floats.
type Vector [3]float32

// Null is a JSON null in an array, where nil would be a hole: `json.null` in Luau.
type Null struct{}

// Array is a table that is an array even when it is empty. A []any does as well.
type Array []any

// Native names a value that is built into the library, as "json". It can be given to SetGlobal.
type Native string

// ReadOnly is a table that scripts cannot change.
type ReadOnly map[string]any

// Lazy is a table that scripts cannot change, whose fields are made when a script first reads them:
// Find is called with the name and gives the value, or nothing. It cannot wait, and is no host call of the
// script.
type Lazy struct{ Find Func }

// Folded is a table whose keys scripts may read in any case. The keys here must be lower case.
type Folded map[string]any

// Ref is something of a State that has no Go value of its own: a function, a thread, another
// object. It belongs to its State, and is used by the same goroutine.
type Ref struct {
	state   *State
	ref     uint64
	cleanup runtime.Cleanup
}

// Release gives the object up before the garbage collector would. Later use is an error.
func (r *Ref) Release() {
	if r == nil || r.state == nil || r.ref == 0 {
		return
	}
	r.cleanup.Stop()
	r.state.forget(r.ref)
	r.ref = 0
}

func (r *Ref) check(s *State) error {
	switch {
	case r == nil || r.ref == 0:
		return fail(CodeInvalid, "a nil or released value")
	case r.state != s:
		return fail(CodeInvalid, "a value of another State")
	}
	return nil
}

// Function is a Luau function. It belongs to its State, and is used by the same goroutine.
type Function struct{ Ref }

// Thread is a coroutine. It belongs to its State, and is used by the same goroutine.
type Thread struct{ Ref }

// Table is a Luau table that stays in its State. Host functions and results give one where identity
// matters; elsewhere tables cross by content. It belongs to its State, and is used by the same
// goroutine.
type Table struct{ Ref }

// Object is a Luau value that Go cannot hold: a userdata. It can be given back to the State.
type Object struct{ Ref }

// String says what it is, never its contents.
func (f *Function) String() string { return fmt.Sprintf("luau function %#x", f.ref) }
