package luau

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// decoder reads flat values into Go's own types. It copies: nothing points into data afterwards.
type decoder struct {
	state  *State
	data   []byte
	pos    int
	text   []byte    // room for texts
	floats []float64 // room for boxed numbers
	texts  []string  // room for boxed texts
	taken  *taken
	failed bool // an error table of the host was at the top
}

func (d *decoder) short() error { return fail(CodeConvert, "flat value: cut short at byte %d", d.pos) }

func (d *decoder) u32() (int, bool) {
	if len(d.data)-d.pos < 4 {
		return 0, false
	}
	n := binary.LittleEndian.Uint32(d.data[d.pos:])
	d.pos += 4
	return int(n), true
}

func (d *decoder) u64() (uint64, bool) {
	if len(d.data)-d.pos < 8 {
		return 0, false
	}
	n := binary.LittleEndian.Uint64(d.data[d.pos:])
	d.pos += 8
	return n, true
}

func (d *decoder) bytes() ([]byte, bool) {
	n, ok := d.u32()
	if !ok || len(d.data)-d.pos < n {
		return nil, false
	}
	b := d.data[d.pos : d.pos+n]
	d.pos += n
	return b, true
}

// Rooms for what a crossing allocates: many small things share one allocation, but not so many that
// a kept one keeps much.
const (
	textRoom  = 4 << 10 // bytes
	boxRoom   = 256     // numbers or texts
	largeText = 512     // bytes; such a text has an allocation of its own
)

func (d *decoder) string() (string, bool) {
	b, ok := d.bytes()
	if !ok {
		return "", false
	}
	return d.keep(b), true
}

// keep copies a text.
func (d *decoder) keep(b []byte) string {
	if len(b) >= largeText {
		return string(b)
	}
	if cap(d.text)-len(d.text) < len(b) {
		d.text = make([]byte, 0, max(len(b), min(textRoom, len(b)+len(d.data)-d.pos)))
	}
	from := len(d.text)
	d.text = append(d.text, b...)
	return capi.Text(d.text[from:])
}

func (d *decoder) boxFloat(n float64) any {
	if len(d.floats) == cap(d.floats) {
		d.floats = make([]float64, 0, 1+min(boxRoom-1, (len(d.data)-d.pos)/9))
	}
	d.floats = append(d.floats, n)
	return capi.BoxFloat(&d.floats[len(d.floats)-1])
}

func (d *decoder) boxString(s string) any {
	if len(d.texts) == cap(d.texts) {
		d.texts = make([]string, 0, 1+min(boxRoom-1, (len(d.data)-d.pos)/8))
	}
	d.texts = append(d.texts, s)
	return capi.BoxString(&d.texts[len(d.texts)-1])
}

func (d *decoder) value(depth int) (any, error) {
	if d.pos >= len(d.data) {
		return nil, d.short()
	}
	tag := d.data[d.pos]
	d.pos++
	switch tag {
	case capi.TagNil:
		return nil, nil
	case capi.TagFalse:
		return false, nil
	case capi.TagTrue:
		return true, nil
	case capi.TagNumber:
		if n, ok := d.u64(); ok {
			return d.boxFloat(math.Float64frombits(n)), nil
		}
	case capi.TagString:
		if s, ok := d.string(); ok {
			return d.boxString(s), nil
		}
	case capi.TagTable:
		return d.table(depth)
	case capi.TagNumbers:
		return d.numbers()
	case capi.TagInteger:
		if n, ok := d.u64(); ok {
			return Integer(n), nil
		}
	case capi.TagNull:
		return nil, nil
	default:
		return d.rare(tag)
	}
	return nil, d.short()
}

func (d *decoder) rare(tag byte) (any, error) {
	switch tag {
	case capi.TagVector:
		if len(d.data)-d.pos < 12 {
			return nil, d.short()
		}
		var v Vector
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(d.data[d.pos+4*i:]))
		}
		d.pos += 12
		return v, nil
	case capi.TagBuffer:
		if b, ok := d.bytes(); ok {
			return append(make([]byte, 0, len(b)), b...), nil
		}
	case capi.TagExact:
		if b, ok := d.bytes(); ok {
			return exactOf(b)
		}
	case capi.TagRef:
		if len(d.data)-d.pos < 9 {
			return nil, d.short()
		}
		kind := d.data[d.pos]
		ref := binary.LittleEndian.Uint64(d.data[d.pos+1:])
		d.pos += 9
		return d.reference(kind, ref)
	default:
		return nil, fail(CodeConvert, "flat value: unknown tag %d at byte %d", tag, d.pos-1)
	}
	return nil, d.short()
}

func (d *decoder) numbers() (any, error) {
	list, err := d.floatList(nil)
	if err != nil {
		return nil, err
	}
	return capi.BoxFloats(list, make([]any, 0, len(list))), nil
}

// floatList reads the numbers into the space of `into` where they fit.
func (d *decoder) floatList(into []float64) ([]float64, error) {
	n, ok := d.u32()
	if !ok || (len(d.data)-d.pos)/8 < n {
		return nil, d.short()
	}
	if cap(into) < n || into == nil {
		into = make([]float64, n)
	}
	into = into[:n]
	copy(capi.FloatBytes(into), d.data[d.pos:])
	d.pos += 8 * n
	return into, nil
}

