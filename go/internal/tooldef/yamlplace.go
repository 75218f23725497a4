package tooldef

import (
	"strconv"

	"go.yaml.in/yaml/v4"
)

// maxFollowed is how many aliases and lists of merges a place is looked for behind.
const maxFollowed = 20

// place finds where a part of a document stands: its key, or its value in a list. Of a part that is not
// there it is the place of what would hold it.
func place(node *yaml.Node, path ...string) *yaml.Node {
	at := node
	for _, step := range path {
		key, value := child(node, step)
		if key == nil {
			return at
		}
		at, node = key, value
	}
	return at
}

// valueAt is the value of a key in the document itself; nil where it has none.
func valueAt(node *yaml.Node, key string) *yaml.Node {
	_, value := child(node, key)
	return follow(value)
}

func child(node *yaml.Node, step string) (key, value *yaml.Node) {
	if node = follow(node); node == nil {
		return nil, nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key := node.Content[i]; key.Kind == yaml.ScalarNode && key.Value == step {
				return key, node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}

// follow is what aliases stand for.
func follow(node *yaml.Node) *yaml.Node {
	for n := 0; node != nil && node.Kind == yaml.AliasNode && n < maxFollowed; n++ {
		node = node.Alias
	}
	return node
}
