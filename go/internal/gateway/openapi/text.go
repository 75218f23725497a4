package openapi

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/yamltree"
)

// maxMemory is what the tree of one document may take, in bytes. GitHub's document of 13 MB takes a sixth of it.
const maxMemory = 256 << 20

// mostFlow is the size up to which a text in braces that is no JSON is tried as YAML.
const mostFlow = 1 << 20

// parse reads a text of JSON or YAML.
func parse(text []byte) (any, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) > 0 && start[0] == '{' {
		tree, err := parseJSON(text)
		if err == nil || len(text) > mostFlow {
			return tree, err
		}
		// A YAML text may begin so as well; where it is neither, it was meant to be JSON.
		if tree, failed := parseYAML(text); failed == nil {
			return tree, nil
		}
		return nil, err
	}
	return parseYAML(text)
}

var errMemory = fmt.Errorf("the document takes more than %d MiB of memory", maxMemory>>20)

func parseJSON(text []byte) (any, error) {
	left := int64(maxMemory)
	return jsonvalue.Decode(text, jsonvalue.Options{Room: func(more int64) error {
		if left -= more; left < 0 {
			return errMemory
		}
		return nil
	}})
}

func parseYAML(text []byte) (any, error) {
	if yamltree.Footprint(text) > maxMemory {
		return nil, errMemory
	}
	var tree any
	documents := 0
	// Parse changes directives in the text, which is a key of the cache.
	err := yamltree.Parse(bytes.Clone(text), func(node *yaml.Node) (err error) {
		if documents++; documents > 1 {
			return errors.New("there are several YAML documents in it, separated by ---")
		}
		tree, err = yamltree.Value(node, yamltree.Options{JSON: true})
		return err
	})
	return tree, err
}