func (d *decoder) table(depth int) (any, error) {
	if depth >= capi.MaxDepth {
		return nil, fail(CodeConvert, "nesting deeper than %d", capi.MaxDepth)
	}
	flags, narr, npairs, err := d.tableHead()
	if err != nil {
		return nil, err
	}
	if depth == 0 && flags&capi.TableError != 0 {
		d.failed = true
	}
	if npairs == 0 && (narr > 0 || flags&capi.TableArray != 0) {
		return d.list(narr, depth)
	}
	if narr == 0 {
		return d.object(npairs, depth)
	}
	return d.mixed(make(map[any]any, narr+npairs), narr, npairs, depth)
}

func (d *decoder) tableHead() (flags byte, narr, npairs int, err error) {
	if len(d.data)-d.pos < 9 {
		return 0, 0, 0, d.short()
	}
	flags = d.data[d.pos]
	d.pos++
	narr, _ = d.u32()
	npairs, _ = d.u32()
	// Every element takes a byte at least, so that sizes cannot promise more than there is.
	if left := len(d.data) - d.pos; narr > left || npairs > left/2 {
		return 0, 0, 0, d.short()
	}
	return flags, narr, npairs, nil
}

func (d *decoder) list(n, depth int) (any, error) {
	list := make([]any, n)
	for i := range list {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

// object reads pairs into a map with string keys, and goes on with a mixed map at the first key that
// is no string. It must not start over there: nested tables would then be read 2^depth times.
func (d *decoder) object(n, depth int) (any, error) {
	m := make(map[string]any, n)
	for i := range n {
		if d.pos >= len(d.data) {
			return nil, d.short()
		}
		if d.data[d.pos] != capi.TagString {
			return d.pairs(widened(m, n), n-i, depth)
		}
		d.pos++
		k, ok := d.string()
		if !ok {
			return nil, d.short()
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		m[k] = v
	}
	return m, nil
}

func widened(m map[string]any, n int) map[any]any {
	wide := make(map[any]any, n)
	for k, v := range m {
		wide[k] = v
	}
	return wide
}

func (d *decoder) mixed(m map[any]any, narr, npairs, depth int) (any, error) {
	for i := range narr {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if v != nil { // a hole has no key
			m[float64(i+1)] = v
		}
	}
	if len(m) > 0 {
		return d.pairs(m, npairs, depth)
	}
	// Nothing but holes: then the pairs alone say what kind of table it is.
	return d.object(npairs, depth)
}

func (d *decoder) pairs(m map[any]any, n, depth int) (any, error) {
	for range n {
		k, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		switch n := k.(type) {
		case float64:
			if n != n {
				return nil, fail(CodeConvert, "a table key is NaN")
			}
		case string, bool, Integer:
		default:
			return nil, fail(CodeConvert, "a table key of type %T", k)
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if _, text := k.(string); v == nil && !text {
			return nil, fail(CodeConvert, "null under a key that is no text")
		}
		m[k] = v
	}
	return m, nil
}

// wrap makes the Go side of a reference that is its own. The garbage collector is a backstop for Release.
func (s *State) wrap(kind byte, ref uint64) any {
	r := Ref{state: s, ref: ref}
	switch kind {
	case capi.RefFunction:
		f := &Function{r}
		f.cleanup = runtime.AddCleanup(f, s.forget, ref)
		return f
	case capi.RefThread:
		t := &Thread{r}
		t.cleanup = runtime.AddCleanup(t, s.forget, ref)
		return t
	case capi.RefTable:
		t := &Table{r}
		t.cleanup = runtime.AddCleanup(t, s.forget, ref)
		return t
	default:
		o := &Object{r}
		o.cleanup = runtime.AddCleanup(o, s.forget, ref)
		return o
	}
}

// Values are results or arguments that have not been converted yet: [Call.Args] and [Outcome] have
// them, while [Function.Call] and [State.Do] give converted ones. They belong to the goroutine that
// uses the State, until it uses the State again; arguments, until the host function returns. Later
// use is an error.
type Values struct {
	state *State
	data  []byte
	count int
	taken *taken  // what was converted so far, of arguments
	live  *uint64 // they are valid while it is stamp
	stamp uint64
}

func (s *State) valuesOf(r capi.Result) Values {
	return Values{state: s, data: r.Data, count: int(r.Count), live: &s.stamp, stamp: s.stamp}
}

// check says whether the data may still be read: it is memory of the VM.
func (v Values) check() error {
	if v.live != nil && *v.live != v.stamp {
		return fail(CodeInvalid, "these values are over: convert them before the State is used again")
	}
	return nil
}

// Len is the number of values.
func (v Values) Len() int { return v.count }

// All converts every value: nil, bool, float64, string, []byte (buffer), []any, map[string]any,
// map[any]any (a table with both array and other keys, or with keys that are no texts), [Integer],
// [Exact], [Vector], *[Function], *[Thread], *[Object]. A JSON null is nil, also in an array and under
// a key of a map.
func (v Values) All() ([]any, error) { return v.all(nil) }

// AllKept is All, but that a value which is json.null itself is [Null], so that it can go back as it is.
func (v Values) AllKept() ([]any, error) { return v.all(Null{}) }

func (v Values) all(null any) ([]any, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	d := decoder{state: v.state, data: v.data, taken: v.taken}
	out := make([]any, v.count)
	for i := range out {
		isNull := d.pos < len(d.data) && d.data[d.pos] == capi.TagNull
		var err error
		if out[i], err = d.value(0); err != nil {
			return nil, err
		}
		if isNull {
			out[i] = null
		}
	}
	if d.pos != len(d.data) {
		return nil, fail(CodeConvert, "flat values: %d bytes too many", len(d.data)-d.pos)
	}
	return out, nil
}

// String shows the number of values and their size.
func (v Values) String() string { return fmt.Sprintf("%d values in %d bytes", v.count, len(v.data)) }
