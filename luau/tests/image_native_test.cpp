// Native code in VMs that go back in time: right results, and every reference accounted for.
#include "vm_fixture.h"

#include "check.h"

#include "Luau/CodeGen.h"
#include "Luau/SharedCodeAllocator.h"

#include <random>
#include <thread>
#include <vector>

using namespace hk;

namespace
{

struct Id
{
    uint8_t bytes[16];
};

Id id_of(uint64_t n)
{
    Id id = {};
    memcpy(id.bytes, &n, sizeof(n));
    return id;
}

// Loads and compiles a chunk, and runs it on the main thread. Returns how many functions were bound.
uint32_t run_native(Vm& vm, const std::string& source, uint64_t id)
{
    uint32_t bound = 0;
    if (!vm.load(vm.L, source))
        abort();
    image_native_compile(vm.L, -1, id_of(id).bytes, 0, &bound);
    CHECK(lua_pcall(vm.L, 0, 0, 0) == 0);
    return bound;
}

const Proto* proto_of_global(lua_State* L, const char* name)
{
    lua_getglobal(L, name);
    const Proto* p = lua_isLfunction(L, -1) ? clvalue(luaA_toobject(L, -1))->l.p : nullptr;
    lua_pop(L, 1);
    return p;
}

const Luau::CodeGen::NativeModule* module_of(const Proto* p)
{
    if (!p || !p->execdata)
        return nullptr;
    return Luau::CodeGen::getNativeProtoExecDataHeader(static_cast<const uint32_t*>(p->execdata)).nativeModule;
}

struct Store
{
    explicit Store(size_t keep) : code(native_code_create(keep)) {}
    ~Store()
    {
        native_code_destroy(code); // Luau's asserts check that no module is left
    }
    NativeCode* code;
};

void ten_thousand_resets()
{
    Store store(16 << 20);
    const Luau::CodeGen::NativeModule* module = nullptr;
    {
        Vm vm(64 << 20, store.code);
        CHECK(run_native(vm, Vm::kTool, 1) >= 3);
        vm.save();
        module = module_of(proto_of_global(vm.L, "invoke"));
        CHECK(module != nullptr);
        CHECK(module->getRefcount() == 3); // the VM, the image, the store
        for (int i = 0; i < 10000; i++)
        {
            CHECK(vm.invoke(10) == 55);
            vm.reset(i % 64 == 0);
        }
        CHECK(module_of(proto_of_global(vm.L, "invoke")) == module);
        CHECK(module->getRefcount() == 3);
        image_free(vm.image);
        vm.image = nullptr;
        CHECK(module->getRefcount() == 2);
        CHECK(vm.invoke(10) == 55);
    }
    CHECK(module->getRefcount() == 1);
    CHECK(native_code_modules(store.code) == 1 && native_code_kept(store.code) > 0);
}

// The collector frees prototypes of the image; after the reset they are there again and run.
void freed_prototypes_come_back()
{
    Store store(0); // nothing but the VM and the image holds the code
    Vm vm(64 << 20, store.code);
    run_native(vm, Vm::kTool, 1);
    vm.save();
    auto* module = module_of(proto_of_global(vm.L, "invoke"));
    CHECK(module->getRefcount() == 2);
    for (int i = 0; i < 500; i++)
    {
        CHECK(vm.run("invoke, seen = nil, nil") == 0);
        lua_gc(vm.L, LUA_GCCOLLECT, 0);
        vm.reset(i % 8 == 0);
        CHECK(vm.invoke(10) == 55);
    }
    CHECK(module->getRefcount() == 2);
}

std::string chunk(int n)
{
    return "local function f(x) local s = 0 for i = 1, x do s = s + i * " + std::to_string(n) +
           " end return s end function added(x) return f(x) end";
}

double call_added(Vm& vm, double x)
{
    lua_getglobal(vm.L, "added");
    lua_pushnumber(vm.L, x);
    lua_call(vm.L, 1, 1);
    double result = lua_tonumber(vm.L, -1);
    lua_pop(vm.L, 1);
    return result;
}

// What a run compiles vanishes with the reset; the code stays in the store, within its bound.
void runs_that_compile()
{
    const size_t keep = 64 << 10;
    Store store(keep);
    Vm vm(64 << 20, store.code);
    run_native(vm, Vm::kTool, 1);
    vm.save();
    size_t most = 0;
    for (int i = 0; i < 600; i++)
    {
        int n = i % 200;
        CHECK(run_native(vm, chunk(n), 100 + uint64_t(n)) == 2);
        auto* module = module_of(proto_of_global(vm.L, "added"));
        CHECK(module && module->getRefcount() == 2); // the VM, the store
        CHECK(call_added(vm, 4) == 10 * n);
        if (i % 3 == 0)
        {
            CHECK(vm.run("added = nil") == 0);
            lua_gc(vm.L, LUA_GCCOLLECT, 0);
        }
        CHECK(vm.invoke(10) == 55);
        vm.reset(i % 8 == 0);
        CHECK(native_code_kept(store.code) <= keep);
        most = std::max(most, native_code_modules(store.code));
        if (i % 3)
        {
            CHECK(module->getRefcount() == 1); // the store alone: it was the last one used
            auto again = run_native(vm, chunk(n), 100 + uint64_t(n));
            CHECK(again == 2 && module_of(proto_of_global(vm.L, "added")) == module);
            CHECK(call_added(vm, 4) == 10 * n);
            vm.reset(false);
        }
    }
    CHECK(most > 3 && most < 200); // some stayed, and some had to go
}

void without_a_store()
{
    Store store(0);
    Vm vm(64 << 20, store.code);
    CHECK(native_code_modules(store.code) == 0);
    vm.save();
    for (int i = 0; i < 200; i++)
    {
        CHECK(run_native(vm, chunk(i), uint64_t(i % 5)) == 2 || i >= 5);
        if (i < 5)
            CHECK(call_added(vm, 4) == 10 * i);
        vm.reset(i % 4 == 0);
    }
}

void several_images()
{
    Store store(0);
    Vm vm(64 << 20, store.code);
    run_native(vm, Vm::kTool, 1);
    vm.save();
    run_native(vm, chunk(7), 2);
    Image* second = image_save(vm.L, vm.arena);
    auto* module = module_of(proto_of_global(vm.L, "added"));
    for (int i = 0; i < 50; i++)
    {
        vm.reset();
        CHECK(proto_of_global(vm.L, "added") == nullptr);
        CHECK(module->getRefcount() == 1); // the second image
        CHECK(vm.invoke(10) == 55);
        image_restore(second, vm.arena, vm.L);
        CHECK(module->getRefcount() == 2);
        CHECK(call_added(vm, 3) == 42);
    }
    vm.reset();
    image_free(second);
    CHECK(vm.invoke(10) == 55);
}

int countdown;

void kill_interrupt(lua_State*, int)
{
    if (--countdown <= 0)
        throw Kill{};
}

// A foreign exception unwinds through frames of machine code.
void killed_in_native_code()
{
    Store store(1 << 20);
    Vm vm(64 << 20, store.code);
    run_native(
        vm,
        std::string(Vm::kTool) + R"(
        function spin() pcall(function() while true do local t = {} for i = 1, 30 do t[i] = {i} end invoke(5)
            coroutine.wrap(function() table.sort(t, function(a, b) return a[1] > b[1] end) end)() end end) end)",
        1
    );
    vm.save();
    std::mt19937 rng(5);
    for (int i = 0; i < 300; i++)
    {
        countdown = i < 30 ? i : int(rng() % 5000);
        lua_callbacks(vm.L)->interrupt = kill_interrupt;
        bool caught = false;
        try
        {
            lua_getglobal(vm.L, "spin");
            lua_call(vm.L, 0, 0);
        }
        catch (const Kill&)
        {
            caught = true;
        }
        CHECK(caught);
        vm.reset(i % 4 == 0);
        CHECK(vm.invoke(10) == 55);
    }
}

