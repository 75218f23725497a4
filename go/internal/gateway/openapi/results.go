package openapi

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// response is what one response of the document says.
type response struct {
	number int // among all of them
	types  []string
	result any // nil: nothing is known
}

// responsesOf finds what a call gives.
func (b *builder) responsesOf(made *operation, op node) {
	table := op.child("responses")
	codes := slices.DeleteFunc(sortedKeys(table.value), func(code string) bool {
		return !strings.HasPrefix(code, "2")
	})
	if len(codes) == 0 && table.value["default"] != nil {
		codes = []string{"default"}
	}
	var types []string
	var results []any
	key, unknown := "", false
	for _, code := range codes {
		b.entries++
		r, err := b.response(table.child(code))
		if err != nil {
			b.warn("%s %.200s: response %.10s: %s", made.Method, made.Path, code, err)
			unknown = true
			continue
		}
		types = append(types, r.types...)
		if r.result != nil {
			key += strconv.Itoa(r.number) + " "
			results = append(results, r.result)
		}
	}
	made.Accept = acceptOf(types)
	made.NoResult = len(types) == 0 && !unknown && len(codes) > 0 || made.Method == http.MethodHead
	made.Result = b.resultIndex(key, results)
}

func (b *builder) response(n node) (*response, error) {
	n, err := b.resolve(n)
	if err != nil {
		return nil, err
	}
	known := b.responses[n.identity()]
	if known == nil {
		media := n.child("content")
		known = &response{len(b.responses), mediaTypes(media.value), b.resultOf(media)}
		b.responses[n.identity()] = known
	}
	return known, nil
}

// resultIndex keeps the results of several responses together. What is the same among them is known when the
// references in them are written.
func (b *builder) resultIndex(key string, results []any) int {
	if len(results) == 0 {
		return -1
	}
	index, known := b.either[key]
	if !known {
		index = len(b.model.results)
		b.model.results = append(b.model.results, results)
		b.either[key] = index
	}
	return index
}

// resultOf is the schema of a response's content as a script gets it, and the media types that it may have.
func (b *builder) resultOf(media node) any {
	types := mediaTypes(media.value)
	if len(types) == 0 {
		return nil
	}
	switch kindOf(types[0]) {
	case kindJSON:
		n := media.child(types[0])
		if raw, ok := n.value["schema"]; ok {
			return b.schemas.schema(n.in, raw)
		}
		return nil
	case kindBinary:
		return map[string]any{"type": "string", "format": "binary", "description": types[0]}
	}
	return map[string]any{"type": "string", "description": types[0]}
}

// eitherOf is one of several schemas.
func eitherOf(list []any) any {
	list = distinctSchemas(list)
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return map[string]any{"anyOf": list}
}

func distinctSchemas(list []any) []any {
	var kept []any
	for _, s := range list {
		if !slices.ContainsFunc(kept, func(other any) bool { return reflect.DeepEqual(s, other) }) {
			kept = append(kept, s)
		}
	}
	return kept
}

func acceptOf(types []string) string {
	slices.SortStableFunc(types, func(a, b string) int { return int(kindOf(a)) - int(kindOf(b)) })
	types = slices.Compact(types)
	if len(types) == 0 {
		return "application/json, */*;q=0.5"
	}
	return strings.Join(types[:min(4, len(types))], ", ") + ", */*;q=0.1"
}
