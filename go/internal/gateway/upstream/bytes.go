package upstream

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// bytesText is a number of bytes for people.
func bytesText(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
