package luau_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

type (
	level  int
	text   string
	inner  struct{ N int }
	base   struct{ ID, Shadowed string }
	Nested struct {
		base
		*inner
		Shadowed string
		Name     string            `luau:"name" json:"other"`
		JSON     int               `json:"j,omitempty"`
		Skipped  string            `luau:"-"`
		Pointer  *int              `luau:"pointer"`
		List     []text            `luau:"list"`
		Map      map[level]float32 `luau:"map"`
		Any      any               `luau:"any"`
		Raw      []byte            `luau:"raw"`
		private  int
	}
)

// What a Go value is in Luau, told by Luau itself.
func TestGoValuesInLuau(t *testing.T) {
	s := newState(t, luau.Options{})
	seven, nothing := 7, (*int)(nil)
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for name, c := range map[string]struct {
		give any
		test string // of the value v
	}{
		"nil":               {nil, "v == nil"},
		"bool":              {true, "v == true"},
		"named bool":        {struct{ B bool }{true}, "v.B == true"},
		"int":               {7, "v == 7"},
		"int8":              {int8(-8), "v == -8"},
		"uint16":            {uint16(65535), "v == 65535"},
		"named int":         {level(3), "v == 3"},
		"float32":           {float32(0.5), "v == 0.5"},
		"2^53-1":            {int64(1<<53 - 1), "v == 9007199254740991 and type(v) == 'number'"},
		"2^53":              {int64(1 << 53), "type(v) == 'integer' and v == 9007199254740992i"},
		"min int64":         {int64(math.MinInt64), "type(v) == 'integer' and tostring(v) == '-9223372036854775808'"},
		"Integer":           {luau.Integer(5), "type(v) == 'integer' and v == 5i"},
		"max uint64":        {uint64(math.MaxUint64), "tostring(v) == '18446744073709551615'"},
		"big":               {huge, "tostring(v) == '123456789012345678901234567890'"},
		"small big":         {big.NewInt(12), "v == 12"},
		"Exact":             {luau.Exact("-123456789012345678901"), "tostring(v) == '-123456789012345678901'"},
		"small Exact":       {luau.Exact("-7"), "v == -7"},
		"json.Number":       {json.Number("9223372036854775807"), "v == 9223372036854775807i"},
		"json.Number float": {json.Number("1.5e3"), "v == 1500"},
		"string":            {"a\x00b\xff", "v == 'a\\0b\\xff'"},
		"named string":      {text("x"), "v == 'x'"},
		"bytes":             {[]byte{1, 0, 255}, "type(v) == 'buffer' and buffer.len(v) == 3 and buffer.readu8(v, 2) == 255"},
		"nil bytes":         {[]byte(nil), "type(v) == 'buffer' and buffer.len(v) == 0"},
		"vector":            {luau.Vector{1, 2, 3}, "v == vector.create(1, 2, 3)"},
		"pointer":           {&seven, "v == 7"},
		"pointer pointer":   {func() **int { p := &seven; return &p }(), "v == 7"},
		"nil pointer":       {nothing, "v == nil"},
		"slice":             {[]int{1, 2}, "#v == 2 and v[2] == 2"},
		"array":             {[2]string{"a", "b"}, "#v == 2 and v[2] == 'b'"},
		"nil slice":         {[]any(nil), "type(v) == 'table' and next(v) == nil"},
		"nil ints":          {[]int(nil), "type(v) == 'table' and next(v) == nil"},
		"slice with nil":    {[]any{1, nil, 3}, "#v == 3 and v[2] ~= nil and tostring(v[2]) == 'null'"},
		"slice, typed nil":  {[]any{1, nothing, 3}, "#v == 3 and tostring(v[2]) == 'null'"},
		"pointers":          {[]*int{&seven, nil}, "#v == 2 and v[1] == 7 and tostring(v[2]) == 'null'"},
		"map":               {map[string]any{"a": 1, "b": nil}, "v.a == 1 and v.b == nil"},
		"nil map":           {map[string]any(nil), "type(v) == 'table' and next(v) == nil"},
		"map of ints":       {map[int]string{-5: "x", 2: "y"}, "v[-5] == 'x' and v[2] == 'y'"},
		"map of bools":      {map[bool]int{true: 1}, "v[true] == 1"},
		"map of any":        {map[any]any{"s": 1, 2.5: "f", true: "b"}, "v.s == 1 and v[2.5] == 'f' and v[true] == 'b'"},
		"map to nil":        {map[int]*int{1: nil, 2: &seven}, "v[1] == nil and v[2] == 7"},
		"time":              {time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "v == '2026-01-02T03:04:05Z'"},
		"address":           {netip.MustParseAddr("::1"), "v == '::1'"},
		"struct": {Nested{base: base{ID: "i", Shadowed: "hidden"}, Shadowed: "s", Name: "n", List: []text{"l"}, private: 1},
			"v.ID == 'i' and v.Shadowed == 's' and v.name == 'n' and v.j == nil and v.Skipped == nil and v.N == nil and v.pointer == nil and v.list[1] == 'l' and v.private == nil"},
		"embedded pointer": {Nested{inner: &inner{N: 4}}, "v.N == 4"},
		"read-only":        {luau.ReadOnly{"a": 1}, "v.a == 1 and not pcall(function() v.a = 2 end)"},
		"folded":           {luau.Folded{"a-b": 1}, "v['A-B'] == 1"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, s.SetGlobal("v", c.give))
			require.Equal(t, []any{true}, run(t, s, "return "+c.test))
		})
	}
	for name, bad := range map[string]any{
		"channel": make(chan int), "function": func() {}, "complex": 1i, "NaN key": map[float64]int{math.NaN(): 1},
		"struct key": map[inner]int{{}: 1}, "large key": map[uint64]int{math.MaxUint64: 1}, "nil key": map[any]any{nil: 1},
		"digits": luau.Exact("1,\"x\":2"), "number": json.Number("1e"), "underscores": luau.Exact("123456789012345678901_0"),
	} {
		t.Run(name, func(t *testing.T) { require.Error(t, s.SetGlobal("v", bad)) })
	}
}

