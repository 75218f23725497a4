package music

import (
	"strconv"
	"strings"
)

func quoted(s string) string { return strconv.Quote(s) }

// orList is "a, b or c".
func orList(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
