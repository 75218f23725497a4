// Source to bytecode, bytecode to functions, functions to native code.
#include "code.h"
#include "vm.h"

#include "Luau/CodeGen.h"
#include "Luau/BytecodeBuilder.h"
#include "Luau/Compiler.h"
#include "Luau/ParseResult.h"
#include "Luau/Parser.h"

#include "lstate.h"

#include <string.h>
#include <utility>

namespace hk
{

namespace
{

uint64_t next_code_id()
{
    static std::atomic<uint64_t> last{0};
    return ++last;
}

void put_compile_error(Buf& out, const char* message, const Luau::Location& where)
{
    out.put_text(HK_T_STRING, message, strlen(message));
    double line = where.begin.line + 1, column = where.begin.column + 1;
    out.put_tagged(HK_T_NUMBER, &line, 8);
    out.put_tagged(HK_T_NUMBER, &column, 8);
}

// The VM would run these in place of what open_text_functions put there.
const char* const kReplacedBuiltins[] = {"table.create", nullptr};
const char* const kReplacedWhenCounting[] = {"table.create", "assert", nullptr};

Luau::CompileOptions compile_options(const hk_compile_options* o)
{
    Luau::CompileOptions options;
    options.disabledBuiltins = o && o->count_checks ? kReplacedWhenCounting : kReplacedBuiltins;
    options.optimizationLevel = o ? o->optimization : 1;
    options.debugLevel = o ? o->debug : 1;
    options.coverageLevel = o ? o->coverage : 0;
    options.typeInfoLevel = o ? o->type_info : 0;
    return options;
}

// Whether code asks for native code by --!native or @native. A false yes only costs time.
bool marked_native(const char* source, size_t size)
{
    return memmem(source, size, "--!native", 9) || memmem(source, size, "@native", 7);
}

// Smaller ones cannot hold enough of anything to take long.
constexpr size_t kLargeSource = size_t(64) << 10;

// Before each statement Luau's compiler looks at every local of the function that is alive there.
// Twelve thousand locals in one block are minutes of work, so their product is bounded.
class LocalsAlive : public Luau::AstVisitor
{
public:
    bool visit(Luau::AstStatBlock* block) override
    {
        size_t before = alive;
        for (Luau::AstStat* stat : block->body)
        {
            work += alive;
            if (work > kMost)
                Luau::CompileError::raise(
                    stat->location,
                    "Too many local variables in one function; put some into tables or functions of their own"
                );
            stat->visit(this);
            if (auto* local = stat->as<Luau::AstStatLocal>())
                alive += local->vars.size;
            else if (stat->is<Luau::AstStatLocalFunction>())
                alive++;
        }
        alive = before;
        return false;
    }

    bool visit(Luau::AstExprFunction* function) override
    {
        size_t before = std::exchange(alive, function->args.size);
        function->body->visit(this);
        alive = before;
        return false;
    }

private:
    static constexpr size_t kMost = size_t(1) << 26; // less than a second
    size_t alive = 0;
    size_t work = 0;
};

void compile_bounded(Luau::BytecodeBuilder& builder, const std::string& source, const Luau::CompileOptions& options)
{
    Luau::Allocator allocator;
    Luau::AstNameTable names(allocator);
    Luau::ParseResult result = Luau::Parser::parse(source.data(), source.size(), names, allocator);
    if (!result.errors.empty())
        throw Luau::ParseErrors(result.errors);
    if (source.size() >= kLargeSource)
    {
        LocalsAlive shape;
        result.root->visit(&shape);
    }
    Luau::compileOrThrow(builder, result, names, options);
}

bool compile(const char* source, size_t size, const hk_compile_options* o, std::string& code, Buf& error)
{
    try
    {
        Luau::BytecodeBuilder builder;
        compile_bounded(builder, std::string(source ? source : "", source ? size : 0), compile_options(o));
        code = builder.getBytecode();
        return true;
    }
    catch (const Luau::ParseErrors& e)
    {
        const Luau::ParseError& first = e.getErrors().front();
        put_compile_error(error, first.what(), first.getLocation());
    }
    catch (const Luau::CompileError& e)
    {
        put_compile_error(error, e.what(), e.getLocation());
    }
    catch (const std::exception& e)
    {
        put_compile_error(error, e.what(), Luau::Location());
    }
    return false;
}

// All VMs of the process share one, so that a script is compiled to native code once.
NativeCode* native_code()
{
    constexpr size_t kKeep = size_t(32) << 20;
    static NativeCode* code = native_code_create(kKeep);
    return code;
}

} // namespace

bool ready_native(hk_vm* vm)
{
    // Not after the image: it would lack the hooks.
    if (!vm->nativeReady && !vm->image && native_code())
        vm->nativeReady = image_install_native_hooks(vm->L, native_code());
    return vm->nativeReady;
}

namespace
{

// Loading reads the globals that code names, in advance. Where that would call a metamethod, which may
// be a script's and never end, it fails instead, and the code reads that global when it runs.
struct NoCalls
{
    lua_State* L;
    unsigned short calls;
    explicit NoCalls(lua_State* L) : L(L), calls(L->nCcalls)
    {
        L->nCcalls = LUAI_MAXCCALLS - 1;
    }
    ~NoCalls()
    {
        L->nCcalls = calls;
    }
};

// Native code is an addition: where it cannot be made, the interpreter runs the function.
void make_native(hk_vm* vm, lua_State* L, const hk_bytecode* code, bool all)
{
    if (!ready_native(vm))
        return;
    // The number is given once in a process, so no other bytecode can pass for this one.
    uint8_t id[16] = {};
    memcpy(id, &code->id, sizeof(code->id));
    id[15] = all ? 1 : 0;
    unsigned flags = Luau::CodeGen::CodeGen_ColdFunctions | (all ? 0 : Luau::CodeGen::CodeGen_OnlyNativeModules);
    (void)image_native_compile(L, -1, id, flags, nullptr);
}

} // namespace

} // namespace hk

