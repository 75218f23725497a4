package capi

/*
#include "hukilau.h"
#include <stdlib.h>

#cgo noescape hk_start
#cgo noescape hk_resume
#cgo noescape hk_call_function
#cgo noescape hk_set_global
#cgo noescape hk_get_global
#cgo noescape hk_set_field
#cgo noescape hk_get_field
#cgo noescape hk_keep
#cgo noescape hk_run_begin
#cgo nocallback hk_kill
#cgo nocallback hk_attend
#cgo nocallback hk_charge
#cgo nocallback hk_uncharge
#cgo nocallback hk_release
#cgo nocallback hk_drop
#cgo nocallback hk_hold
#cgo nocallback hk_in_host_call
#cgo noescape hk_take_unused
#cgo nocallback hk_take_unused
#cgo noescape hk_vm_stats
#cgo nocallback hk_vm_stats

extern const hk_host *hukilau_go_hooks(void);
*/
import "C"

import "unsafe"

// Status is hk_status.
type Status int32

// The values of hk_status.
const (
	OK         Status = C.HK_OK
	Yield      Status = C.HK_YIELD
	Wait       Status = C.HK_WAIT
	Slice      Status = C.HK_SLICE
	ErrRuntime Status = C.HK_ERR_RUNTIME
	ErrCompile Status = C.HK_ERR_COMPILE
	ErrMemory  Status = C.HK_ERR_MEMORY
	ErrKilled  Status = C.HK_ERR_KILLED
	ErrInvalid Status = C.HK_ERR_INVALID
	ErrConvert Status = C.HK_ERR_CONVERT
	ErrLimit   Status = C.HK_ERR_LIMIT
)

// Tags of flat values, and the flags in them.
const (
	TagNil     = C.HK_T_NIL
	TagFalse   = C.HK_T_FALSE
	TagTrue    = C.HK_T_TRUE
	TagNumber  = C.HK_T_NUMBER
	TagInteger = C.HK_T_INTEGER
	TagString  = C.HK_T_STRING
	TagVector  = C.HK_T_VECTOR
	TagBuffer  = C.HK_T_BUFFER
	TagTable   = C.HK_T_TABLE
	TagNumbers = C.HK_T_NUMBERS
	TagRef     = C.HK_T_REF
	TagNull    = C.HK_T_NULL
	TagExact   = C.HK_T_EXACT
	TagHostFn  = C.HK_T_HOSTFN
	TagNative  = C.HK_T_NATIVE
	TagError   = C.HK_T_ERROR

	TableArray    = C.HK_TABLE_ARRAY
	TableError    = C.HK_TABLE_ERROR
	TableReadonly = C.HK_TABLE_READONLY
	TableFolded   = C.HK_TABLE_FOLDED
	TableLazy     = C.HK_TABLE_LAZY

	FnMayWait = C.HK_FN_MAY_WAIT
	FnPure    = C.HK_FN_PURE
	FnQuiet   = C.HK_FN_QUIET

	RefFunction = C.HK_REF_FUNCTION
	RefThread   = C.HK_REF_THREAD
	RefTable    = C.HK_REF_TABLE
	RefOther    = C.HK_REF_OTHER

	MaxDepth  = C.HK_MAX_DEPTH
	MaxSource = C.HK_MAX_SOURCE

	DefaultMemory = C.HK_DEFAULT_MEMORY // bytes
)

// Flags and reasons.
const (
	VMMalloc = C.HK_VM_MALLOC
	VMNative = C.HK_VM_NATIVE
	VMLines  = C.HK_VM_LINES

	LoadNative      = C.HK_LOAD_NATIVE
	LoadOwnGlobals  = C.HK_LOAD_OWN_GLOBALS
	LoadLateGlobals = C.HK_LOAD_LATE_GLOBALS

	StartReset     = C.HK_START_RESET
	StartSuspended = C.HK_START_SUSPENDED
	StartKeep      = C.HK_START_KEEP
	StartInPlace   = C.HK_START_IN_PLACE
	StartEntry     = C.HK_START_ENTRY

	ResumeError   = C.HK_RESUME_ERROR
	ResumeKeep    = C.HK_RESUME_KEEP
	ResumeInPlace = C.HK_RESUME_IN_PLACE

	KillHostCalls = C.HK_KILL_HOST_CALLS
	KillOutput    = C.HK_KILL_OUTPUT
	KillUser      = C.HK_KILL_USER

	AttendSlice = C.HK_ATTEND_SLICE
)

