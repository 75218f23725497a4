package luau

import (
	"fmt"
	"math"
	"reflect"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// Scan converts the values into what the pointers point to: structs by their fields, slices, maps,
// numbers, texts, any. Fewer values than pointers leave the rest untouched; more are an error.
// A []float64 takes an array of numbers at once, in the space that it has if there is enough. A number that does not fit is an error, never cut.
func (v Values) Scan(into ...any) error {
	if v.count > len(into) {
		return fail(CodeConvert, "%d values for %d places", v.count, len(into))
	}
	d := decoder{state: v.state, data: v.data, taken: v.taken}
	for i := range v.count {
		if err := d.into(into[i]); err != nil {
			return at(fmt.Sprintf("value %d", i+1), err)
		}
	}
	return nil
}

func (d *decoder) into(p any) error {
	if list, ok := p.(*[]float64); ok && d.pos < len(d.data) && d.data[d.pos] == capi.TagNumbers {
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
	if v == nil || v == (Null{}) {
		to.SetZero()
		return nil
	}
	from := reflect.ValueOf(v)
	if from.Type().AssignableTo(to.Type()) {
		to.Set(from)
		return nil
	}
	switch to.Kind() {
	case reflect.Pointer:
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

func mismatch(to reflect.Value, v any) error {
	return fail(CodeConvert, "a Luau %s does not fit a Go %s", luauType(v), to.Type())
}

func luauType(v any) string {
	switch v.(type) {
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

func assignScalar(to reflect.Value, v any) error {
	switch x := v.(type) {
	case bool:
		if to.Kind() == reflect.Bool {
			to.SetBool(x)
			return nil
		}
	case string:
		if to.Kind() == reflect.String {
			to.SetString(x)
			return nil
		}
	case Integer:
		if to.CanInt() && !to.OverflowInt(int64(x)) {
			to.SetInt(int64(x))
			return nil
		}
		if to.CanUint() && x >= 0 && !to.OverflowUint(uint64(x)) {
			to.SetUint(uint64(x))
			return nil
		}
	case float64:
		return assignNumber(to, x)
	}
	return mismatch(to, v)
}

func assignNumber(to reflect.Value, x float64) error {
	whole := x == math.Trunc(x)
	switch {
	case to.CanFloat():
		to.SetFloat(x)
		return nil
	case to.CanInt() && whole && x >= -(1<<63) && x < 1<<63 && !to.OverflowInt(int64(x)):
		to.SetInt(int64(x))
		return nil
	case to.CanUint() && whole && x >= 0 && x < 1<<64 && !to.OverflowUint(uint64(x)):
		to.SetUint(uint64(x))
		return nil
	case to.CanInt() || to.CanUint():
		return fail(CodeConvert, "the number %v does not fit a Go %s", x, to.Type())
	}
	return mismatch(to, x)
}

func assignStruct(to reflect.Value, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return mismatch(to, v)
	}
	for _, f := range fieldsOf(to.Type()) {
		item, present := m[f.name]
		if !present {
			continue
		}
		place, err := to.FieldByIndexErr(f.index)
		if err != nil {
			return fail(CodeConvert, ".%s: inside a nil embedded pointer", f.name)
		}
		if err := assign(place, item); err != nil {
			return at("."+f.name, err)
		}
	}
	return nil
}

func assignList(to reflect.Value, v any) error {
	if b, ok := v.([]byte); ok && to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Uint8 {
		to.SetBytes(b)
		return nil
	}
	list, ok := v.([]any)
	if m, isMap := v.(map[string]any); isMap && len(m) == 0 {
		ok = true // `{}` fits a slice as well
	}
	if vec, isVec := v.(Vector); isVec {
		list, ok = []any{float64(vec[0]), float64(vec[1]), float64(vec[2])}, true
	}
	if !ok {
		return mismatch(to, v)
	}
	if to.Kind() == reflect.Slice {
		to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
	} else if len(list) != to.Len() {
		return fail(CodeConvert, "%d elements for a Go %s", len(list), to.Type())
	}
	for i, item := range list {
		if err := assign(to.Index(i), item); err != nil {
			return at(fmt.Sprintf("[%d]", i+1), err)
		}
	}
	return nil
}

func assignMap(to reflect.Value, v any) error {
	from := reflect.ValueOf(v)
	if list, ok := v.([]any); ok && len(list) == 0 {
		to.Set(reflect.MakeMap(to.Type()))
		return nil
	}
	if from.Kind() != reflect.Map {
		return mismatch(to, v)
	}
	out := reflect.MakeMapWithSize(to.Type(), from.Len())
	for it := from.MapRange(); it.Next(); {
		k := reflect.New(to.Type().Key()).Elem()
		if err := assign(k, it.Key().Interface()); err != nil {
			return at("key", err)
		}
		e := reflect.New(to.Type().Elem()).Elem()
		if err := assign(e, it.Value().Interface()); err != nil {
			return at(fmt.Sprintf("[%v]", it.Key().Interface()), err)
		}
		out.SetMapIndex(k, e)
	}
	to.Set(out)
	return nil
}
