package luau

// taken are the Go sides of references that came in one crossing, by reference: reading a value
// twice gives the same object.
type taken map[uint64]any

// reference gives the Go side of a reference in the data. What nobody reads goes with the data.
func (d *decoder) reference(kind byte, ref uint64) (any, error) {
	if d.taken != nil {
		if v, ok := (*d.taken)[ref]; ok {
			return v, nil
		}
	}
	held := d.state.vm.Hold(ref)
	if held == 0 {
		return nil, fail(CodeInvalid, "a value that is gone, or no memory to keep it")
	}
	v := d.state.wrap(kind, held)
	if d.taken != nil {
		if *d.taken == nil {
			*d.taken = taken{}
		}
		(*d.taken)[ref] = v
	}
	return v, nil
}
