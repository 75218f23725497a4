package luau

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// flatSeeds are flat values of every kind, whole and broken. The corpus in testdata/fuzz has more.
func flatSeeds(t testing.TB) [][]byte {
	seeds := [][]byte{
		{}, {capi.TagTable}, {99}, {capi.TagNumbers, 255, 255, 255, 255}, {capi.TagString, 255, 255, 255, 127, 'x'},
		{capi.TagTable, capi.TableArray, 2, 0, 0, 0, 0, 0, 0, 0, capi.TagNull, capi.TagNil},
		{capi.TagTable, 0, 0, 0, 0, 0, 1, 0, 0, 0, capi.TagString, 1, 0, 0, 0, 'k', capi.TagNil},
		{capi.TagTable, 0, 0, 0, 0, 0, 1, 0, 0, 0, capi.TagTrue, capi.TagNil},
		{capi.TagError, capi.TagTable, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{capi.TagNative, 4, 0, 0, 0, 'j', 's', 'o', 'n'},
		{capi.TagHostFn, 7, 0, 0, 0, 1, 1, 0, 0, 0, 'f'},
		append(binary.LittleEndian.AppendUint64([]byte{capi.TagTable, 0, 0, 0, 0, 0, 1, 0, 0, 0, capi.TagNumber}, math.Float64bits(math.NaN())), capi.TagTrue),
		{capi.TagRef, capi.RefTable, 1, 0, 0, 0, 1, 0, 0, 0},
	}
	deep := []byte{}
	for range capi.MaxDepth + 1 {
		deep = append(deep, capi.TagTable, 0, 1, 0, 0, 0, 0, 0, 0, 0)
	}
	seeds = append(seeds, append(deep, capi.TagTrue))
	for _, digits := range []string{"1e5", "", "007", "-0"} {
		seeds = append(seeds, append([]byte{capi.TagExact, byte(len(digits)), 0, 0, 0}, digits...))
	}
	for _, v := range []any{
		nil, true, 1.5, math.NaN(), math.Copysign(0, -1), "a\x00b", []byte{1, 2}, Integer(math.MinInt64), Exact("-123456789012345678901234567890"),
		Integer(5), Vector{1, 2, 3}, Null{}, []any{}, map[string]any{}, []any{1.0, nil, "x"}, []float64{1, 2, 3}, ReadOnly{"a": 1.0}, Folded{"a": 1.0},
		map[any]any{1.0: "one", "k": 2.0, true: 3.0}, map[string]any{"a": map[string]any{"b": []any{map[string]any{}}}, "n": nil},
	} {
		e := encoder{}
		require.NoError(t, e.value(v))
		seeds = append(seeds, e.buf)
	}
	return seeds
}

// FuzzDecode gives the decoder any bytes: it never panics, and what it reads it can write and read again.
func FuzzDecode(f *testing.F) {
	s, err := New(Options{})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, s.Close()) })
	for _, seed := range flatSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = skip(data, 0)
		d := decoder{state: s, data: data}
		v, err := d.value(0)
		if err != nil {
			require.Contains(t, []Code{CodeConvert, CodeInvalid}, CodeOf(err), "invalid: a reference to nothing")
			return
		}
		require.LessOrEqual(t, d.pos, len(data))
		require.Equal(t, d.pos, skip(data, 0), "skip and decoder disagree on the length")
		checkScan(t, s, data[:d.pos])
		e := encoder{state: s}
		if err := e.value(v); err != nil {
			require.Equal(t, CodeInvalid, CodeOf(err), "only a reference may not be written again: %v", err)
			return
		}
		again := decoder{state: s, data: e.buf}
		w, err := again.value(0)
		require.NoError(t, err)
		require.True(t, same(v, w), "%#v became %#v", v, w)
	})
}

// checkScan scans one value into Go types of many kinds: any may refuse, none may panic.
func checkScan(t *testing.T, s *State, data []byte) {
	type record struct {
		A int8
		B *string `luau:"b"`
		C []float64
		D map[string]uint16 `json:"d"`
		E [2]any
	}
	for _, into := range []any{new(any), new(string), new(int64), new(uint8), new([]any), new([]float64), new([]byte), new(map[string]any), new(map[int]string), new(record), new(*record), new([3]float32)} {
		if err := (Values{state: s, data: data, count: 1}).Scan(into); err != nil {
			require.NotEmpty(t, CodeOf(err))
		}
	}
}

