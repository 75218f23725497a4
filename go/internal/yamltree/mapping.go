package yamltree

import (
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// mapping reads a mapping. Keys of a mapping go before those that "<<" merges into it, and earlier
// merged ones before later.
func (r *reader) mapping(node *yaml.Node, depth int) (any, error) {
	table := make(map[string]any, len(node.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if isMerge(key) {
			merges = append(merges, value)
			continue
		}
		name, err := r.key(key)
		if err != nil {
			return nil, err
		}
		if _, twice := table[name]; twice {
			return nil, fail(key, "the key %.60q is there twice", name)
		}
		if table[name], err = r.value(value, depth+1); err != nil {
			return nil, err
		}
	}
	for _, source := range merges {
		if err := r.merge(table, source, depth); err != nil {
			return nil, err
		}
	}
	return table, nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && (key.Style == 0 || key.ShortTag() == "!!merge")
}

// merge adds to a table what it has not, from a mapping or several.
func (r *reader) merge(table map[string]any, source *yaml.Node, depth int) error {
	value, err := r.value(source, depth+1)
	if err != nil {
		return err
	}
	sources, ok := value.([]any)
	if !ok {
		sources = []any{value}
	}
	for _, item := range sources {
		from, ok := item.(map[string]any)
		if !ok {
			return fail(source, "<< takes a mapping or a list of mappings")
		}
		for key, value := range from {
			if _, there := table[key]; !there {
				table[key] = value
			}
		}
	}
	return nil
}

// key is a key as text: JSON has no others. A number or a boolean is written as JSON would write it.
func (r *reader) key(node *yaml.Node) (string, error) {
	value, err := r.value(node, 0)
	if err != nil {
		return "", err
	}
	switch value := value.(type) {
	case string:
		return value, nil
	case bool:
		return strconv.FormatBool(value), nil
	case int64:
		return strconv.FormatInt(value, 10), nil
	case json.Number:
		return value.String(), nil
	case float64:
		return luau.FormatNumber(value), nil
	case nil:
		return "null", nil
	}
	return "", fail(node, "a key must be a text, a number or a boolean, not a collection")
}
