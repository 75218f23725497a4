package luau

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// reflected takes every type that value has no case for: named ones, slices, maps, pointers, structs.
func (e *encoder) reflected(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		return e.value(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.signed(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return e.unsigned(v.Uint())
	case reflect.Float32, reflect.Float64:
		e.number(v.Float())
	case reflect.String:
		return e.text(capi.TagString, v.String())
	case reflect.Pointer, reflect.Interface:
		return e.pointer(v)
	case reflect.Slice, reflect.Array:
		return e.reflectedList(v)
	case reflect.Map:
		return e.reflectedMap(v)
	case reflect.Struct:
		return e.reflectedStruct(v)
	default:
		return fail(CodeConvert, "cannot convert a Go %s to Luau", v.Type())
	}
	return nil
}

// own writes a value by its type's own rule, where it has one: time.Time, netip.Addr, UUIDs.
func (e *encoder) own(v reflect.Value) (done bool, err error) {
	m, ok := v.Interface().(encoding.TextMarshaler)
	if !ok {
		return false, nil
	}
	text, err := m.MarshalText()
	if err != nil {
		return true, fail(CodeConvert, "%s: %v", v.Type(), err)
	}
	return true, e.text(capi.TagString, string(text))
}

func (e *encoder) pointer(v reflect.Value) error {
	if v.IsNil() {
		e.tag(capi.TagNil)
		return nil
	}
	if err := e.enter(); err != nil {
		return err
	}
	defer func() { e.depth-- }()
	if v.Elem().Kind() == reflect.Struct {
		// A method of the pointer may be the rule.
		if done, err := e.own(v); done {
			return err
		}
	}
	return e.value(v.Elem().Interface())
}

func (e *encoder) reflectedList(v reflect.Value) error {
	if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
		return e.text(capi.TagBuffer, capi.Text(v.Bytes()))
	}
	if v.Kind() == reflect.Array {
		if done, err := e.own(v); done {
			return err
		}
	}
	if v.Len() > maxElements {
		return tooMany(v.Len())
	}
	if err := e.enter(); err != nil {
		return err
	}
	e.head(capi.TableArray, v.Len(), 0)
	for i := range v.Len() {
		item := v.Index(i).Interface()
		if isNil(item) {
			item = Null{}
		}
		if err := e.value(item); err != nil {
			return at(fmt.Sprintf("[%d]", i+1), err)
		}
	}
	e.depth--
	return nil
}

// isNil says whether a value becomes nil in Luau: nil itself and nil pointers. Nil slices and maps
// are empty tables.
func isNil(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool, string, float64, int, []any, map[string]any:
		return false
	case *Function, *Thread, *Table, *Object, *Func:
		return false // a nil one is a mistake
	default:
		r := reflect.ValueOf(v)
		return r.Kind() == reflect.Pointer && r.IsNil()
	}
}

func (e *encoder) reflectedMap(v reflect.Value) error {
	if v.Len() > maxElements {
		return tooMany(v.Len())
	}
	if err := e.enter(); err != nil {
		return err
	}
	e.head(0, 0, 0)
	countAt, count := len(e.buf)-4, 0
	for it := v.MapRange(); it.Next(); {
		k, item := it.Key(), it.Value().Interface()
		for k.Kind() == reflect.Interface && !k.IsNil() {
			k = k.Elem()
		}
		if isNil(item) && k.Kind() != reflect.String {
			continue // only a text key can be null
		}
		if err := e.key(k); err != nil {
			return err
		}
		if err := e.value(item); err != nil {
			return at(keyStep(k.Interface()), err)
		}
		count++
	}
	e.putCount(countAt, count)
	e.depth--
	return nil
}

// putCount sets the number of pairs of a table that was begun with none.
func (e *encoder) putCount(at, count int) {
	binary.LittleEndian.PutUint32(e.buf[at:], uint32(count))
}

func (e *encoder) key(k reflect.Value) error {
	switch k.Kind() {
	case reflect.String:
		return e.text(capi.TagString, k.String())
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return e.value(k.Interface())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if k.Uint() <= 1<<63-1 {
			return e.value(k.Interface())
		}
		return fail(CodeConvert, "the map key %d is larger than Luau's integers", k.Uint())
	case reflect.Float32, reflect.Float64:
		if n := k.Float(); n == n {
			e.number(n)
			return nil
		}
		return fail(CodeConvert, "a map key is NaN")
	case reflect.Invalid:
		return fail(CodeConvert, "a map key is nil")
	}
	return fail(CodeConvert, "cannot convert a map key of type %s to Luau", k.Type())
}
