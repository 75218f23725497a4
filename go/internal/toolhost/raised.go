package toolhost

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// JSONTree is a value that a script raised as a JSON tree. What JSON has no word for becomes text: an error is told,
// whatever is in it.
func JSONTree(raised any) any {
	switch v := raised.(type) {
	case nil, bool:
		return v
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case luau.Integer:
		return json.Number(strconv.FormatInt(int64(v), 10))
	case luau.Exact:
		return json.Number(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = JSONTree(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[strings.ToValidUTF8(name, "\uFFFD")] = JSONTree(item)
		}
		return object
	case map[any]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[strings.ToValidUTF8(luau.Format(name), "\uFFFD")] = JSONTree(item)
		}
		return object
	}
	return strings.ToValidUTF8(luau.Format(raised), "\uFFFD")
}
