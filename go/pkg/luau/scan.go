package luau

import (
	"encoding"
	"fmt"
	"reflect"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// Scan converts the values into what the pointers point to: structs by their fields, slices, maps,
// numbers, texts, any. Fewer values than pointers leave the rest untouched; more are an error.
// A []float64 takes an array of numbers at once, in the space that it has if there is enough. A number
// that does not fit is an error, never cut; only a float32 is rounded. Fields that the table lacks, and
// keys that the struct lacks, are left alone. Types with UnmarshalText take a string.
func (v Values) Scan(into ...any) error {
	if err := v.check(); err != nil {
		return err
	}
	if v.count > len(into) {
		return fail(CodeConvert, "%d values for %d places", v.count, len(into))
	}
	d := decoder{state: v.state, data: v.data, taken: v.taken}
	for i := range v.count {
		if err := d.into(into[i]); err != nil {
			return under(fmt.Sprintf("value %d", i+1), err)
		}
	}
	return nil
}

func (d *decoder) into(p any) error {
	if list, ok := p.(*[]float64); ok && list != nil && d.pos < len(d.data) && d.data[d.pos] == capi.TagNumbers {
		d.pos++
		var err error
		*list, err = d.floatList(*list)
		return err
	}
	r := reflect.ValueOf(p)
	if r.Kind() != reflect.Pointer || r.IsNil() {
		return fail(CodeInvalid, "Scan needs pointers, got %T", p)
	}
	v, err := d.value(0)
	if err != nil {
		return err
	}
	return assign(r.Elem(), v)
}

// assign stores a converted value in a Go variable.
func assign(to reflect.Value, v any) error {
	if v == nil {
		to.SetZero()
		return nil
	}
	from := reflect.ValueOf(v)
	if from.Type().AssignableTo(to.Type()) {
		to.Set(from)
		return nil
	}
	if to.Type() == bigIntType {
		return assignBig(to, v)
	}
	if s, ok := v.(string); ok && to.CanAddr() && to.Kind() != reflect.String {
		if u, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
			if err := u.UnmarshalText([]byte(s)); err != nil {
				return fail(CodeConvert, "must be %s: %v", article(to.Type()), err)
			}
			return nil
		}
	}
	switch to.Kind() {
	case reflect.Pointer:
		if to.Type() == functionType || to.Type() == threadType {
			return mismatch(to.Type(), v)
		}
		fresh := reflect.New(to.Type().Elem())
		if err := assign(fresh.Elem(), v); err != nil {
			return err
		}
		to.Set(fresh)
		return nil
	case reflect.Struct:
		return assignStruct(to, v)
	case reflect.Slice, reflect.Array:
		return assignList(to, v)
	case reflect.Map:
		return assignMap(to, v)
	default:
		return assignScalar(to, v)
	}
}

func mismatch(to reflect.Type, v any) error {
	return fail(CodeConvert, "must be %s, got %s", article(to), luauType(v))
}

// article says in Luau's words what a Go type takes.
func article(t reflect.Type) string {
	if t == bigIntType {
		return "a whole number"
	}
	for _, known := range [...]struct {
		t    reflect.Type
		name string
	}{{functionType, "a function"}, {threadType, "a thread"}, {vectorType, "a vector"}} {
		if t == known.t {
			return known.name
		}
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return "a whole number not below 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return listArticle(t)
	case reflect.Map, reflect.Struct:
		if reflect.PointerTo(t).Implements(textUnmarshaler) {
			return "a string that is a " + t.String()
		}
		return "a table"
	case reflect.Pointer:
		return article(t.Elem())
	}
	return "a Go " + t.String()
}

func listArticle(t reflect.Type) string {
	switch {
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return "a string that is a " + t.String()
	case t.Elem().Kind() == reflect.Uint8:
		return "a string or a buffer"
	}
	return "an array"
}

func luauType(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case float64:
		return "number"
	case Integer:
		return "integer"
	case Exact:
		return "exact number"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []byte:
		return "buffer"
	case Vector:
		return "vector"
	case *Function:
		return "function"
	case *Thread:
		return "thread"
	case *Object:
		return "userdata"
	}
	return "table"
}

var (
	functionType    = reflect.TypeFor[*Function]()
	threadType      = reflect.TypeFor[*Thread]()
	vectorType      = reflect.TypeFor[Vector]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func assignStruct(to reflect.Value, v any) error {
	if list, ok := v.([]any); ok && len(list) == 0 {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return mismatch(to.Type(), v)
	}
	for _, f := range fieldsOf(to.Type()) {
		item, present := m[f.name]
		if !present {
			continue
		}
		place, err := fieldPlace(to, f.index)
		if err == nil {
			err = assign(place, item)
		}
		if err != nil {
			return at("."+f.name, err)
		}
	}
	return nil
}

// fieldPlace finds a field, and makes the embedded structs on the way.
func fieldPlace(v reflect.Value, index []int) (reflect.Value, error) {
	for i, x := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() && !v.CanSet() {
				return v, fail(CodeConvert, "lies in a nil embedded %s, which is not exported", v.Type())
			}
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v, nil
}

func assignList(to reflect.Value, v any) error {
	if to.Type().Elem().Kind() == reflect.Uint8 {
		if done, err := assignBytes(to, v); done {
			return err
		}
	}
	list, ok := v.([]any)
	if m, isMap := v.(map[string]any); isMap && len(m) == 0 {
		ok = true // `{}` fits a slice as well
	}
	if vec, isVec := v.(Vector); isVec {
		list, ok = []any{float64(vec[0]), float64(vec[1]), float64(vec[2])}, true
	}
	if !ok {
		return mismatch(to.Type(), v)
	}
	if to.Kind() == reflect.Slice {
		to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
	} else if len(list) != to.Len() {
		return fail(CodeConvert, "must be an array of %d elements, got %d", to.Len(), len(list))
	}
	for i, item := range list {
		if err := assign(to.Index(i), item); err != nil {
			return at(fmt.Sprintf("[%d]", i+1), err)
		}
	}
	return nil
}

// assignBytes stores a string or a buffer; not done when v is neither.
func assignBytes(to reflect.Value, v any) (done bool, err error) {
	var b []byte
	switch v := v.(type) {
	case []byte:
		b = v
	case string:
		b = []byte(v)
	default:
		return false, nil
	}
	if to.Kind() == reflect.Slice {
		to.SetBytes(b)
		return true, nil
	}
	if len(b) != to.Len() {
		return true, fail(CodeConvert, "must be %d bytes, got %d", to.Len(), len(b))
	}
	reflect.Copy(to, reflect.ValueOf(b))
	return true, nil
}

func assignMap(to reflect.Value, v any) error {
	from := reflect.ValueOf(v)
	if list, ok := v.([]any); ok && len(list) == 0 {
		to.Set(reflect.MakeMap(to.Type()))
		return nil
	}
	if from.Kind() != reflect.Map {
		return mismatch(to.Type(), v)
	}
	out := reflect.MakeMapWithSize(to.Type(), from.Len())
	for it := from.MapRange(); it.Next(); {
		k := reflect.New(to.Type().Key()).Elem()
		if err := assign(k, it.Key().Interface()); err != nil {
			return under(fmt.Sprintf("the key %v", it.Key().Interface()), err)
		}
		e := reflect.New(to.Type().Elem()).Elem()
		if err := assign(e, it.Value().Interface()); err != nil {
			return at(keyStep(it.Key().Interface()), err)
		}
		out.SetMapIndex(k, e)
	}
	to.Set(out)
	return nil
}
