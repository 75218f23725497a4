package spelling

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	names := []string{"get", "post", "request", "Options.timeout", "fs"}
	for name, want := range map[string]string{
		"gte": "get", "GET": "get", "requst": "request", "Options.timout": "Options.timeout", "f": "fs",
		"something": "", "ab": "", "": "",
	} {
		assert.Equal(t, want, Nearest(name, names), name)
	}
	long := strings.Repeat("x", 300)
	assert.Empty(t, Nearest(long, []string{long + "y"}), "too long to be compared")
}

// A name that is too long costs nothing, however many there are to compare it with.
func TestNearestOfALongName(t *testing.T) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = "name"
	}
	long := strings.Repeat("X", 1<<20)
	assert.Zero(t, testing.AllocsPerRun(1, func() { Nearest(long, names) }))
}
