package registry

import (
	"fmt"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// overhead is about what Go adds to each value: a box, a map slot.
const overhead = 48

// Measure estimates the bytes of a value that came from a script. Functions and other things that
// live in a VM are refused: they end with it.
func Measure(v any) (int64, error) {
	switch v := v.(type) {
	case nil, bool, float64, luau.Integer, luau.Vector, luau.Null:
		return overhead, nil
	case string:
		return overhead + int64(len(v)), nil
	case luau.Exact:
		return overhead + int64(len(v)), nil
	case []byte:
		return overhead + int64(len(v)), nil
	case []any:
		return measureList(v)
	case map[string]any:
		return measureMap(v)
	}
	return 0, fmt.Errorf("%s cannot be kept outside of the script", kindOf(v))
}

func measureList(list []any) (int64, error) {
	sum := int64(overhead)
	for i, item := range list {
		n, err := Measure(item)
		if err != nil {
			return 0, fmt.Errorf("[%d]: %w", i+1, err)
		}
		sum += n
	}
	return sum, nil
}

func measureMap(m map[string]any) (int64, error) {
	sum := int64(overhead)
	for key, item := range m {
		n, err := Measure(item)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", key, err)
		}
		sum += n + overhead + int64(len(key))
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
		return "a table whose keys are not all strings"
	}
	return "a userdata"
}
