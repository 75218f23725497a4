package openapi

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// Bounds of what a document means. GitHub's has 1,223 operations.
const (
	mostOperations = 20_000
	mostParameters = 300     // of one operation
	mostEntries    = 300_000 // parameters, fields and responses of all operations
	mostReferences = 50      // that lead to each other
	mostWarnings   = 100
)

// document is one text, read.
type document struct {
	place   place
	root    map[string]any
	old     bool // its schemas are those of OpenAPI 3.0
	swagger bool // it was Swagger 2
}

// node is an object within a document, and where it is.
type node struct {
	in      *document
	pointer string
	value   map[string]any
}

// child is the object under a key; its value is nil where there is none.
func (n node) child(key string) node {
	value, _ := n.value[key].(map[string]any)
	return node{n.in, jsonvalue.AppendPointer(n.pointer, key), value}
}

// items are the objects of a list.
func (n node) items(key string) []node {
	list, _ := n.value[key].([]any)
	nodes := make([]node, 0, len(list))
	for i, item := range list {
		value, _ := item.(map[string]any)
		nodes = append(nodes, node{n.in, jsonvalue.AppendPointer(n.pointer, key) + "/" + strconv.Itoa(i), value})
	}
	return nodes
}

func (n node) text(key string) string {
	text, _ := n.value[key].(string)
	return text
}

func (n node) flag(key string) bool {
	flag, _ := n.value[key].(bool)
	return flag
}

func (n node) texts(key string) []string {
	list, _ := n.value[key].([]any)
	var texts []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// identity tells whether two nodes are the same object, wherever it was found. Documents live as long as what is made
// of them is made.
func (n node) identity() uintptr { return reflect.ValueOf(n.value).Pointer() }

// library is all documents of one API.
type library struct {
	ctx       context.Context
	reader    *reader
	main      *document
	documents map[string]*document // by place; nil: it cannot be read
	failures  map[string]error
	anchors   map[*document]map[string]string // the pointers of $anchor and $id
	warnings  []string
	warned    map[string]bool
}

func (l *library) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(l.warnings) >= mostWarnings || l.warned[text] {
		return
	}
	if l.warned == nil {
		l.warned = map[string]bool{}
	}
	l.warned[text] = true
	l.warnings = append(l.warnings, text)
}

// resolve follows a node's references to what they mean.
func (l *library) resolve(n node) (node, error) {
	var trail []string
	for {
		reference, ok := n.value["$ref"].(string)
		if !ok {
			return n, nil
		}
		if trail = append(trail, reference); len(trail) > mostReferences {
			return n, fmt.Errorf("references that lead only to each other: %s", loop(trail))
		}
		target, value, err := l.find(n.in, reference)
		if err != nil {
			return n, err
		}
		object, ok := value.(map[string]any)
		if !ok {
			return n, fmt.Errorf("$ref %.200q does not lead to an object", reference)
		}
		target.value = object
		n = target
	}
}

// loop writes a trail up to where it begins again.
func loop(trail []string) string {
	seen := map[string]bool{}
	for i, step := range trail {
		if seen[step] || i >= 6 {
			return strings.Join(trail[:i+1], " -> ")
		}
		seen[step] = true
	}
	return strings.Join(trail, " -> ")
}

// find looks a reference up; it does not follow those that it finds.
func (l *library) find(from *document, reference string) (node, any, error) {
	address, fragment, _ := strings.Cut(reference, "#")
	in := from
	if address != "" {
		found, err := l.open(from, address)
		if err != nil {
			return node{}, nil, fmt.Errorf("$ref %.200q: %w", reference, err)
		}
		in = found
	}
	pointer := unescape(fragment)
	if pointer != "" && !strings.HasPrefix(pointer, "/") {
		known, ok := l.anchorsOf(in)[pointer]
		if !ok {
			return node{}, nil, fmt.Errorf("$ref %.200q leads nowhere: there is no such $anchor", reference)
		}
		pointer = known
	}
	if name, ok := strings.CutPrefix(pointer, "/definitions/"); ok && in.swagger {
		pointer = componentSchemas + name
	}
	value, ok := lookUp(in.root, pointer)
	if !ok {
		return node{}, nil, fmt.Errorf("$ref %.200q leads nowhere", reference)
	}
	return node{in: in, pointer: pointer}, value, nil
}

// pointerToken reads a part of a JSON pointer.
var pointerToken = strings.NewReplacer("~1", "/", "~0", "~")

// lookUp follows a JSON pointer.
func lookUp(tree any, pointer string) (any, bool) {
	for pointer != "" {
		token, rest, more := strings.Cut(pointer[1:], "/")
		token = pointerToken.Replace(token)
		switch v := tree.(type) {
		case map[string]any:
			next, there := v[token]
			if !there {
				return nil, false
			}
			tree = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			tree = v[i]
		default:
			return nil, false
		}
		if !more {
			break
		}
		pointer = "/" + rest
	}
	return tree, true
}

// anchorsOf finds the places that a document names.
func (l *library) anchorsOf(d *document) map[string]string {
	if known, ok := l.anchors[d]; ok {
		return known
	}
	found := map[string]string{}
	var walk func(v any, pointer string)
	walk = func(v any, pointer string) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range []string{"$anchor", "$dynamicAnchor"} {
				if name, ok := v[key].(string); ok {
					if before, twice := found[name]; !twice || pointer < before {
						found[name] = pointer
					}
				}
			}
			for key, item := range v {
				switch item.(type) {
				case map[string]any, []any:
					walk(item, jsonvalue.AppendPointer(pointer, key))
				}
			}
		case []any:
			for i, item := range v {
				walk(item, pointer+"/"+strconv.Itoa(i))
			}
		}
	}
	walk(d.root, "")
	if l.anchors == nil {
		l.anchors = map[*document]map[string]string{}
	}
	l.anchors[d] = found
	return found
}
