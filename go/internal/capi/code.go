package capi

/*
#include "hukilau.h"

*/
import "C"

import "unsafe"

// Bytecode is hk_bytecode.
type Bytecode struct{ p *C.hk_bytecode }

// CompileOptions is hk_compile_options.
type CompileOptions struct{ Optimization, Debug, Coverage, TypeInfo, CountChecks int32 }

// Compile is hk_compile. On failure the record is a copy: message, line and column.
func Compile(source string, o CompileOptions) (Bytecode, []byte, Status) {
	options := C.hk_compile_options{
		optimization: C.int32_t(o.Optimization), debug: C.int32_t(o.Debug),
		coverage: C.int32_t(o.Coverage), type_info: C.int32_t(o.TypeInfo), count_checks: C.int32_t(o.CountChecks),
	}
	var code *C.hk_bytecode
	var text *C.uint8_t
	var size C.size_t
	status := C.hk_compile(textPtr(source), C.size_t(len(source)), &options, &code, &text, &size)
	if Status(status) == OK {
		return Bytecode{code}, nil, OK
	}
	record := C.GoBytes(unsafe.Pointer(text), C.int(size))
	C.hk_text_free(text)
	return Bytecode{}, record, Status(status)
}

// Free is hk_bytecode_free.
func (b Bytecode) Free() { C.hk_bytecode_free(b.p) }

// Size is hk_bytecode_size, in bytes.
func (b Bytecode) Size() int { return int(C.hk_bytecode_size(b.p)) }

// Load is hk_load.
func (vm VM) Load(code Bytecode, chunk string, flags uint32) Result {
	return result(C.hk_load(vm.p, code.p, textPtr(chunk), C.size_t(len(chunk)), C.uint32_t(flags)))
}

// NativeSupported is hk_native_supported.
func NativeSupported() bool { return C.hk_native_supported() != 0 }

// LuauVersion is hk_luau_version.
func LuauVersion() string { return C.GoString(C.hk_luau_version()) }

// ABIMismatch is hk_abi_mismatch: empty when library and wrapper agree.
func ABIMismatch() string { return C.GoString(C.hk_abi_mismatch()) }

// FlagMismatch says how the written list of Luau's fast flags differs from the library.
func FlagMismatch() string { return C.GoString(C.hk_flag_mismatch()) }

// libraryID is set by the linker to a digest of the static library, so that a changed library is
// linked anew; the go command does not look at it.
var libraryID string

// LibraryID names the static library that was linked; empty when it was not built by make.
func LibraryID() string { return libraryID }
