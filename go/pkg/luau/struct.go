package luau

import (
	"reflect"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// field is one field of a struct that crosses.
type field struct {
	name      string
	index     []int
	omitEmpty bool
}

var structFields sync.Map // reflect.Type -> []field

// fieldsOf lists the exported fields of a struct type: name from the tag `luau`, then `json`, then
// the field itself. "-" leaves one out; embedded structs are flattened.
func fieldsOf(t reflect.Type) []field {
	if cached, ok := structFields.Load(t); ok {
		return cached.([]field)
	}
	var list []field
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct {
			continue
		}
		tag, ok := f.Tag.Lookup("luau")
		if !ok {
			tag = f.Tag.Get("json")
		}
		if tag == "-" {
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		if name == "" {
			name = f.Name
		}
		list = append(list, field{name: name, index: f.Index, omitEmpty: strings.Contains(rest, "omitempty")})
	}
	structFields.Store(t, list)
	return list
}

func (e *encoder) reflectedStruct(v reflect.Value) error {
	if err := e.enter(); err != nil {
		return err
	}
	e.head(0, 0, 0)
	countAt, count := len(e.buf)-4, 0
	for _, f := range fieldsOf(v.Type()) {
		item, err := v.FieldByIndexErr(f.index)
		if err != nil || f.omitEmpty && item.IsZero() {
			continue // inside a nil embedded pointer, or left out on request
		}
		if isNil(item.Interface()) {
			continue
		}
		if err := e.text(capi.TagString, f.name); err != nil {
			return err
		}
		if err := e.value(item.Interface()); err != nil {
			return at("."+f.name, err)
		}
		count++
	}
	e.buf[countAt] = byte(count)
	e.buf[countAt+1] = byte(count >> 8)
	e.buf[countAt+2] = byte(count >> 16)
	e.buf[countAt+3] = byte(count >> 24)
	e.depth--
	return nil
}
