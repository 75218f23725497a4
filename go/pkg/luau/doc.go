// Package luau runs Luau, Roblox's typed and sandboxed Lua, inside a Go program.
//
// A [State] is one Luau VM in memory of its own. Source is compiled with [Compile], loaded with
// [State.Load] into a [Function], and called; [State.Do] does all three. Go functions become Luau
// functions as a [Func], mostly by [FuncOf].
//
//	s, err := luau.New(luau.Options{})
//	...
//	defer s.Close()
//	results, err := s.Do(ctx, "=sum", "return 1 + 2")
//
// Every State is sandboxed: scripts cannot reach files, the network or the process except through
// functions that the program gives them. Memory is limited by [Options.MemoryLimit], time by the
// context of each call, and the end of a run cannot be caught by the script. [State.Save] and
// [State.Reset] give each run a State that no earlier one has touched. After a run that was ended
// there is nothing but Reset and Close: a program that wants to go on calls Save once, when the State
// is set up and before its first run.
//
// [State.StartProfile] shows where scripts spend processor time.
//
// # Values
//
// Values cross by content, whole, in one step. From Go to Luau:
//
//	nil, nil pointers                nil; inside an array json.null
//	bool                             boolean
//	integers, floats                 number; whole ones beyond 2^53 integer (64 bits), or exact digits
//	string                           string, any bytes
//	[]byte                           buffer
//	slices, arrays                   array; a nil slice is an empty one
//	maps, structs                    table; a nil map is an empty one, a nil value of a text key a JSON null
//	pointers                         what they point to
//	encoding.TextMarshaler           string, for structs and arrays such as time.Time
//	*big.Int, json.Number            the smallest kind of number that holds them
//	Func                             function
//	*Function, *Thread, *Table       themselves, in their own State only
//	Vector, Integer, Exact, Null,    what they say
//	Array, ReadOnly, Folded, Lazy
//
// Fields of structs are named by the tag `luau:"name"`, then `json:"name"`, then by themselves; "-"
// leaves one out, omitempty one that is empty. Embedded structs are flattened.
//
// From Luau to Go, as results, arguments and globals:
//
//	nil, json.null        nil
//	boolean               bool
//	number                float64
//	integer               Integer
//	exact digits          Exact
//	string                string
//	buffer                []byte
//	vector                Vector
//	array                 []any; holes are nil
//	table of text keys    map[string]any; so is an empty table, unless it is marked as an array
//	any other table       map[any]any: keys are string, float64, bool, Integer
//	function              *Function
//	coroutine             *Thread
//	userdata              *Object
//
// [State.Do] and [Function.Call] give these. [Function.CallInto], and FuncOf and [Call.Bind] for
// arguments, convert into the program's own types instead; so does [Values.Scan], for the [Values] of
// [Call.Args] and of an [Outcome]. A table that contains itself, nesting deeper than 200, a table as a key of a table, and
// what would take more than the memory limit are errors that name the path. A function may return
// any number of values, none included.
//
// # Goroutines
//
// A State belongs to one goroutine at a time. Using it from two at once, using it after Close, and
// passing it values of another State are errors, not crashes. So are panics in host functions, which
// scripts can catch.
package luau