// What a script returns (X02): each kind has one answer, and none is a crash.
func TestWhatScriptsReturn(t *testing.T) {
	s := newState(t, luau.Options{})
	for source, want := range map[string][]any{
		"":                               {},
		"return":                         {},
		"return nil":                     {nil},
		"return 1, nil, 'x'":             {1.0, nil, "x"},
		"return true, false":             {true, false},
		"return 'a\\0b'":                 {"a\x00b"},
		"return buffer.fromstring('x')":  {[]byte("x")},
		"return vector.create(1, 2, 3)":  {luau.Vector{1, 2, 3}},
		"return 5i":                      {luau.Integer(5)},
		"return {}":                      {map[string]any{}},
		"return {1, 'x', {2}}":           {[]any{1.0, "x", []any{2.0}}},
		"return {1, nil, 3}":             {[]any{1.0, nil, 3.0}},
		"return {x = {y = 1}}":           {map[string]any{"x": map[string]any{"y": 1.0}}},
		"return {1, x = 2}":              {map[any]any{1.0: 1.0, "x": 2.0}},
		"return {[1.5] = 1, [true] = 2}": {map[any]any{1.5: 1.0, true: 2.0}},
		"return {[5i] = 1}":              {map[any]any{luau.Integer(5): 1.0}},
	} {
		require.Equal(t, want, run(t, s, source), source)
	}
	out := run(t, s, "return function() return 42 end, coroutine.create(function(...) coroutine.yield(...) return 'end' end), {f = print}")
	got, err := out[0].(*luau.Function).Call(background)
	require.NoError(t, err)
	require.Equal(t, []any{42.0}, got)
	thread := out[1].(*luau.Thread)
	got, done, err := thread.Resume(background, "a", 1)
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, []any{"a", 1.0}, got)
	got, done, err = thread.Resume(background)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, []any{"end"}, got)
	_, _, err = thread.Resume(background)
	requireCode(t, luau.CodeInvalid, err)
	require.IsType(t, &luau.Function{}, out[2].(map[string]any)["f"])

	for source, message := range map[string]string{
		"local t = {} t.me = {t} return t":                                 "a table that contains itself at $.me[1]",
		"return 1, {[{}] = 1}":                                             "cannot convert a table key of type table at value 2 $",
		"local t = {} for i = 1, 300 do t = {t} end return t":              "nesting deeper than 200 tables",
		"local t = {} for i = 1, 1e5 do t = {t} end return t":              "nesting deeper than 200 tables",
		"local t = {} for i = 1, 99 do t = {t, t} end return {deep = {t}}": "too large to convert within the memory limit",
	} {
		_, err := s.Do(background, "=t", source)
		requireCode(t, luau.CodeConvert, err)
		require.ErrorContains(t, err, message)
	}
	require.NoError(t, s.SetGlobal("nulls", map[string]any{"gone": nil, "list": []any{nil, 1}}))
	require.Equal(t, []any{map[string]any{"gone": nil, "list": []any{nil, 1.0}}, nil}, run(t, s, "return nulls, nulls.list[1]"))
}

