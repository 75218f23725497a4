package kvmod

import "github.com/hukilau/hukilau/go/pkg/luau"

// typeName is a kept value's type as scripts name it.
func typeName(v any) string {
	switch v.(type) {
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []byte:
		return "a buffer"
	case luau.Integer, luau.Exact:
		return "an integer"
	case luau.Vector:
		return "a vector"
	}
	return "a table"
}
