package yamlmod

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// The bounds of a text and of what it means.
const (
	maxText    = 4 << 20
	maxDepth   = 200
	maxAliased = 16 << 20 // bytes of values that aliases repeat: a text of 1 KiB could mean gigabytes
	valueSize  = 250      // about what a value takes as a node, in Go, and on its way to the script
)

var codeLimit = string(luau.CodeLimit)

// decoder turns one text into values.
type decoder struct {
	ctx      context.Context
	room     *hostmod.Room
	function string
	second   *yaml.Node          // where a second document begins
	open     map[*yaml.Node]bool // collections that are being read
	aliases  int                 // how many aliases are being followed
	aliased  int64
}

func (d *decoder) read(text []byte) ([]any, error) {
	if len(text) > maxText {
		return nil, d.fail(codeLimit, nil, "a text of %d bytes: the limit is %d", len(text), maxText)
	}
	if !utf8.Valid(text) {
		return nil, d.notUTF8(text)
	}
	if err := d.room.Take(footprint(text)); err != nil {
		return nil, err
	}
	acceptVersions(text)
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, d.syntax(err)
	}
	documents := []any{}
	for {
		var node yaml.Node
		if err := loader.Load(&node); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, d.syntax(err)
		}
		if len(documents) == 1 {
			d.second = &node
		}
		d.open = map[*yaml.Node]bool{}
		value, err := d.value(&node, 0)
		if err != nil {
			return nil, err
		}
		documents = append(documents, value)
	}
}

// footprint is about what the nodes of a text take: each but the first has one of these before it.
func footprint(text []byte) int64 {
	n := 4 * int64(len(text))
	for _, b := range text {
		switch b {
		case '\n', ':', ',', '[', '{', '-', '?':
			n += valueSize
		}
	}
	return n
}

func (d *decoder) value(node *yaml.Node, depth int) (any, error) {
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, d.fail(codeLimit, node, "nesting deeper than %d", maxDepth)
	}
	if err := d.count(node); err != nil {
		return nil, err
	}
	switch node.Kind {
	case yaml.DocumentNode:
		if len(node.Content) == 0 {
			return nil, nil
		}
		return d.value(node.Content[0], depth)
	case yaml.AliasNode:
		return d.alias(node, depth)
	case yaml.ScalarNode:
		return d.scalar(node)
	}
	d.open[node] = true
	defer delete(d.open, node)
	if tag := node.ShortTag(); node.Style&yaml.TaggedStyle != 0 && tag != "!!map" && tag != "!!seq" && tag != "!" {
		return nil, d.fail(CodeYAML, node, "the tag %.60q is not of the core schema", tag)
	}
	if node.Kind == yaml.SequenceNode {
		return d.sequence(node, depth)
	}
	return d.mapping(node, depth)
}

// count bounds what aliases repeat.
func (d *decoder) count(node *yaml.Node) error {
	if d.aliases == 0 {
		return nil
	}
	size := valueSize + 3*int64(len(node.Value))
	if d.aliased += size; d.aliased > maxAliased {
		return d.fail(codeLimit, node, "the aliases of the text repeat more than %d MiB", maxAliased>>20)
	}
	return d.room.Take(size)
}

func (d *decoder) alias(node *yaml.Node, depth int) (any, error) {
	if d.open[node.Alias] {
		return nil, d.fail(CodeYAML, node, "the alias *%.60s is inside of what it repeats", node.Value)
	}
	d.aliases++
	defer func() { d.aliases-- }()
	return d.value(node.Alias, depth)
}

func (d *decoder) sequence(node *yaml.Node, depth int) (any, error) {
	list := make([]any, len(node.Content))
	for i, item := range node.Content {
		value, err := d.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		if value == nil {
			value = luau.Null{}
		}
		list[i] = value
	}
	return list, nil
}
