package capi

/*
#include "hukilau.h"
#cgo noescape hk_call_reserve
#cgo nocallback hk_call_reserve
*/
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Handler receives what one VM asks of the host. HostCall must not panic and must not exit the
// goroutine: C frames are below it.
type Handler interface {
	HostCall(call Call)
	Output(data []byte)
}

// handlers maps host numbers to Handlers: C holds numbers, never Go pointers. Reads take no lock.
var handlers struct {
	sync.Mutex
	table atomic.Pointer[[]Handler]
	free  []uint64
}

// Register gives a Handler its number, never 0. It stays until Unregister.
func Register(h Handler) uint64 {
	handlers.Lock()
	defer handlers.Unlock()
	old := handlers.table.Load()
	if n := len(handlers.free); n > 0 {
		id := handlers.free[n-1]
		handlers.free = handlers.free[:n-1]
		(*old)[id] = h
		return id
	}
	var grown []Handler
	if old == nil {
		grown = make([]Handler, 2, 64)
	} else if grown = *old; len(grown) == cap(grown) {
		// Readers may hold the old table, so a full one is copied, never moved.
		grown = append(make([]Handler, 0, 2*cap(grown)), grown...)
		grown = append(grown, nil)
	} else {
		grown = append(grown, nil)
	}
	id := uint64(len(grown) - 1)
	grown[id] = h
	handlers.table.Store(&grown)
	return id
}

// Unregister gives the number back. No call of that VM may be under way.
func Unregister(id uint64) {
	handlers.Lock()
	defer handlers.Unlock()
	(*handlers.table.Load())[id] = nil
	handlers.free = append(handlers.free, id)
}

// CallStatus is hk_call_status.
type CallStatus int32

// The values of hk_call_status.
const (
	CallReturn CallStatus = C.HK_CALL_RETURN
	CallError  CallStatus = C.HK_CALL_ERROR
	CallWait   CallStatus = C.HK_CALL_WAIT
	CallMemory CallStatus = C.HK_CALL_MEMORY
)

// Call is hk_call: valid until HostCall returns.
type Call struct{ p *C.hk_call }

// Valid says whether the call is still under way: its owner sets it to zero afterwards.
func (c Call) Valid() bool { return c.p != nil }

// ID is the number given with the function.
func (c Call) ID() uint32 { return uint32(c.p.id) }

// Args gives the arguments, a view of C memory, and their number.
func (c Call) Args() ([]byte, int) {
	if c.p.args_size == 0 {
		return nil, int(c.p.nargs)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(c.p.args)), int(c.p.args_size)), int(c.p.nargs)
}

// CanWait says whether CallWait may be answered.
func (c Call) CanWait() bool { return c.p.can_wait != 0 }

// Finish sets the outcome; data is copied. False when there is no memory for it: then the script gets
// an error that says so, unless another outcome is set.
func (c Call) Finish(status CallStatus, data []byte, count int) bool {
	if len(data) > int(c.p.out_capacity) && C.hk_call_reserve(c.p, C.size_t(len(data))) == 0 {
		return false
	}
	if len(data) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(c.p.out)), len(data)), data)
	}
	c.p.out_size = C.size_t(len(data))
	c.p.nresults = C.uint32_t(count)
	c.p.status = C.int32_t(status)
	return true
}

// FinishNumber answers with one number.
func (c Call) FinishNumber(n float64) {
	c.p.status = C.HK_CALL_NUMBER
	c.p.number = C.double(n)
}

// FinishWait answers that the result comes later under token.
func (c Call) FinishWait(token uint64) {
	c.p.status = C.HK_CALL_WAIT
	c.p.token = C.uint64_t(token)
}

//export hukilauGoCall
func hukilauGoCall(call *C.hk_call) {
	(*handlers.table.Load())[call.host].HostCall(Call{call})
}

//export hukilauGoOutput
func hukilauGoOutput(host C.uint64_t, data *C.uint8_t, size C.size_t) {
	(*handlers.table.Load())[host].Output(unsafe.Slice((*byte)(unsafe.Pointer(data)), int(size)))
}

// BoxFloats makes one interface value for each number without an allocation for each: the
// values point into one array, which lives as long as any of them.
func BoxFloats(numbers []float64, out []any) []any {
	for i := range numbers {
		out = append(out, BoxFloat(&numbers[i]))
	}
	return out
}

type eface struct {
	kind unsafe.Pointer
	data unsafe.Pointer
}

var floatKind = func() unsafe.Pointer {
	var v any = float64(1.5)
	return (*eface)(unsafe.Pointer(&v)).kind
}()

// BoxFloat makes an interface value that points to *p, which must not change any more.
func BoxFloat(p *float64) any {
	var v any
	(*eface)(unsafe.Pointer(&v)).kind = floatKind
	(*eface)(unsafe.Pointer(&v)).data = unsafe.Pointer(p)
	return v
}

var stringKind = func() unsafe.Pointer {
	var v any = "x"
	return (*eface)(unsafe.Pointer(&v)).kind
}()

// BoxString makes an interface value that points to *p, which must not change any more.
func BoxString(p *string) any {
	var v any
	(*eface)(unsafe.Pointer(&v)).kind = stringKind
	(*eface)(unsafe.Pointer(&v)).data = unsafe.Pointer(p)
	return v
}

// FloatBytes views numbers as the bytes of a flat array of numbers: every machine that we build for
// is little-endian.
func FloatBytes(list []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 8*len(list))
}

// Text views bytes as a string without a copy. The bytes must not change while it is in use.
func Text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
