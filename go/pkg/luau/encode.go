package luau

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"sort"
	"strconv"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// maxExact is the largest whole number that a float64 holds together with all smaller ones.
const maxExact = 1<<53 - 1

// encoder appends flat values. s may be nil where functions and references cannot occur.
type encoder struct {
	state *State
	buf   []byte
	depth int
}

func (e *encoder) u32(n int)  { e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(n)) }
func (e *encoder) tag(t byte) { e.buf = append(e.buf, t) }
func (e *encoder) bits(t byte, n uint64) {
	e.buf = append(e.buf, t, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(n>>32), byte(n>>40), byte(n>>48), byte(n>>56))
}
func (e *encoder) number(n float64) { e.bits(capi.TagNumber, math.Float64bits(n)) }

func (e *encoder) text(t byte, s string) error {
	if len(s) > 1<<30 {
		return fail(CodeConvert, "a text of %d bytes: the limit is 1 GiB", len(s))
	}
	n := uint32(len(s))
	e.buf = append(e.buf, t, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	e.buf = append(e.buf, s...)
	return nil
}

func (e *encoder) signed(n int64) {
	if n >= -maxExact && n <= maxExact {
		e.number(float64(n))
		return
	}
	e.bits(capi.TagInteger, uint64(n))
}

func (e *encoder) unsigned(n uint64) error {
	if n <= math.MaxInt64 {
		e.signed(int64(n))
		return nil
	}
	return e.text(capi.TagExact, strconv.FormatUint(n, 10))
}

func (e *encoder) values(list []any) error {
	for i, v := range list {
		if err := e.value(v); err != nil {
			return at(fmt.Sprintf("value %d", i+1), err)
		}
	}
	return nil
}

func (e *encoder) value(v any) error {
	switch v := v.(type) {
	case nil:
		e.tag(capi.TagNil)
	case bool:
		if v {
			e.tag(capi.TagTrue)
		} else {
			e.tag(capi.TagFalse)
		}
	case float64:
		e.number(v)
	case string:
		return e.text(capi.TagString, v)
	case int:
		e.signed(int64(v))
	case int64:
		e.signed(v)
	case []any:
		return e.array(v)
	case map[string]any:
		return e.object(v)
	case []float64:
		return e.numbers(v)
	case []byte:
		return e.text(capi.TagBuffer, capi.Text(v))
	default:
		return e.special(v)
	}
	return nil
}

func (e *encoder) special(v any) error {
	switch v := v.(type) {
	case Integer:
		e.bits(capi.TagInteger, uint64(v))
	case uint64:
		return e.unsigned(v)
	case uint:
		return e.unsigned(uint64(v))
	case Exact:
		return e.text(capi.TagExact, string(v))
	case *big.Int:
		if v == nil {
			e.tag(capi.TagNil)
			return nil
		}
		if v.IsInt64() {
			e.signed(v.Int64())
			return nil
		}
		return e.text(capi.TagExact, v.String())
	case Vector:
		e.tag(capi.TagVector)
		for _, x := range v {
			e.buf = binary.LittleEndian.AppendUint32(e.buf, math.Float32bits(x))
		}
	case Null:
		e.tag(capi.TagNull)
	case Array:
		return e.array(v)
	case Native:
		return e.text(capi.TagNative, string(v))
	case Func:
		return e.function(&v)
	case *Func:
		return e.function(v)
	case *Function:
		if v == nil {
			return fail(CodeInvalid, "a nil function")
		}
		return e.reference(capi.RefFunction, &v.Ref)
	case *Thread:
		if v == nil {
			return fail(CodeInvalid, "a nil thread")
		}
		return e.reference(capi.RefThread, &v.Ref)
	case *Table:
		if v == nil {
			return fail(CodeInvalid, "a nil table")
		}
		return e.reference(capi.RefTable, &v.Ref)
	case ReadOnly:
		start := len(e.buf)
		if err := e.object(v); err != nil {
			return err
		}
		e.buf[start+1] |= capi.TableReadonly
	case Folded:
		start := len(e.buf)
		if err := e.object(v); err != nil {
			return err
		}
		e.buf[start+1] |= capi.TableFolded
	case *Object:
		if v == nil {
			return fail(CodeInvalid, "a nil object")
		}
		return e.reference(capi.RefOther, &v.Ref)
	default:
		return e.reflected(reflect.ValueOf(v))
	}
	return nil
}

func (e *encoder) reference(kind byte, r *Ref) error {
	if err := r.check(e.state); err != nil {
		return err
	}
	e.tag(capi.TagRef)
	e.tag(kind)
	e.buf = binary.LittleEndian.AppendUint64(e.buf, r.ref)
	return nil
}

func (e *encoder) function(f *Func) error {
	if f == nil || f.Do == nil {
		return fail(CodeInvalid, "a Func without Do")
	}
	if e.state == nil {
		return fail(CodeConvert, "a function cannot cross here")
	}
	id := e.state.addFunc(f)
	e.tag(capi.TagHostFn)
	e.u32(int(id))
	flags := byte(0)
	if f.MayWait {
		flags = capi.FnMayWait
	}
	e.tag(flags)
	e.u32(len(f.Name))
	e.buf = append(e.buf, f.Name...)
	return nil
}

func (e *encoder) enter() error {
	if e.depth++; e.depth > capi.MaxDepth {
		return fail(CodeConvert, "nesting deeper than %d, or a value that contains itself", capi.MaxDepth)
	}
	return nil
}

func (e *encoder) head(flags byte, array, pairs int) {
	e.tag(capi.TagTable)
	e.tag(flags)
	e.u32(array)
	e.u32(pairs)
}

func (e *encoder) array(list []any) error {
	if e.floats(list) {
		return nil
	}
	if err := e.enter(); err != nil {
		return err
	}
	e.head(capi.TableArray, len(list), 0)
	for i, v := range list {
		if v == nil {
			v = Null{} // a hole would end the array
		}
		if err := e.value(v); err != nil {
			return at(fmt.Sprintf("[%d]", i+1), err)
		}
	}
	e.depth--
	return nil
}

// floats writes the short form of a list that holds float64 alone; false and nothing written when it
// does not.
func (e *encoder) floats(list []any) bool {
	if len(list) == 0 {
		return false
	}
	if _, ok := list[len(list)-1].(float64); !ok {
		return false
	}
	start := len(e.buf)
	e.tag(capi.TagNumbers)
	e.u32(len(list))
	at := len(e.buf)
	e.buf = slices.Grow(e.buf, 8*len(list))[:at+8*len(list)]
	for i, v := range list {
		n, ok := v.(float64)
		if !ok {
			e.buf = e.buf[:start]
			return false
		}
		binary.LittleEndian.PutUint64(e.buf[at+8*i:], math.Float64bits(n))
	}
	return true
}

func (e *encoder) object(m map[string]any) error {
	if err := e.enter(); err != nil {
		return err
	}
	e.head(0, 0, len(m))
	for k, v := range m {
		if err := e.text(capi.TagString, k); err != nil {
			return err
		}
		if err := e.value(v); err != nil {
			return at("."+k, err)
		}
	}
	e.depth--
	return nil
}

func (e *encoder) numbers(list []float64) error {
	e.tag(capi.TagNumbers)
	e.u32(len(list))
	e.buf = append(e.buf, capi.FloatBytes(list)...)
	return nil
}

// reflected takes every other type: named ones, slices, maps, pointers and structs.
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
		if v.IsNil() {
			e.tag(capi.TagNil)
			return nil
		}
		if err := e.enter(); err != nil {
			return err
		}
		err := e.value(v.Elem().Interface())
		e.depth--
		return err
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

func (e *encoder) reflectedList(v reflect.Value) error {
	if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
		return e.text(capi.TagBuffer, capi.Text(v.Bytes()))
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

func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Interface:
		return r.IsNil()
	}
	return false
}

func (e *encoder) reflectedMap(v reflect.Value) error {
	if err := e.enter(); err != nil {
		return err
	}
	// Collected with their values: a NaN among the keys cannot be looked up.
	type pair struct {
		name       string
		key, value any
	}
	pairs := make([]pair, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		pairs = append(pairs, pair{fmt.Sprint(it.Key()), it.Key().Interface(), it.Value().Interface()})
	}
	sort.Slice(pairs, func(i, j int) bool { return pairs[i].name < pairs[j].name })
	e.head(0, 0, len(pairs))
	for _, p := range pairs {
		if err := e.key(p.key); err != nil {
			return err
		}
		if err := e.value(p.value); err != nil {
			return at("["+p.name+"]", err)
		}
	}
	e.depth--
	return nil
}

func (e *encoder) key(k any) error {
	switch reflect.ValueOf(k).Kind() {
	case reflect.String, reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return e.value(k)
	default:
		return fail(CodeConvert, "cannot convert a map key of type %T to Luau", k)
	}
}

// at puts a step in front of the path in a conversion error.
func at(step string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	copied := *e
	copied.Message = step + ": " + e.Message
	return &copied
}
