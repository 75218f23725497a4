// A VM put back to an earlier moment in microseconds: after set-up its live memory is copied
// aside, and after each run copied back. A script cannot tell the result from a fresh VM.
//
// An Image holds absolute addresses: it belongs to one Arena and one VM in it. Everything here
// must be called while nothing runs in that VM, by whoever owns it at the time.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lua_State;

namespace hk
{

struct Arena;
struct Image; // outside the arena

// Collects garbage until nothing more goes, then copies what is live. `mainL` is the main thread of
// a VM created with lua_newstate(arena_alloc, arena), idle (no call in progress). nullptr when it is
// not, when the VM uses a memory cage (memory outside the arena), or when memory is short.
Image* image_save(lua_State* mainL, Arena* arena);

// Puts everything back as it was at image_save, whatever state the VM is in: also after a foreign
// C++ exception went through it, and after its memory ran out. Then reseeds (image_reseed) and gives
// back the memory the run grew beyond what the image uses plus a window (image_set_keep).
//
// What goes with the run, without being told: threads (no userthread callback), userdata (no
// destructor), references made with lua_ref. The owner must have released whatever host resources
// they stood for. lua_callbacks(), the interrupt included, come back as they were at image_save: no
// other thread may write them meanwhile. The arena's limit, charge and pressure settings stay.
void image_restore(Image* image, Arena* arena, lua_State* mainL);

// The VM may be closed before or after. nullptr is ignored.
void image_free(Image* image);

// How many bytes the next restore will not copy: no collection has begun since the VM was as the image has it, and without
// one nothing writes them. After a restore that left them alone they are as the image has them, or image_holds is false.
size_t image_left_alone(const Image* image);
bool image_holds(const Image* image);

// How many bytes an image keeps aside, and in how many pieces they are copied.
size_t image_bytes(const Image* image);
size_t image_ranges(const Image* image);

// Memory above the image's own that a restore leaves resident, so that the next run meets no page
// faults. 256 KiB unless set.
void image_set_keep(Image* image, size_t bytes);

// New random state for math.random and a new key for the addresses tostring and %p show, which the
// library leaves at nearly fixed values. image_restore does it; a VM made without an image needs it
// once after luaL_openlibs.
void image_reseed(lua_State* L);

// --- native code ---
//
// Luau counts references to a module's machine code in host memory: one per function prototype,
// dropped when the collector frees the prototype. Going back in time breaks that: a prototype of the
// image that a run freed is there again after the reset and would be dropped twice, and one that a
// run created vanishes without dropping anything. So in a VM with these hooks prototypes own
// nothing. The VM has a list of the modules it uses, one reference each; an Image has its own copy
// of that list with references of its own.
//
//  - A prototype freed by the collector: its code stays until the VM is reset or closed.
//  - image_restore: what was bound since image_save is released; what the image uses is held again.
//  - lua_close: the list is released. image_free: the image's references are released, in
//    either order.
//
// What is compiled also stays in a store of bounded size, so that the next run that loads the same
// module only binds it.

struct NativeCode; // one code generation context and its store; shared by VMs on any threads

// `keep_bytes` bounds the code kept while no VM uses it (least recently used goes first).
// nullptr where there is no code generation (other processors, no executable memory).
NativeCode* native_code_create(size_t keep_bytes);

// After every VM with hooks was closed or dropped and every image of them freed.
void native_code_destroy(NativeCode* code);

// Code the store holds now, in bytes, and the number of modules.
size_t native_code_kept(NativeCode* code);
size_t native_code_modules(NativeCode* code);

// Gives a VM native execution, with the hooks above. Before its first image and before anything is
// compiled. Luau::CodeGen::create and enableRuntimeCompilation must not be called on this VM. False
// when memory is short or the VM has code generation already.
bool image_install_native_hooks(lua_State* mainL, NativeCode* code);

// Compiles the Luau function at `idx` with all functions inside it, or binds what is there for the
// same id. The only way code may be compiled in a VM with hooks. `id` must be a hash of all that the
// code depends on (bytecode and flags): VMs that present the same id share code. `flags` are
// Luau::CodeGen::CodeGenFlags. Returns a Luau::CodeGen::CodeGenCompilationResult; whatever it is, the
// function can be called. `bound` (may be nullptr) gets the number of functions that became native.
int image_native_compile(lua_State* L, int idx, const uint8_t id[16], unsigned flags, uint32_t* bound);

// Ends a VM that is thrown away with its arena, without lua_close: releases what it holds in host
// memory. No destructor of a userdata runs. Works in every state a restore works in.
void image_drop_vm(lua_State* mainL);

} // namespace hk
