package jsonvalue

import "encoding/json"

// EachText is a copy of a JSON tree with each of its texts, keys among them, as do gives it. A number whose
// digits do changes becomes a text. It does not change the tree.
func EachText(tree any, do func(string) string) any {
	switch v := tree.(type) {
	case string:
		return do(v)
	case json.Number:
		if text := do(string(v)); text != string(v) {
			return text
		}
	case float64:
		digits := string(AppendNumber(nil, v))
		if text := do(digits); text != digits {
			return text
		}
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = EachText(item, do)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[do(name)] = EachText(item, do)
		}
		return object
	}
	return tree
}
