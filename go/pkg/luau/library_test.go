package luau_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// table.move is Luau's own: it walks what the tables hold, not the range it is given.
func TestTableMoveOfHugeRangesIsQuick(t *testing.T) {
	s := newState(t, luau.Options{MemoryLimit: 64 << 20})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	got, err := s.Do(ctx, "=t", `
		local _, wrap = pcall(table.move, {}, 1, 2^31 - 1, 2)
		local _, many = pcall(table.move, {}, 0, 2^31 - 1, 1)
		local sparse = table.move({ 1, 2, 3, [1e8] = 4 }, 1, 1e9, -7, {})
		return wrap, many, sparse[-7], sparse[-5], sparse[1e8 - 8], (pcall(table.move, {}, 1, 2^31 - 1, 1))`)
	require.NoError(t, err)
	require.Equal(t, []any{
		"invalid argument #4 to 'move' (destination wrap around)",
		"invalid argument #3 to 'move' (too many elements to move)", 1.0, 3.0, 4.0, false,
	}, got)
}

// Mixed keys at every level must not be read more than once each.
func TestDeepMixedTablesCrossAtOnce(t *testing.T) {
	s := newState(t, luau.Options{})
	got, err := s.Do(context.Background(), "=t", `
		local t = true
		for i = 1, 150 do t = { a = t, b = 1, c = 2, [true] = 3, [0.5] = 4 } end
		return t`)
	require.NoError(t, err)
	require.Len(t, got[0], 5)
}
