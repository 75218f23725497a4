package hostmod

import (
	"fmt"
	"strings"
)

// Advice says, in brackets, how an entry is granted: by a flag of the command line, or for a script that is served by
// the permissions of its tool. shown is the entry as a shell takes it.
func Advice(served bool, key, entry, shown string) string {
	if served {
		return fmt.Sprintf("(permissions of the tool: %s = [%q]; luau tool check --grant writes what it can see)", key, entry)
	}
	return fmt.Sprintf("(on the command line: --allow-%s=%s)", strings.ReplaceAll(key, "_", "-"), shown)
}