func TestScan(t *testing.T) {
	s := newState(t, luau.Options{})
	f := load(t, s, `return {ID = "i", N = 5, name = "n", j = 2, pointer = 9, list = {"a", "b"}, map = {[3] = 1.5}, any = {1}, raw = "bytes", unknown = 1}`)
	var got Nested
	got.Skipped = "kept"
	err := f.CallInto(background, []any{&got})
	require.ErrorContains(t, err, "value 1: .N: lies in a nil embedded *luau_test.inner, which is not exported")
	got.inner = &inner{}
	require.NoError(t, f.CallInto(background, []any{&got}))
	nine := 9
	require.Equal(t, Nested{base: base{ID: "i"}, inner: &inner{5}, Name: "n", JSON: 2, Skipped: "kept", Pointer: &nine,
		List: []text{"a", "b"}, Map: map[level]float32{3: 1.5}, Any: []any{1.0}, Raw: []byte("bytes")}, got)

	var (
		small    uint8
		whole    int
		when     time.Time
		list     []int
		array    [3]float64
		digits   big.Int
		unsigned uint64
		single   float32
		key      map[int]string
		fn       *luau.Function
	)
	for _, c := range []struct {
		source string
		into   any
		fault  string // empty: it fits
	}{
		{"return 255", &small, ""},
		{"return 256", &small, "value 1 must fit a Go uint8, got 256"},
		{"return -1", &small, "value 1 must fit a Go uint8, got -1"},
		{"return 1.5", &whole, "value 1 must be a whole number, got 1.5"},
		{"return 'x'", &whole, "value 1 must be a whole number, got string"},
		{"return 9223372036854775807i", &whole, ""},
		{"return 1e300", &single, "value 1 must fit a Go float32, got 1e+300"},
		{"return 0.1", &single, ""},
		{"return 0/0", &single, ""},
		{"return '2026-01-02T03:04:05Z'", &when, ""},
		{"return 'yesterday'", &when, "value 1 must be a string that is a time.Time"},
		{"return {}", &list, ""},
		{"return {1, 2}", &list, ""},
		{"return {1, 'x'}", &list, "value 1: [2] must be a whole number, got string"},
		{"return {1, 2}", &array, "value 1 must be an array of 3 elements, got 2"},
		{"return vector.create(1, 2, 3)", &array, ""},
		{"return {x = 1}", &list, "value 1 must be an array, got table"},
		{"return 12", &digits, ""},
		{"return 1e30", &digits, ""},
		{"return big", &digits, ""},
		{"return big", &unsigned, "value 1 must fit a Go uint64, got 123456789012345678901234567890"},
		{"return max", &unsigned, ""},
		{"return max", &whole, "value 1 must fit a Go int, got 18446744073709551615"},
		{"return {[5] = 'x'}", &key, ""},
		{"return {x = 'y'}", &key, "value 1: the key x must be a whole number, got string"},
		{"return print", &fn, ""},
		{"return 1, 2", &whole, "2 values for 1 places"},
		{"return 1", whole, "value 1: Scan needs pointers, got int"},
	} {
		huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
		require.NoError(t, s.SetGlobal("big", huge))
		require.NoError(t, s.SetGlobal("max", uint64(math.MaxUint64)))
		err := load(t, s, c.source).CallInto(background, []any{c.into})
		if c.fault == "" {
			require.NoError(t, err, c.source)
		} else {
			require.ErrorContains(t, err, c.fault, c.source)
		}
	}
	require.Equal(t, uint64(math.MaxUint64), unsigned)
	require.Equal(t, "123456789012345678901234567890", digits.String())
	require.Equal(t, int(math.MaxInt64), whole)
}