// Result is hk_result. Data is a view of C memory.
type Result struct {
	Status Status
	Count  uint32
	Thread uint64
	Token  uint64
	Data   []byte
}

func result(r C.hk_result) Result {
	out := Result{Status: Status(r.status), Count: uint32(r.count), Thread: uint64(r.thread), Token: uint64(r.token)}
	if r.size > 0 {
		out.Data = unsafe.Slice((*byte)(unsafe.Pointer(r.data)), int(r.size))
	}
	return out
}

// VM is hk_vm. Nothing guards it: see package luau.
type VM struct{ p *C.hk_vm }

// Limits is hk_limits; zero means no limit.
type Limits struct {
	HostCalls uint64
	Output    uint64
	Memory    uint64
}

// c views the limits as C has them: the same three words. A copy would cost an allocation a call.
func (l *Limits) c() *C.hk_limits { return (*C.hk_limits)(unsafe.Pointer(l)) }

var _ [unsafe.Sizeof(Limits{})]byte = [unsafe.Sizeof(C.hk_limits{})]byte{}

// NewVM is hk_vm_new with the callbacks of this package; host names the Handler.
func NewVM(memory uint64, flags uint32, host uint64) (VM, Status) {
	options := C.hk_vm_options{
		memory_limit: C.size_t(memory),
		flags:        C.uint32_t(flags),
		host:         C.uint64_t(host),
		hooks:        C.hukilau_go_hooks(),
	}
	var p *C.hk_vm
	r := C.hk_vm_new(&options, &p)
	return VM{p}, Status(r.status)
}

// Close is hk_vm_close.
func (vm VM) Close() { C.hk_vm_close(vm.p) }

// RunBegin is hk_run_begin.
func (vm VM) RunBegin(run uint64, limits *Limits) {
	C.hk_run_begin(vm.p, C.uint64_t(run), limits.c())
}

// Kill is hk_kill. Any goroutine may call it while the VM is open.
func (vm VM) Kill(run uint64, reason uint32) {
	C.hk_kill(vm.p, C.uint64_t(run), C.uint32_t(reason))
}

// Attend is hk_attend. Any goroutine may call it while the VM is open.
func (vm VM) Attend(what uint32) { C.hk_attend(vm.p, C.uint32_t(what)) }

// TakeUnused is hk_take_unused: it fills ids and gives their number.
func (vm VM) TakeUnused(ids []uint32) int {
	p := (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(ids)))
	return int(C.hk_take_unused(vm.p, p, C.size_t(len(ids))))
}

// InHostCall is hk_in_host_call. Any goroutine may call it while the VM is open.
func (vm VM) InHostCall() bool { return C.hk_in_host_call(vm.p) != 0 }

// Charge is hk_charge. Any goroutine may call it while the VM is open.
func (vm VM) Charge(n int64) bool { return C.hk_charge(vm.p, C.size_t(n)) != 0 }

// Uncharge is hk_uncharge. Any goroutine may call it while the VM is open.
func (vm VM) Uncharge(n int64) { C.hk_uncharge(vm.p, C.size_t(n)) }

// Stats is hk_stats.
type Stats struct {
	MemoryUsed, MemoryPeak, MemoryLimit uint64
	HostCalls, Output, ImageBytes, Refs uint64
	Checks                              uint64
}

// Stats is hk_vm_stats.
func (vm VM) Stats() Stats {
	var s C.hk_stats
	C.hk_vm_stats(vm.p, &s)
	return Stats{
		MemoryUsed: uint64(s.memory_used), MemoryPeak: uint64(s.memory_peak), MemoryLimit: uint64(s.memory_limit),
		HostCalls: uint64(s.host_calls), Output: uint64(s.output), ImageBytes: uint64(s.image_bytes), Refs: uint64(s.refs),
		Checks: uint64(s.checks),
	}
}

// Save is hk_vm_save.
func (vm VM) Save() Result { return result(C.hk_vm_save(vm.p)) }

