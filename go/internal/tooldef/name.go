package tooldef

import (
	"fmt"
	"regexp"
)

// maxName is the longest name of a tool, in bytes: what every model provider takes.
const maxName = 64

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// CheckName says what is wrong with a tool's name; nil when nothing is. The rule is what MCP clients and model
// providers agree on.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a tool needs a name")
	case len(name) > maxName:
		return fmt.Errorf("the tool name %.20q... has %d characters; at most %d are allowed", name, len(name), maxName)
	case name == "list":
		return fmt.Errorf(`a tool cannot be named "list": GET /tools/list lists the tools`)
	case !namePattern.MatchString(name):
		return fmt.Errorf("the tool name %q is not allowed: it begins with a letter or underscore, and letters, digits, underscores and hyphens follow", name)
	}
	return nil
}