// anyValue draws what comes back from Luau as the same Go value.
func anyValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](true), rapid.Just[any](false),
		rapid.Float64().AsAny(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) any { return string(b) }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) any { return b }),
		rapid.Map(rapid.Int64(), func(n int64) any { return luau.Integer(n) }),
		rapid.Custom(func(t *rapid.T) any {
			return luau.Vector{rapid.Float32().Draw(t, "x"), rapid.Float32().Draw(t, "y"), rapid.Float32().Draw(t, "z")}
		}),
		rapid.Just[any](luau.Exact("123456789012345678901234567890")),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	element := rapid.OneOf(rapid.Just[any](nil), anyValue(depth-1))
	return rapid.OneOf(append(scalars,
		rapid.Map(rapid.SliceOfN(element, 0, 6), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.String(), element, 1, 6), func(m map[string]any) any { return m }),
	)...)
}

func TestRoundTrip(t *testing.T) {
	for _, o := range []luau.Options{{}, {Malloc: true}} {
		s := newState(t, o)
		echo := load(t, s, "return ...")
		var seen any
		define(t, s, "host", func(c *luau.Call) (err error) {
			if seen, err = c.Value(0); err != nil {
				return err
			}
			return c.Return(seen)
		})
		throughHost := load(t, s, "return host(...)")
		rapid.Check(t, func(t *rapid.T) {
			v := anyValue(4).Draw(t, "v")
			for _, f := range []*luau.Function{echo, throughHost} {
				out, err := f.Call(background, v)
				if err != nil {
					t.Fatalf("%v", err)
				}
				if !sameValue(v, out[0]) {
					t.Fatalf("gave %#v\n got %#v", v, out[0])
				}
			}
			if !sameValue(v, seen) {
				t.Fatalf("gave %#v\nhost saw %#v", v, seen)
			}
		})
	}
}

// sameValue is DeepEqual with NaN equal to itself, and a difference between 0 and -0.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (math.Float64bits(a) == math.Float64bits(b) || a != a && b != b)
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameValue(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			other, present := b[k]
			if !present || !sameValue(v, other) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func TestGoDepthAndCycles(t *testing.T) {
	s := newState(t, luau.Options{})
	nested := func(n int) any {
		var v any = []any{}
		for range n - 1 {
			v = []any{v}
		}
		return v
	}
	require.NoError(t, s.SetGlobal("v", nested(200)))
	requireCode(t, luau.CodeConvert, s.SetGlobal("v", nested(201)))
	list := []any{nil}
	list[0] = list
	m := map[string]any{}
	m["m"] = m
	type loop struct{ Next *loop }
	l := &loop{}
	l.Next = l
	type ring *ring
	var r ring
	r = &r
	for _, v := range []any{list, m, l, r} {
		requireCode(t, luau.CodeConvert, s.SetGlobal("v", v))
	}
}

func TestKeptNull(t *testing.T) {
	s := newState(t, luau.Options{})
	require.NoError(t, s.SetGlobal("null", luau.Null{}))
	_, out := s.Start(load(t, s, "return null, nil, 1, {null}"), luau.StartOptions{})
	kept, err := out.Values.AllKept()
	require.NoError(t, err)
	require.Equal(t, []any{luau.Null{}, nil, 1.0, []any{nil}}, kept)
	plain, err := out.Values.All()
	require.NoError(t, err)
	require.Equal(t, []any{nil, nil, 1.0, []any{nil}}, plain)
	require.NoError(t, s.SetGlobal("again", kept[0]))
	require.Equal(t, []any{true}, run(t, s, "return again == null"))
}
