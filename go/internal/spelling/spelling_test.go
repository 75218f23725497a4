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