// FuzzFlat gives the VM any bytes as a value: it takes them or says why not, and what it took comes out the same twice.
func FuzzFlat(f *testing.F) {
	s, err := New(Options{MemoryLimit: 64 << 20})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, s.Close()) })
	for _, seed := range flatSeeds(f) {
		f.Add(seed)
	}
	calls := 0
	f.Fuzz(func(t *testing.T, data []byte) {
		if calls++; calls%256 == 0 {
			require.NoError(t, s.Collect())
		}
		checkKept(t, s, data)
		if r := s.vm.SetGlobal("fuzz", data); r.Status != capi.OK {
			require.Contains(t, []capi.Status{capi.ErrInvalid, capi.ErrMemory}, r.Status)
			require.NotEmpty(t, r.Data)
			return
		}
		first, err := s.Global("fuzz")
		if err != nil {
			require.Contains(t, []Code{CodeConvert, CodeInvalid}, CodeOf(err), "%v", err)
			return
		}
		if holdsReference(first) {
			return
		}
		require.NoError(t, s.SetGlobal("fuzz", first))
		second, err := s.Global("fuzz")
		require.NoError(t, err)
		require.True(t, same(first, second), "%#v became %#v", first, second)
	})
}

// checkKept keeps the bytes as a value, reads it, and gives it up.
func checkKept(t *testing.T, s *State, data []byte) {
	refs := func() uint64 {
		s.vm.Caller() // a new result, so that the references in the last one are over
		return s.vm.Stats().Refs
	}
	before := refs()
	r := s.vm.Keep(data)
	if r.Status != capi.OK {
		require.Contains(t, []capi.Status{capi.ErrInvalid, capi.ErrMemory}, r.Status)
		return
	}
	if got := s.vm.GetValue(r.Thread); got.Status == capi.OK {
		require.Positive(t, skip(got.Data, 0))
	}
	s.vm.Release(r.Thread)
	require.Equal(t, before, refs(), "a reference leaked")
}

func holdsReference(v any) bool {
	switch v := v.(type) {
	case *Function, *Thread, *Table, *Object:
		return true
	case []any:
		for _, item := range v {
			if holdsReference(item) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if holdsReference(item) {
				return true
			}
		}
	case map[any]any:
		for _, item := range v {
			if holdsReference(item) {
				return true
			}
		}
	}
	return false
}

// same compares converted values. NaN is the same as NaN, and -0 is not 0.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (math.Float64bits(a) == math.Float64bits(b) || a != a && b != b)
	case Vector:
		b, ok := b.(Vector)
		for i := range a {
			ok = ok && (math.Float32bits(a[i]) == math.Float32bits(b[i]) || a[i] != a[i] && b[i] != b[i])
		}
		return ok
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sameMap(a, b)
	case map[any]any:
		b, ok := b.(map[any]any)
		return ok && sameMap(a, b)
	case *Function, *Thread, *Table, *Object:
		return refOf(a) == refOf(b)
	}
	return reflect.DeepEqual(a, b)
}

func sameMap[K comparable](a, b map[K]any) bool {
	if len(a) != len(b) {
		return false
	}
	nans := 0
	for k, v := range a {
		if k != k {
			nans++ // cannot be looked up
			continue
		}
		w, ok := b[k]
		if !ok || !same(v, w) {
			return false
		}
	}
	for k := range b {
		if k != k {
			nans--
		}
	}
	return nans == 0
}

func refOf(v any) uint64 {
	switch v := v.(type) {
	case *Function:
		return v.ref
	case *Thread:
		return v.ref
	case *Table:
		return v.ref
	case *Object:
		return v.ref
	}
	return 0
}

// TestLengthsAreNotBelieved holds that a length in a flat value allocates nothing by itself.
func TestLengthsAreNotBelieved(t *testing.T) {
	for _, tag := range []byte{capi.TagString, capi.TagBuffer, capi.TagExact, capi.TagNumbers} {
		data := binary.LittleEndian.AppendUint32([]byte{tag}, math.MaxUint32)
		d := decoder{data: append(data, make([]byte, 16)...)}
		_, err := d.value(0)
		require.ErrorIs(t, err, &Error{Code: CodeConvert})
	}
}