void errors_in_native_code()
{
    Store store(1 << 20);
    Vm vm(1 << 20, store.code);
    run_native(
        vm,
        std::string(Vm::kTool) +
            "function bad(t) return t.x.y end function fill() local t = {} while true do t[#t + 1] = {} end end",
        1
    );
    vm.save();
    for (int i = 0; i < 100; i++)
    {
        lua_getglobal(vm.L, i % 2 ? "bad" : "fill");
        lua_newtable(vm.L);
        CHECK(lua_pcall(vm.L, 1, 0, 0) == (i % 2 ? LUA_ERRRUN : LUA_ERRMEM));
        vm.reset(i % 4 == 0);
        CHECK(vm.invoke(10) == 55);
    }
}

void closed_or_dropped()
{
    Store store(0);
    Vm* closed = new Vm(64 << 20, store.code);
    run_native(*closed, Vm::kTool, 1);
    auto* module = module_of(proto_of_global(closed->L, "invoke"));

    Vm dropped(64 << 20, store.code);
    run_native(dropped, Vm::kTool, 1);
    dropped.save();
    run_native(dropped, chunk(1), 2);
    CHECK(module->getRefcount() == 3);
    image_drop_vm(dropped.L); // and image_free comes after it
    dropped.L = nullptr;
    CHECK(module->getRefcount() == 2);

    CHECK(closed->invoke(10) == 55);
    delete closed;
    CHECK(module->getRefcount() == 1);
}

