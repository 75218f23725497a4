package kvmod

import (
	"fmt"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// What Go takes for a value beyond its own bytes, about.
const (
	entryCost = 160 // the entry, its places in the map and the heap
	slotCost  = 16  // one value in a list
	fieldCost = 64  // one field of a map
	tableCost = 48
)

// cost is about how much memory a value takes.
func cost(v any) int64 {
	switch v := v.(type) {
	case string:
		return slotCost + int64(len(v))
	case luau.Exact:
		return slotCost + int64(len(v))
	case []byte:
		return 2*slotCost + int64(len(v))
	case []any:
		sum := int64(tableCost)
		for _, item := range v {
			sum += slotCost + cost(item)
		}
		return sum
	case map[string]any:
		sum := int64(tableCost)
		for key, item := range v {
			sum += fieldCost + int64(len(key)) + cost(item)
		}
		return sum
	}
	return slotCost
}

// problem says where in a value something stands that cannot be kept; "" when nothing does.
func problem(v any, path string) string {
	switch v := v.(type) {
	case nil, bool, float64, string, []byte, luau.Integer, luau.Exact, luau.Vector:
		return ""
	case []any:
		for i, item := range v {
			if p := problem(item, fmt.Sprintf("%s[%d]", path, i+1)); p != "" {
				return p
			}
		}
		return ""
	case map[string]any:
		for key, item := range v {
			if p := problem(item, path+"."+key); p != "" {
				return p
			}
		}
		return ""
	}
	return path + ": " + kind(v) + " cannot be kept"
}

func kind(v any) string {
	switch v.(type) {
	case *luau.Function:
		return "a function"
	case *luau.Thread:
		return "a thread"
	case map[any]any:
		return "a table that is neither an array nor has string keys only"
	}
	return "a userdata"
}

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
