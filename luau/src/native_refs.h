// The references of one VM, or of one image, to modules of machine code. See image.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lua_State;

namespace Luau::CodeGen
{
class NativeModule;
}

namespace hk
{

struct NativeRefs; // of a VM

// An image's share. Zero-initialised: empty.
struct NativeSnapshot
{
    NativeRefs* refs;
    struct NativeCode* code;
    const Luau::CodeGen::NativeModule** modules;
    size_t count;
    uint64_t stamp;
};

// False when memory is short. A VM without hooks has an empty snapshot.
bool native_snapshot(lua_State* mainL, NativeSnapshot* out);
void native_rewind_slow(const NativeSnapshot& snapshot);
void native_snapshot_free(NativeSnapshot* snapshot);
uint64_t native_stamp(const NativeRefs* refs);

inline void native_rewind(const NativeSnapshot& snapshot)
{
    if (snapshot.refs && native_stamp(snapshot.refs) != snapshot.stamp)
        native_rewind_slow(snapshot);
}

} // namespace hk
