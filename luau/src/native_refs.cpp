#include "native_refs.h"

#include "image.h"

#include "lua.h"

#include "lapi.h"
#include "lstate.h"

#include "Luau/CodeGen.h"
#include "Luau/SharedCodeAllocator.h"

#include <stdlib.h>

#include <atomic>
#include <list>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hk
{

using Luau::CodeGen::CodeGenCompilationResult;
using Luau::CodeGen::NativeModule;

struct NativeCode
{
    Luau::CodeGen::UniqueSharedCodeGenContext context;
    size_t keep_bytes = 0;

    // Guards what follows and every release: Luau's own counting is not safe when one thread drops
    // the last reference while another takes and drops a new one.
    std::mutex mutex;
    std::list<const NativeModule*> kept; // most recently used first
    std::unordered_map<const NativeModule*, std::list<const NativeModule*>::iterator> index;
    size_t bytes = 0;
};

struct NativeRefs
{
    NativeCode* code;
    void (*close)(lua_State* L); // Luau's own
    const NativeModule** modules;
    size_t count;
    size_t capacity;
    uint64_t stamp; // changes with the list, and comes back with a snapshot's list
};

namespace
{

static_assert(LUA_EXECUTION_CALLBACK_STORAGE >= sizeof(NativeRefs*), "no room to find a VM's references");

// The storage belongs to whoever provides the execution callbacks; Luau's code generation
// does not use it.
NativeRefs*& refs_of(lua_State* L)
{
    return *reinterpret_cast<NativeRefs**>(L->global->ecbdata);
}

uint64_t new_stamp()
{
    static std::atomic<uint64_t> last{0};
    return ++last;
}

size_t size_of(const NativeModule* m)
{
    size_t bytes = m->getCodeAllocationData().size;
    for (const auto& proto : m->getNativeProtos())
    {
        const auto& header = Luau::CodeGen::getNativeProtoExecDataHeader(proto.get());
        bytes += sizeof(header) + (size_t(header.bytecodeInstructionCount) + header.extraDataCount) * sizeof(uint32_t);
    }
    return bytes;
}

void drop_oldest(NativeCode* code)
{
    const NativeModule* oldest = code->kept.back();
    code->kept.pop_back();
    code->index.erase(oldest);
    code->bytes -= size_of(oldest);
    oldest->release();
}

// The module has another reference, so it is there throughout.
void keep(NativeCode* code, const NativeModule* m)
{
    std::lock_guard<std::mutex> lock(code->mutex);
    auto found = code->index.find(m);
    if (found != code->index.end())
    {
        code->kept.splice(code->kept.begin(), code->kept, found->second);
        return;
    }
    size_t bytes = size_of(m);
    if (bytes > code->keep_bytes)
        return;
    code->kept.push_front(m);
    try
    {
        code->index.emplace(m, code->kept.begin());
    }
    catch (...)
    {
        code->kept.pop_front();
        throw;
    }
    m->addRef();
    code->bytes += bytes;
    while (code->bytes > code->keep_bytes)
        drop_oldest(code);
}

void release_all(NativeCode* code, const NativeModule** modules, size_t count)
{
    std::lock_guard<std::mutex> lock(code->mutex);
    for (size_t i = 0; i < count; i++)
        modules[i]->release();
}

// Called by the collector. The reference is the VM's, not the prototype's.
void on_destroy(lua_State*, Proto* proto)
{
    proto->execdata = nullptr;
    proto->exectarget = 0;
    proto->codeentry = proto->code;
}

void on_close(lua_State* L)
{
    NativeRefs* refs = refs_of(L);
    refs_of(L) = nullptr;
    release_all(refs->code, refs->modules, refs->count);
    refs->close(L);
    free(refs->modules);
    free(refs);
}

// Each prototype once: where a function was inlined, its inner functions have several parents.
void gather(Proto* p, std::vector<Proto*>& out)
{
    std::unordered_set<Proto*> seen{p};
    std::vector<Proto*> pending{p};
    while (!pending.empty())
    {
        Proto* next = pending.back();
        pending.pop_back();
        if (!next->execdata)
            out.push_back(next);
        for (int i = 0; i < next->sizep; i++)
            if (seen.insert(next->p[i]).second)
                pending.push_back(next->p[i]);
    }
}

bool reserve_one(NativeRefs* refs)
{
    if (refs->count < refs->capacity)
        return true;
    size_t capacity = refs->capacity ? refs->capacity * 2 : 8;
    void* grown = realloc(refs->modules, capacity * sizeof(*refs->modules));
    if (!grown)
        return false;
    refs->modules = static_cast<const NativeModule**>(grown);
    refs->capacity = capacity;
    return true;
}

// Luau took one reference per function; all of them are to one module, and the VM wants one.
uint32_t adopt(NativeRefs* refs, const std::vector<Proto*>& candidates)
{
    const NativeModule* module = nullptr;
    uint32_t bound = 0;
    for (Proto* p : candidates)
    {
        if (!p->execdata)
            continue;
        module = Luau::CodeGen::getNativeProtoExecDataHeader(static_cast<const uint32_t*>(p->execdata)).nativeModule;
        if (bound++)
            module->release();
    }
    if (!module)
        return 0;
    refs->modules[refs->count++] = module;
    refs->stamp = new_stamp();
    return bound;
}

CodeGenCompilationResult
compile(lua_State* L, int idx, const uint8_t id[16], unsigned flags, NativeRefs* refs, uint32_t* bound)
{
    Luau::CodeGen::ModuleId module_id;
    std::copy(id, id + 16, module_id.begin());
    std::vector<Proto*> candidates;
    gather(clvalue(luaA_toobject(L, idx))->l.p, candidates);
    auto result = Luau::CodeGen::compile(module_id, L, idx, flags).result;
    *bound = adopt(refs, candidates);
    if (*bound)
        keep(refs->code, refs->modules[refs->count - 1]);
    return result;
}

} // namespace

NativeCode* native_code_create(size_t keep_bytes)
{
    if (!Luau::CodeGen::isSupported())
        return nullptr;
    try
    {
        auto code = std::make_unique<NativeCode>();
        code->context = Luau::CodeGen::createSharedCodeGenContext();
        code->keep_bytes = keep_bytes;
        return code->context ? code.release() : nullptr;
    }
    catch (const std::exception&)
    {
        return nullptr;
    }
}

void native_code_destroy(NativeCode* code)
{
    if (!code)
        return;
    while (!code->kept.empty())
        drop_oldest(code);
    delete code;
}

size_t native_code_kept(NativeCode* code)
{
    std::lock_guard<std::mutex> lock(code->mutex);
    return code->bytes;
}

size_t native_code_modules(NativeCode* code)
{
    std::lock_guard<std::mutex> lock(code->mutex);
    return code->kept.size();
}

bool image_install_native_hooks(lua_State* mainL, NativeCode* code)
{
    lua_ExecutionCallbacks& ecb = mainL->global->ecb;
    if (!code || ecb.context)
        return false;
    NativeRefs* refs = static_cast<NativeRefs*>(calloc(1, sizeof(NativeRefs)));
    if (!refs)
        return false;
    try
    {
        Luau::CodeGen::create(mainL, code->context.get());
    }
    catch (const std::exception&)
    {
        free(refs);
        return false;
    }
    refs->code = code;
    refs->close = ecb.close;
    refs_of(mainL) = refs;
    ecb.close = on_close;
    ecb.destroy = on_destroy;
    return true;
}

int image_native_compile(lua_State* L, int idx, const uint8_t id[16], unsigned flags, uint32_t* bound)
{
    uint32_t ignored;
    if (!bound)
        bound = &ignored;
    *bound = 0;
    NativeRefs* refs = refs_of(L);
    if (!refs)
        return int(CodeGenCompilationResult::CodeGenNotInitialized);
    if (!lua_isLfunction(L, idx))
        return int(CodeGenCompilationResult::NothingToCompile);
    if (!reserve_one(refs))
        return int(CodeGenCompilationResult::AllocationFailed);
    try
    {
        return int(compile(L, idx, id, flags, refs, bound));
    }
    catch (const std::exception&)
    {
        return int(CodeGenCompilationResult::AllocationFailed);
    }
}

void image_drop_vm(lua_State* mainL)
{
    if (auto close = mainL->global->ecb.close)
        close(mainL);
}

bool native_snapshot(lua_State* mainL, NativeSnapshot* out)
{
    NativeRefs* refs = refs_of(mainL);
    if (!refs)
        return true;
    auto** modules = static_cast<const NativeModule**>(malloc((refs->count + 1) * sizeof(NativeModule*)));
    if (!modules)
        return false;
    for (size_t i = 0; i < refs->count; i++)
    {
        modules[i] = refs->modules[i];
        modules[i]->addRef();
    }
    *out = {refs, refs->code, modules, refs->count, refs->stamp};
    return true;
}

void native_rewind_slow(const NativeSnapshot& snapshot)
{
    NativeRefs* refs = snapshot.refs;
    for (size_t i = 0; i < snapshot.count; i++)
        snapshot.modules[i]->addRef();
    release_all(refs->code, refs->modules, refs->count);
    // The list was once this long and its capacity never falls.
    std::copy(snapshot.modules, snapshot.modules + snapshot.count, refs->modules);
    refs->count = snapshot.count;
    refs->stamp = snapshot.stamp;
}

void native_snapshot_free(NativeSnapshot* snapshot)
{
    if (snapshot->refs)
        release_all(snapshot->code, snapshot->modules, snapshot->count);
    free(snapshot->modules);
    *snapshot = {};
}

uint64_t native_stamp(const NativeRefs* refs)
{
    return refs->stamp;
}

} // namespace hk