using namespace hk;

extern "C" int hk_native_supported(void)
{
    return Luau::CodeGen::isSupported() ? 1 : 0;
}

extern "C" int hk_compile(
    const char* source,
    size_t size,
    const hk_compile_options* options,
    hk_bytecode** out,
    uint8_t** error_out,
    size_t* error_size
)
{
    set_fast_flags();
    *out = nullptr;
    *error_out = nullptr;
    *error_size = 0;
    Buf error;
    std::unique_ptr<hk_bytecode> code(new (std::nothrow) hk_bytecode);
    if (!code)
        put_compile_error(error, "not enough memory", Luau::Location());
    else if (size > HK_MAX_SOURCE)
        put_compile_error(error, "the source is longer than 4 MiB", Luau::Location());
    else if (compile(source, size, options, code->bytes, error))
    {
        code->id = next_code_id();
        code->marked = size > 0 && marked_native(source, size);
        *out = code.release();
        return HK_OK;
    }
    *error_out = static_cast<uint8_t*>(malloc(error.size() + 1));
    if (*error_out)
    {
        memcpy(*error_out, error.data(), error.size());
        *error_size = error.size();
    }
    return HK_ERR_COMPILE;
}

extern "C" void hk_text_free(uint8_t* text)
{
    free(text);
}

extern "C" void hk_bytecode_free(hk_bytecode* code)
{
    delete code;
}

extern "C" size_t hk_bytecode_size(const hk_bytecode* code)
{
    return code->bytes.size();
}

extern "C" hk_result hk_load(hk_vm* vm, const hk_bytecode* code, const char* chunk, size_t chunk_size, uint32_t flags)
{
    if (vm->dead)
        return killed_result(vm);
    relieve(vm);
    lua_State* L = hk::current(vm);
    int top = lua_gettop(L);
    hk_result r = {};
    bool loaded = false;
    if (chunk_size > 0 && memchr(chunk, 0, chunk_size))
        return text_result(vm, HK_ERR_INVALID, "a chunk name cannot hold a NUL byte");
    int status = protect(
        vm,
        L,
        [&](lua_State* L)
        {
            luaL_checkstack(L, 8, "loading code");
            lua_pushlstring(L, chunk_size ? chunk : "", chunk_size);
            const char* name = lua_tostring(L, -1); // ends with NUL
            int env = 0;
            if (flags & HK_LOAD_OWN_GLOBALS)
            {
                push_own_globals(L);
                env = lua_gettop(L);
            }
            if (flags & HK_LOAD_LATE_GLOBALS)
                lua_setsafeenv(L, LUA_GLOBALSINDEX, false);
            NoCalls quiet(L);
            loaded = luau_load(L, name, code->bytes.data(), code->bytes.size(), env) == 0;
            if (!loaded)
                return;
            if (vm->native && ((flags & HK_LOAD_NATIVE) || code->marked))
                make_native(vm, L, code, (flags & HK_LOAD_NATIVE) != 0);
            r.thread = make_ref(vm, L, -1);
        }
    );
    if (status == kKilled)
        r = killed_result(vm);
    else if (status == LUA_ERRMEM)
        r = text_result(vm, HK_ERR_MEMORY, "not enough memory to load the code");
    else if (status != 0 || !loaded)
        r = text_result(
            vm, HK_ERR_INVALID, "%s", lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "the code does not load"
        );
    lua_settop(L, top);
    return r;
}
