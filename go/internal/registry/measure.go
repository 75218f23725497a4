package registry

import (
	"fmt"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// What Go takes for a value beyond its own bytes, about.
const (
	slotCost  = 16 // a value, and its place in a list
	fieldCost = 64 // its place in a map
	tableCost = 48
)

// Measure estimates the bytes of a value that came from a script. Functions and other things that
// live in a VM are refused, by their place as in ".list[2]": they end with it.
func Measure(v any) (int64, error) {
	n, bad := measure(v)
	if bad != nil {
		return 0, bad
	}
	return n, nil
}

// misfit is something that cannot be kept, and where in the value it is.
type misfit struct{ path, kind string }

func (e *misfit) Error() string {
	if e.path == "" {
		return e.kind + " cannot be kept outside of the script"
	}
	return e.path + ": " + e.kind + " cannot be kept outside of the script"
}

func measure(v any) (int64, *misfit) {
	switch v := v.(type) {
	case nil, bool, float64, luau.Integer, luau.Vector, luau.Null:
		return slotCost, nil
	case string:
		return slotCost + int64(len(v)), nil
	case luau.Exact:
		return slotCost + int64(len(v)), nil
	case []byte:
		return 2*slotCost + int64(len(v)), nil
	case []any:
		return measureList(v)
	case map[string]any:
		return measureMap(v)
	}
	return 0, &misfit{kind: kindOf(v)}
}

func measureList(list []any) (int64, *misfit) {
	sum := int64(tableCost)
	for i, item := range list {
		n, bad := measure(item)
		if bad != nil {
			bad.path = fmt.Sprintf("[%d]%s", i+1, bad.path)
			return 0, bad
		}
		sum += slotCost + n
	}
	return sum, nil
}

func measureMap(m map[string]any) (int64, *misfit) {
	sum := int64(tableCost)
	for key, item := range m {
		n, bad := measure(item)
		if bad != nil {
			bad.path = "." + key + bad.path
			return 0, bad
		}
		sum += fieldCost + int64(len(key)) + n
	}
	return sum, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case *luau.Function:
		return "a function"
	case *luau.Thread:
		return "a coroutine"
	case map[any]any:
		return "a table that is neither an array nor has string keys only"
	}
	return "a userdata"
}
