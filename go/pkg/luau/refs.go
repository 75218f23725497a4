package luau

import (
	"encoding/binary"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// taken are the Go sides of references that came in one crossing, by reference: reading a value
// twice gives the same object.
type taken map[uint64]any

// reference gives the Go side of a reference in the data.
func (d *decoder) reference(kind byte, ref uint64) any {
	if d.taken == nil {
		return d.state.wrap(kind, ref)
	}
	if v, ok := (*d.taken)[ref]; ok {
		return v
	}
	if *d.taken == nil {
		*d.taken = taken{}
	}
	v := d.state.wrap(kind, ref)
	(*d.taken)[ref] = v
	return v
}

// eachRef calls use with every reference in flat values.
func eachRef(data []byte, use func(ref uint64)) {
	for pos := 0; pos >= 0 && pos < len(data); {
		next, _ := step(data, pos)
		if data[pos] == capi.TagRef && next > 0 {
			use(binary.LittleEndian.Uint64(data[pos+2:]))
		}
		pos = next
	}
}

// dropArgs releases the references in the arguments that the function did not look at.
func (c *Call) dropArgs() {
	eachRef(c.args, func(ref uint64) {
		if _, ok := c.taken[ref]; !ok {
			c.state.vm.Release(ref)
		}
	})
	c.taken = nil
}

// Drop gives up functions, threads and other objects among values that nobody converts. Go's garbage
// collector knows nothing of them before that.
func (v Values) Drop() {
	if v.state == nil || v.state.acquire() != nil {
		return
	}
	defer v.state.done()
	eachRef(v.data, v.state.vm.Release)
}
