package registry

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// account is a VM with this much room.
type account struct {
	hostmod.VM
	room int64
}

func (a *account) Charge(n int64) bool {
	if n > a.room {
		return false
	}
	a.room -= n
	return true
}

func (a *account) Uncharge(n int64) { a.room += n }

func TestRun(t *testing.T) {
	vm, store := &account{room: 100}, New[string, int](Options{Bytes: 90})
	r := NewRun(vm, store, "things", 3)
	fails := func(code luau.Code, message string, err error) {
		t.Helper()
		require.EqualError(t, err, message)
		require.Equal(t, code, luau.CodeOf(err))
	}
	require.NoError(t, r.Add("f", "a", 1, 40))
	require.ErrorIs(t, r.Add("f", "a", 1, 10), ErrTaken)
	require.NoError(t, r.Add("f", "b", 2, 20))
	fails(luau.CodeLimit, "f: the host's registry of things is full", r.Add("f", "c", 3, 35))
	fails(luau.CodeMemory, "f: the memory limit was reached", r.Add("f", "c", 3, 50))
	require.EqualValues(t, 40, vm.room, "what is refused is not charged")

	set := func(v *int) { *v = 7 }
	require.NoError(t, r.Update("g", "a", 30, set))
	require.EqualValues(t, 10, vm.room)
	fails(luau.CodeLimit, "g: the host's registry of things is full", r.Update("g", "b", 5, set))
	fails(luau.CodeMemory, "g: the memory limit was reached", r.Update("g", "b", 15, set))
	require.NoError(t, r.Update("g", "a", -50, set))
	require.EqualValues(t, 60, vm.room)
	require.ErrorIs(t, r.Update("g", "none", 5, set), ErrGone)
	require.EqualValues(t, 60, vm.room)

	require.NoError(t, r.Add("f", "c", 3, 0))
	fails(luau.CodeLimit, "f: this run has 3 things, which is the most", r.Add("f", "d", 4, 0))
	owner := r.Owner()
	r.EndRun()
	require.EqualValues(t, 100, vm.room, "the next run has all of it")
	require.NotSame(t, owner, r.Owner())
	require.ErrorIs(t, r.Update("g", "a", 0, set), ErrGone, "and reaches nothing of the last one")
	require.NoError(t, r.Add("f", "a", 1, 1), "whose keys are free")
	require.Equal(t, []string{"b", "c", "a"}, keys(store))
}

// Most runs put nothing.
func TestEmptyRunsCostNothing(t *testing.T) {
	r := NewRun(&account{}, New[string, int](Options{}), "things", 1)
	require.Zero(t, testing.AllocsPerRun(10, r.EndRun))
}
