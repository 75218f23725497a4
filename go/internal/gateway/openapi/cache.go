package openapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// cacheFormat changes with what is stored: models of another format are not read.
const cacheFormat = 1

// cache keeps models. A text is the format, a model without its schemas as JSON in one line, and the schemas as one
// array of JSON.
type cache struct {
	options Options
	key     string
}

// cacheKey depends on where a document is, for relative addresses in it.
func cacheKey(at place, hash string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(cacheFormat) + "\x00" + at.folder + "\x00" + at.String() + "\x00" + hash))
	return "openapi-" + hex.EncodeToString(sum[:16])
}

// stored is the first line of a cached model.
type stored struct {
	Format int
	Others []sum // the documents that the main one refers to
	Model  *model
}

func (c *cache) read(ctx context.Context, r *reader, at place) *model {
	if c.options.CacheRead == nil || c.options.CacheWrite == nil {
		return nil
	}
	head, schemas, ok := bytes.Cut(c.options.CacheRead(c.key), []byte("\n"))
	if !ok {
		return nil
	}
	// The two parts take about as long: a start waits for the longer one only.
	trees := make(chan any, 1)
	go func() {
		tree, _ := parseJSON(schemas) // nil is no list
		trees <- tree
	}()
	var s stored
	err := json.Unmarshal(head, &s)
	list, isList := (<-trees).([]any)
	if err != nil || !isList || s.Format != cacheFormat || s.Model == nil {
		return nil
	}
	for _, other := range s.Others {
		if !r.unchanged(ctx, at, other) {
			return nil
		}
	}
	if !s.Model.setSchemas(list) {
		return nil
	}
	return s.Model
}

// unchanged reads a document anew and compares it with what it was.
func (r *reader) unchanged(ctx context.Context, main place, before sum) bool {
	at := place{folder: main.folder, name: before.Place}
	if main.url != nil {
		var err error
		if at, err = main.relative(before.Place); err != nil {
			return false
		}
	}
	if _, _, err := r.read(ctx, at); err != nil {
		return false
	}
	return r.sums[len(r.sums)-1] == before
}

func (c *cache) write(m *model, others []sum) {
	if c.options.CacheRead == nil || c.options.CacheWrite == nil {
		return
	}
	head, err := json.Marshal(stored{cacheFormat, others, m})
	if err != nil {
		return
	}
	text, err := jsonvalue.Append(append(head, '\n'), m.schemas())
	if err == nil && int64(len(text)) <= 4*c.options.MaxSpec {
		c.options.CacheWrite(c.key, text)
	}
}

// schemas are all schemas of a model in a fixed order.
func (m *model) schemas() []any {
	list := []any{m.defs, m.results}
	for _, p := range m.Parameters {
		list = append(list, p.schema)
	}
	for _, b := range m.Bodies {
		list = append(list, b.schema)
	}
	return list
}

// setSchemas is the other way round. It says whether the list fits.
func (m *model) setSchemas(list []any) bool {
	if slices.Contains(m.Parameters, nil) || slices.Contains(m.Bodies, nil) || len(list) != len(m.schemas()) {
		return false
	}
	defs, hasDefs := list[0].(map[string]any)
	results, _ := list[1].([]any)
	m.defs, m.results, list = defs, results, list[2:]
	for i, p := range m.Parameters {
		p.schema = list[i]
	}
	for i, b := range m.Bodies {
		b.schema = list[len(m.Parameters)+i]
	}
	return hasDefs && !slices.ContainsFunc(m.Operations, m.misses)
}

// misses says whether an operation relies on what is not there.
func (m *model) misses(op *operation) bool {
	return op == nil || len(op.Keys) != len(op.Parameters) || op.Body >= len(m.Bodies) || op.Result >= len(m.results) ||
		slices.ContainsFunc(op.Parameters, func(index int) bool { return index < 0 || index >= len(m.Parameters) })
}
