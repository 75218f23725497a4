package luau

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// field is one field of a struct that crosses.
type field struct {
	name      string
	index     []int
	tagged    bool
	omitEmpty bool
}

var structFields sync.Map // reflect.Type -> []field

// fieldsOf lists the exported fields of a struct type: name from the tag `luau`, then `json`, then
// the field itself. "-" leaves one out. Embedded structs without a name are flattened, and as in
// encoding/json the shallowest field of a name wins, then the only one with a tag.
func fieldsOf(t reflect.Type) []field {
	if cached, ok := structFields.Load(t); ok {
		return cached.([]field)
	}
	var list []field
	collectFields(t, nil, map[reflect.Type]bool{}, &list)
	slices.SortStableFunc(list, func(a, b field) int { return len(a.index) - len(b.index) })
	var kept []field
	for i, f := range list {
		if dominant(list, i) {
			kept = append(kept, f)
		}
	}
	slices.SortStableFunc(kept, func(a, b field) int { return slices.Compare(a.index, b.index) })
	structFields.Store(t, kept)
	return kept
}

// dominant says whether no other field of the name hides list[i].
func dominant(list []field, i int) bool {
	f := list[i]
	for j, other := range list {
		if j == i || other.name != f.name || len(other.index) > len(f.index) {
			continue
		}
		if len(other.index) < len(f.index) || other.tagged || !f.tagged {
			return false
		}
	}
	return true
}

func collectFields(t reflect.Type, index []int, above map[reflect.Type]bool, list *[]field) {
	if above[t] {
		return // a type that embeds itself by pointer
	}
	above[t] = true
	defer delete(above, t)
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		name, options, tagged, skip := fieldTag(f)
		inner := f.Type
		if f.Anonymous && inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case skip:
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			collectFields(inner, at, above, list)
		case f.IsExported():
			if name == "" {
				name = f.Name
			}
			*list = append(*list, field{name: name, index: at, tagged: tagged, omitEmpty: hasOption(options, "omitempty")})
		}
	}
}

func fieldTag(f reflect.StructField) (name, options string, tagged, skip bool) {
	tag, ok := f.Tag.Lookup("luau")
	if !ok {
		tag = f.Tag.Get("json")
	}
	name, options, _ = strings.Cut(tag, ",")
	return name, options, name != "", tag == "-"
}

func hasOption(options, name string) bool {
	return slices.Contains(strings.Split(options, ","), name)
}

func (e *encoder) reflectedStruct(v reflect.Value) error {
	if done, err := e.own(v); done {
		return err
	}
	if err := e.enter(); err != nil {
		return err
	}
	e.head(0, 0, 0)
	countAt, count := len(e.buf)-4, 0
	for _, f := range fieldsOf(v.Type()) {
		item, err := v.FieldByIndexErr(f.index)
		if err != nil || f.omitEmpty && isEmpty(item) {
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
	e.putCount(countAt, count)
	e.depth--
	return nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return v.Len() == 0
	}
	return v.IsZero()
}
