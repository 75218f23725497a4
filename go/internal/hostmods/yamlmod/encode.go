package yamlmod

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

func encode(value any) (string, error) {
	node, err := nodeOf(value, "$")
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

func nodeOf(v any, path string) (*yaml.Node, error) {
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
		return textNode(v, path)
	case []any:
		return listNode(v, path)
	case map[string]any:
		return tableNode(v, path)
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
func textNode(text, path string) (*yaml.Node, error) {
	if !utf8.ValidString(text) {
		return nil, cannot("a text that is no UTF-8", path)
	}
	node := &yaml.Node{}
	node.SetString(text)
	if _, same := resolve(text).(string); !same || old().MatchString(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node, nil
}

func listNode(list []any, path string) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if len(list) == 0 {
		node.Style = yaml.FlowStyle
	}
	for i, item := range list {
		child, err := nodeOf(item, path+"["+strconv.Itoa(i+1)+"]")
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, child)
	}
	return node, nil
}

func tableNode(table map[string]any, path string) (*yaml.Node, error) {
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
		name, err := textNode(key, path)
		if err != nil {
			return nil, err
		}
		if key == "<<" {
			name.Style = yaml.DoubleQuotedStyle
		}
		child, err := nodeOf(table[key], path+"."+key)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, name, child)
	}
	return node, nil
}