// Reset is hk_vm_reset.
func (vm VM) Reset() Result { return result(C.hk_vm_reset(vm.p)) }

// Observe is hk_observe.
func (vm VM) Observe() { C.hk_observe(vm.p) }

// Impure is hk_vm_impure.
func (vm VM) Impure() bool { return C.hk_vm_impure(vm.p) != 0 }

func bytesPtr(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(b))) }

func textPtr(s string) *C.char { return (*C.char)(unsafe.Pointer(unsafe.StringData(s))) }

// CallFunction is hk_call_function.
func (vm VM) CallFunction(fn uint64, args []byte, nargs uint32) Result {
	return result(C.hk_call_function(vm.p, C.hk_ref(fn), bytesPtr(args), C.size_t(len(args)), C.uint32_t(nargs)))
}

// Start is hk_start.
func (vm VM) Start(fn uint64, args []byte, nargs, flags uint32, run uint64, limits *Limits) Result {
	return result(C.hk_start(vm.p, C.hk_ref(fn), bytesPtr(args), C.size_t(len(args)), C.uint32_t(nargs),
		C.uint32_t(flags), C.uint64_t(run), limits.c()))
}

// Resume is hk_resume.
func (vm VM) Resume(thread uint64, args []byte, nargs, flags uint32) Result {
	return result(C.hk_resume(vm.p, C.hk_ref(thread), bytesPtr(args), C.size_t(len(args)), C.uint32_t(nargs), C.uint32_t(flags)))
}

// GetGlobal is hk_get_global.
func (vm VM) GetGlobal(name string) Result {
	return result(C.hk_get_global(vm.p, textPtr(name), C.size_t(len(name))))
}

// SetGlobal is hk_set_global.
func (vm VM) SetGlobal(name string, value []byte) Result {
	return result(C.hk_set_global(vm.p, textPtr(name), C.size_t(len(name)), bytesPtr(value), C.size_t(len(value))))
}

// GetField is hk_get_field.
func (vm VM) GetField(table uint64, key []byte) Result {
	return result(C.hk_get_field(vm.p, C.hk_ref(table), bytesPtr(key), C.size_t(len(key))))
}

// GetTable is hk_get_table.
func (vm VM) GetTable(table uint64, key []byte) Result {
	return result(C.hk_get_table(vm.p, C.hk_ref(table), bytesPtr(key), C.size_t(len(key))))
}

// SetField is hk_set_field.
func (vm VM) SetField(table uint64, pair []byte) Result {
	return result(C.hk_set_field(vm.p, C.hk_ref(table), bytesPtr(pair), C.size_t(len(pair))))
}

// GetValue is hk_get_value.
func (vm VM) GetValue(ref uint64) Result { return result(C.hk_get_value(vm.p, C.hk_ref(ref))) }

// Keep is hk_keep.
func (vm VM) Keep(value []byte) Result {
	return result(C.hk_keep(vm.p, bytesPtr(value), C.size_t(len(value))))
}

// Hold is hk_hold.
func (vm VM) Hold(ref uint64) uint64 { return uint64(C.hk_hold(vm.p, C.hk_ref(ref))) }

// Release is hk_release.
func (vm VM) Release(ref uint64) { C.hk_release(vm.p, C.hk_ref(ref)) }

// Drop is hk_drop.
func (vm VM) Drop(thread uint64) { C.hk_drop(vm.p, C.hk_ref(thread)) }

// Coverage is hk_coverage.
func (vm VM) Coverage(chunk uint64) Result { return result(C.hk_coverage(vm.p, C.hk_ref(chunk))) }

// Traceback is hk_traceback.
func (vm VM) Traceback() Result { return result(C.hk_traceback(vm.p)) }

// ThreadPlace is hk_thread_place.
func (vm VM) ThreadPlace(thread uint64) Result {
	return result(C.hk_thread_place(vm.p, C.hk_ref(thread)))
}

// Subject is hk_subject.
func (vm VM) Subject(message string) Result {
	return result(C.hk_subject(vm.p, textPtr(message), C.size_t(len(message))))
}

// Caller is hk_caller.
func (vm VM) Caller() Result { return result(C.hk_caller(vm.p)) }

// Collect is hk_collect.
func (vm VM) Collect() { C.hk_collect(vm.p) }
