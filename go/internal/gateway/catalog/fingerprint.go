package catalog

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"
	"strings"
)

// Bounds of what a fingerprint looks at. Trees that share parts may be far larger than their memory.
const (
	maxDigestNodes = 2 << 20
	maxDigestDepth = 256
)

// Hash is a fingerprint of all that scripts can see of the catalogue.
func (c *Catalog) Hash() string { return c.hash() }

// Hash is a fingerprint of the source, its functions and their names.
func (s *Scope) Hash() string { return s.hash() }

// Hash is a fingerprint of the function: its names, descriptions, schemas and hints, and the definitions that it
// refers to. Another one means that what the function is has changed.
func (c *Callable) Hash() string { return c.hash() }

func (c *Catalog) fingerprint() string {
	d := newDigest()
	for _, scope := range c.scopes {
		d.text(scope.Hash())
	}
	return d.sum()
}

func (s *Scope) fingerprint() string {
	d := newDigest()
	for _, text := range []string{s.Name, s.Ident, string(s.Kind), s.Title, s.Description, s.Version, s.Instructions} {
		d.text(text)
	}
	for _, tag := range slices.Sorted(maps.Keys(s.Tags)) {
		d.text(tag)
		d.text(s.Tags[tag])
	}
	for _, f := range s.Callables {
		d.text(f.Hash())
	}
	return d.sum()
}

func (c *Callable) fingerprint() string {
	d := newDigest()
	for _, text := range []string{c.Name, c.Ident, c.Title, c.Description, c.BodyDoc, c.Method, c.Path, strings.Join(c.Tags, "\x00")} {
		d.text(text)
	}
	for _, hint := range []*bool{&c.Deprecated, &c.BodyRequired, &c.NoResult, c.Hints.ReadOnly, c.Hints.Destructive, c.Hints.Idempotent, c.Hints.OpenWorld} {
		d.text(fmt.Sprint(hint != nil, hint != nil && *hint))
	}
	d.refs = map[string]bool{}
	if c.Params != nil {
		d.tree(c.Params, 0)
	}
	d.text("body")
	d.tree(c.Body, 0)
	d.text("result")
	d.tree(c.Result, 0)
	d.definitions(c.Defs)
	return d.sum()
}

// digest hashes texts and trees so that no two of them give the same bytes.
type digest struct {
	hash  hash.Hash
	out   *bufio.Writer // before it
	nodes int
	refs  map[string]bool // names of definitions that were met; nil where nobody asks
	todo  []string
}

func newDigest() *digest {
	d := &digest{hash: sha256.New()}
	d.out = bufio.NewWriterSize(d.hash, 1024)
	return d
}

func (d *digest) sum() string {
	d.out.Flush()
	return hex.EncodeToString(d.hash.Sum(nil)[:16])
}

func (d *digest) mark(kind byte, n uint64) {
	var b [9]byte
	b[0] = kind
	binary.BigEndian.PutUint64(b[1:], n)
	d.out.Write(b[:])
}

func (d *digest) text(s string) {
	d.mark('s', uint64(len(s)))
	d.out.WriteString(s)
}

// definitions adds those that were referred to, with those that they refer to.
func (d *digest) definitions(defs map[string]any) {
	for len(d.todo) > 0 {
		name := d.todo[0]
		d.todo = d.todo[1:]
		if def, found := defs[name]; found {
			d.text(name)
			d.tree(def, 0)
		}
	}
}

func (d *digest) tree(v any, depth int) {
	if d.nodes++; d.nodes > maxDigestNodes || depth > maxDigestDepth {
		d.mark('!', 0)
		return
	}
	switch v := v.(type) {
	case nil:
		d.mark('n', 0)
	case bool:
		d.text(fmt.Sprint("b", v))
	case string:
		d.text(v)
	case float64:
		d.mark('f', math.Float64bits(v))
	case json.Number:
		d.mark('d', 0)
		d.text(string(v))
	case []any:
		d.mark('a', uint64(len(v)))
		for _, item := range v {
			d.tree(item, depth+1)
		}
	case map[string]any:
		d.mark('o', uint64(len(v)))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			d.text(key)
			d.tree(v[key], depth+1)
			d.note(key, v[key])
		}
	default:
		d.text(fmt.Sprintf("%T %v", v, v))
	}
}

// pointerEscapes undoes those of JSON pointers.
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

func (d *digest) note(key string, value any) {
	ref, isText := value.(string)
	if key != "$ref" || !isText || d.refs == nil {
		return
	}
	for _, prefix := range []string{"#/$defs/", "#/definitions/"} {
		name, found := strings.CutPrefix(ref, prefix)
		name, _, _ = strings.Cut(name, "/")
		name = pointerEscapes.Replace(name)
		if found && !d.refs[name] {
			d.refs[name] = true
			d.todo = append(d.todo, name)
		}
	}
}
