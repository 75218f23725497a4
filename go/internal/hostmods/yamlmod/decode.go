package yamlmod

import (
	"context"
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/internal/yamltree"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// maxText is the longest text that is read, in bytes.
const maxText = 4 << 20

var codeLimit = string(luau.CodeLimit)

// decoder turns one text into values.
type decoder struct {
	ctx      context.Context
	room     *hostmod.Room
	function string
	second   *yaml.Node // where a second document begins
}

func (d *decoder) read(text []byte) ([]any, error) {
	if len(text) > maxText {
		return nil, d.fail(codeLimit, nil, fmt.Sprintf("a text of %d bytes: the limit is %d", len(text), maxText))
	}
	if err := d.room.Take(yamltree.Footprint(text)); err != nil {
		return nil, err
	}
	options := yamltree.Options{Null: luau.Null{}, Check: d.ctx.Err, Charge: d.room.Take}
	documents := []any{}
	err := yamltree.Parse(text, func(node *yaml.Node) error {
		if len(documents) == 1 {
			d.second = node
		}
		value, err := yamltree.Value(node, options)
		documents = append(documents, value)
		return err
	})
	return documents, d.told(err)
}
