package kvmod

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A test that moves its clock on sees keys end, and takes none from other scripts; one whose clock stands
// still keeps what it has.
func TestViewsOfOtherClocks(t *testing.T) {
	real := time.Unix(1000, 0)
	store := NewStore(Options{Now: func() time.Time { return real }})
	ahead := real
	plain := &view{store, "", store.real}
	moved := &view{store, "", func() time.Time { return ahead }}

	_, err := plain.set("k", "v", 1, 10*time.Second, false)
	require.NoError(t, err)
	ahead = real.Add(11 * time.Second)
	require.Nil(t, moved.get("k"))
	require.Empty(t, moved.list(""))
	require.Zero(t, moved.clear(""))
	require.False(t, moved.delete("k"))
	require.Equal(t, "v", plain.get("k"))
	done, err := moved.set("k", "mine", 1, 10*time.Second, true)
	require.NoError(t, err)
	require.True(t, done, "what has ended is not there")
	require.Equal(t, "mine", plain.get("k"))

	still := &view{store, "still", func() time.Time { return time.Unix(1000, 0) }}
	_, err = still.set("k", "v", 1, time.Second, false)
	require.NoError(t, err)
	real = real.Add(time.Hour)
	require.Equal(t, "v", still.get("k"))
	require.Nil(t, plain.get("k"))
}