void refuses_what_it_should()
{
    Store store(0);
    Vm plain;
    CHECK(plain.load(plain.L, chunk(1)));
    uint32_t bound = 9;
    CHECK(
        image_native_compile(plain.L, -1, id_of(1).bytes, 0, &bound) ==
        int(Luau::CodeGen::CodeGenCompilationResult::CodeGenNotInitialized)
    );
    CHECK(bound == 0);
    CHECK(!image_install_native_hooks(plain.L, nullptr));

    Vm vm(64 << 20, store.code);
    CHECK(!image_install_native_hooks(vm.L, store.code)); // once only
    lua_getglobal(vm.L, "print");
    CHECK(
        image_native_compile(vm.L, -1, id_of(1).bytes, 0, nullptr) ==
        int(Luau::CodeGen::CodeGenCompilationResult::NothingToCompile)
    );
    CHECK(vm.load(vm.L, chunk(1)));
    CHECK(image_native_compile(vm.L, -1, id_of(1).bytes, 0, &bound) == 0 && bound == 2);
    CHECK(
        image_native_compile(vm.L, -1, id_of(1).bytes, 0, &bound) ==
        int(Luau::CodeGen::CodeGenCompilationResult::NothingToCompile)
    );
    CHECK(bound == 0);
}

// Threads bind and drop the same few modules, so that counts reach zero while others bind.
// At -O2 the inner function of an inlined one belongs to both: one function, two parents.
void inlined_functions()
{
    static const char source[] = R"(
        local function make(n) return function() return n end end
        function invoke() return make(1)() + make(2)() end
    )";
    Store store(16 << 20);
    Vm vm(64 << 20, store.code);
    lua_CompileOptions options = {};
    options.optimizationLevel = 2;
    size_t size = 0;
    char* code = luau_compile(source, sizeof(source) - 1, &options, &size);
    CHECK(luau_load(vm.L, "=inlined", code, size, 0) == 0);
    free(code);
    uint32_t bound = 0;
    image_native_compile(vm.L, -1, id_of(1).bytes, 0, &bound);
    CHECK(bound == 3); // the chunk itself runs once and stays as it is
    CHECK(lua_pcall(vm.L, 0, 0, 0) == 0);
    const Proto* invoke = proto_of_global(vm.L, "invoke");
    CHECK(module_of(invoke) != nullptr && module_of(invoke)->getRefcount() == 2); // the VM and the store
    lua_getglobal(vm.L, "invoke");
    CHECK(lua_pcall(vm.L, 0, 1, 0) == 0 && lua_tonumber(vm.L, -1) == 3);
}

void shared_between_threads()
{
    Store store(8 << 10);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 3; t++)
        threads.emplace_back(
            [&, t]
            {
                Vm vm(8 << 20, store.code);
                vm.save();
                for (int i = 0; i < 300; i++)
                {
                    int n = (i + t) % 4;
                    if (!vm.load(vm.L, chunk(n)))
                        abort();
                    image_native_compile(vm.L, -1, id_of(uint64_t(n)).bytes, 0, nullptr);
                    if (lua_pcall(vm.L, 0, 0, 0) != 0 || call_added(vm, 4) != 10 * n)
                        wrong++;
                    vm.reset(false);
                }
            }
        );
    for (std::thread& thread : threads)
        thread.join();
    CHECK(wrong == 0);
}

} // namespace

int main()
{
    set_luau_flags();
    if (!Luau::CodeGen::isSupported())
    {
        printf("image_native_test: no code generation on this processor\n");
        return 0;
    }
    ten_thousand_resets();
    freed_prototypes_come_back();
    runs_that_compile();
    without_a_store();
    several_images();
    killed_in_native_code();
    errors_in_native_code();
    closed_or_dropped();
    refuses_what_it_should();
    inlined_functions();
    shared_between_threads();
    return check_result("image_native_test");
}
