package luau

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// encoder appends flat values. state may be nil where functions and references cannot occur.
type encoder struct {
	state *State
	buf   []byte
	depth int
	funcs []uint32 // numbers of the functions among the values
}

// dropFuncs takes back the functions of values that will not reach the VM.
func (e *encoder) dropFuncs() {
	for _, id := range e.funcs {
		e.state.funcs.drop(id)
	}
	e.funcs = e.funcs[:0]
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

func (e *encoder) values(list []any) error {
	for i, v := range list {
		if err := e.value(v); err != nil {
			e.dropFuncs()
			return under(fmt.Sprintf("value %d", i+1), err)
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
		return e.exact(string(v))
	case json.Number:
		return e.decimal(string(v))
	case *big.Int:
		return e.big(v)
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
	case ReadOnly:
		return e.marked(capi.TableReadonly, v)
	case Folded:
		return e.marked(capi.TableFolded, v)
	case Lazy:
		return e.marked(capi.TableLazy, map[string]any{"": v.Find}) // where the VM looks for it
	case *Function:
		return e.reference(capi.RefFunction, innerRef(v))
	case *Thread:
		return e.reference(capi.RefThread, innerRef(v))
	case *Table:
		return e.reference(capi.RefTable, innerRef(v))
	case *Object:
		return e.reference(capi.RefOther, innerRef(v))
	default:
		return e.reflected(reflect.ValueOf(v))
	}
	return nil
}

// marked writes an object with a mark on its table.
func (e *encoder) marked(flag byte, m map[string]any) error {
	start := len(e.buf)
	if err := e.object(m); err != nil {
		return err
	}
	e.buf[start+1] |= flag
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
		return fail(CodeInvalid, "a nil function, or a Func without Do")
	}
	if len(f.Name) > 255 {
		return fail(CodeInvalid, "the name of a Func is longer than 255 bytes")
	}
	if e.state == nil {
		return fail(CodeConvert, "a function cannot cross here")
	}
	id := e.state.funcs.add(e.state.vm, f)
	e.funcs = append(e.funcs, id)
	e.tag(capi.TagHostFn)
	e.u32(int(id))
	flags := byte(0)
	if f.MayWait {
		flags |= capi.FnMayWait
	}
	if f.Pure {
		flags |= capi.FnPure
	}
	if f.Quiet {
		flags |= capi.FnQuiet
	}
	e.tag(flags)
	e.u32(len(f.Name))
	e.buf = append(e.buf, f.Name...)
	return nil
}

// innerRef is the reference inside of a value that may be nil.
func innerRef[T Function | Thread | Table | Object](v *T) *Ref {
	switch v := any(v).(type) {
	case *Function:
		if v != nil {
			return &v.Ref
		}
	case *Thread:
		if v != nil {
			return &v.Ref
		}
	case *Table:
		if v != nil {
			return &v.Ref
		}
	case *Object:
		if v != nil {
			return &v.Ref
		}
	}
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

// maxElements of one table: more than fit into the memory of any sensible State.
const maxElements = 1 << 26

func tooMany(n int) error {
	return fail(CodeConvert, "%d elements in one table: the limit is %d", n, maxElements)
}

func (e *encoder) array(list []any) error {
	if len(list) > maxElements {
		return tooMany(len(list))
	}
	if e.floats(list) {
		return nil
	}
	if err := e.enter(); err != nil {
		return err
	}
	e.head(capi.TableArray, len(list), 0)
	for i, v := range list {
		if isNil(v) {
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
	if len(list) == 0 {
		return e.array(nil)
	}
	if len(list) > maxElements {
		return tooMany(len(list))
	}
	e.tag(capi.TagNumbers)
	e.u32(len(list))
	e.buf = append(e.buf, capi.FloatBytes(list)...)
	return nil
}
