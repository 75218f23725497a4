package yamlmod

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/internal/yamltree"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// encoder builds the nodes of a value. Their memory and that of the text is taken from the room.
type encoder struct {
	room  *hostmod.Room
	depth int64
}

func (e *encoder) encode(value any) (string, error) {
	node, err := e.node(value, "$")
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	dumper, err := yaml.NewDumper(&out, yaml.WithLineWidth(-1), yaml.WithIndent(2))
	if err == nil {
		err = dumper.Dump(node)
	}
	if err == nil {
		err = dumper.Close()
	}
	if err != nil {
		return "", &luau.Error{Code: CodeYAML, Message: "yaml.encode: " + err.Error()}
	}
	return out.String(), nil
}

func (e *encoder) node(v any, path string) (*yaml.Node, error) {
	// Each level indents by two; the text is copied as it grows.
	if err := e.room.Take(yamltree.NodeSize + 8*e.depth); err != nil {
		return nil, err
	}
	e.depth++
	defer func() { e.depth-- }()
	switch v := v.(type) {
	case nil:
		return plain("null"), nil
	case bool:
		return plain(strconv.FormatBool(v)), nil
	case float64:
		return plain(numberText(v)), nil
	case luau.Integer:
		return plain(strconv.FormatInt(int64(v), 10)), nil
	case luau.Exact:
		return plain(string(v)), nil
	case string:
		return e.text(v, path)
	case []any:
		return e.list(v, path)
	case map[string]any:
		return e.table(v, path)
	case map[any]any:
		return nil, cannot("a table with keys that are no texts", path)
	case []byte:
		return nil, cannot("a buffer", path)
	}
	return nil, cannot("a function or userdata", path)
}

func cannot(what, path string) error {
	return &luau.Error{Code: CodeYAML, Message: "yaml.encode: cannot encode " + what + " at " + path}
}

// plain is a scalar without a tag: the library would write one where it reads the text differently.
func plain(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

func numberText(n float64) string {
	switch {
	case math.IsNaN(n):
		return ".nan"
	case math.IsInf(n, 1):
		return ".inf"
	case math.IsInf(n, -1):
		return "-.inf"
	}
	return luau.FormatNumber(n)
}

// textNode quotes a text that would be read as something else: by the core schema, or by readers of
// YAML 1.1, for which NO is false and 1:30 a number.
func (e *encoder) text(text, path string) (*yaml.Node, error) {
	if !utf8.ValidString(text) {
		return nil, cannot("a text that is no UTF-8", path)
	}
	if err := e.room.Take(6 * int64(len(text))); err != nil {
		return nil, err
	}
	node := &yaml.Node{}
	node.SetString(text)
	if _, same := yamltree.Resolve(text).(string); !same || yamltree.Old(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node, nil
}

func (e *encoder) list(list []any, path string) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if len(list) == 0 {
		node.Style = yaml.FlowStyle
	}
	for i, item := range list {
		child, err := e.node(item, path+"["+strconv.Itoa(i+1)+"]")
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, child)
	}
	return node, nil
}

func (e *encoder) table(table map[string]any, path string) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if len(table) == 0 {
		node.Style = yaml.FlowStyle
	}
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		name, err := e.text(key, path)
		if err != nil {
			return nil, err
		}
		if key == "<<" {
			name.Style = yaml.DoubleQuotedStyle
		}
		child, err := e.node(table[key], path+"."+key)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, name, child)
	}
	return node, nil
}
