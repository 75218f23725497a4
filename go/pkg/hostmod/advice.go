package hostmod

import (
	"fmt"
	"strings"
)

// Advice says, in brackets, how an entry is granted: by a flag of the command line, or for a tool by the policy that
// its operator gives it. shown is the entry as a shell takes it.
func Advice(tool, key, entry, shown string) string {
	if tool != "" {
		return fmt.Sprintf("([tools.policy.%s] in the configuration: %s = [%q]; luau tool check --grant writes what it can see)", tool, key, entry)
	}
	return fmt.Sprintf("(on the command line: --allow-%s=%s)", strings.ReplaceAll(key, "_", "-"), shown)
}
