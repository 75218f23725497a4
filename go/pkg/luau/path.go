package luau

import (
	"fmt"
	"strings"
)

// at puts a step in front of the path of a conversion error.
func at(step string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	copied := *e
	if copied.path == "" {
		copied.problem = e.Message
	}
	copied.path = step + e.path
	copied.Message = joined(copied.path, copied.problem)
	return &copied
}

// under says whose error it is: a value's, an argument's.
func under(label string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	copied := *e
	if e.path == "" {
		copied.Message = joined(label, e.Message)
	} else {
		copied.Message = label + ": " + e.Message
	}
	copied.path, copied.problem = "", ""
	return &copied
}

// joined makes a sentence of a place and what is wrong there.
func joined(place, problem string) string {
	if strings.HasPrefix(problem, "must ") {
		return place + " " + problem
	}
	return place + ": " + problem
}

// keyStep is a key's step in a path.
func keyStep(k any) string {
	if s, ok := k.(string); ok {
		return "." + s
	}
	return fmt.Sprintf("[%v]", k)
}
