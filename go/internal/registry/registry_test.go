package registry

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

func keys(s *Store[string, int]) []string {
	var list []string
	s.Each(func(k string, _ int) { list = append(list, k) })
	return list
}

func TestOwnersAndKeys(t *testing.T) {
	s := New[string, int](Options{})
	a, b := &Owner{}, &Owner{}
	require.NoError(t, s.Add(a, "x", 1, 10))
	require.ErrorIs(t, s.Add(b, "x", 2, 10), ErrTaken)
	require.ErrorIs(t, s.Update(b, "x", 0, func(*int) {}), ErrGone)
	require.NoError(t, s.Update(a, "x", 5, func(v *int) { *v = 7 }))
	require.True(t, s.Read("x", func(v int) { require.Equal(t, 7, v) }))
	require.False(t, s.Read("y", nil))
	other := &Owner{}
	s.End(other)
	require.ErrorIs(t, s.Add(b, "x", 2, 10), ErrTaken, "only its owner can end an entry")
	s.End(a)
	require.NoError(t, s.Add(b, "x", 2, 10))
	require.True(t, s.Remove("x"))
	require.False(t, s.Remove("x"))
	require.Zero(t, s.bytes)
}

func TestOldestEndedGoFirst(t *testing.T) {
	s := New[string, int](Options{Bytes: 100, Entries: 4})
	a, b := &Owner{}, &Owner{}
	for i, key := range []string{"a1", "a2", "a3"} {
		require.NoError(t, s.Add(a, key, i, 30))
	}
	require.ErrorIs(t, s.Add(b, "b1", 0, 30), ErrFull)
	require.ErrorIs(t, s.Update(a, "a1", 30, func(*int) {}), ErrFull)
	s.End(a)
	require.Equal(t, []string{"a1", "a2", "a3"}, keys(s), "they stay until room is needed")
	require.NoError(t, s.Add(b, "b1", 0, 30))
	require.Equal(t, []string{"a2", "a3", "b1"}, keys(s))
	require.NoError(t, s.Add(b, "a2", 0, 1), "added again it is the newest")
	require.Equal(t, []string{"a3", "b1", "a2"}, keys(s))
	require.NoError(t, s.Update(b, "b1", 40, func(*int) {}))
	require.Equal(t, []string{"b1", "a2"}, keys(s))
	require.NoError(t, s.Add(b, "b2", 0, 1))
	require.NoError(t, s.Add(b, "b3", 0, 1))
	require.ErrorIs(t, s.Add(b, "b4", 0, 1), ErrFull)
}

func TestOrderDoesNotGrow(t *testing.T) {
	s := New[string, int](Options{})
	for i := range 10_000 {
		key := fmt.Sprint(i % 3)
		require.NoError(t, s.Add(&Owner{}, key, i, 1))
		s.Remove(key)
	}
	require.Less(t, len(s.order), 100)
}

func TestManyAtOnce(t *testing.T) {
	s := New[string, int](Options{Entries: 100})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			owner := &Owner{}
			for j := range 200 {
				key := fmt.Sprint(i, j)
				_ = s.Add(owner, key, j, 1)
				s.Each(func(string, int) {})
				if j%10 == 0 {
					s.End(owner)
					owner = &Owner{}
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, len(keys(s)), 100)
	require.EqualValues(t, len(keys(s)), s.bytes)
}

func TestMeasure(t *testing.T) {
	n, err := Measure(map[string]any{"list": []any{1.0, "text", nil, []byte("xyz")}, "deep": map[string]any{"big": luau.Exact("123")}})
	require.NoError(t, err)
	require.Greater(t, n, int64(300))
	_, err = Measure(map[string]any{"a": []any{true, &luau.Function{}}})
	require.EqualError(t, err, ".a[2]: a function cannot be kept outside of the script")
	_, err = Measure(map[any]any{1: 2})
	require.EqualError(t, err, "a table that is neither an array nor has string keys only cannot be kept outside of the script")
}
