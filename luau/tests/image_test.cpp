// A reset VM against a fresh one, after everything that can happen to a VM.
#include "vm_fixture.h"

#include "check.h"

#include <functional>
#include <random>
#include <set>
#include <vector>

using namespace hk;

namespace
{

// What a fresh VM with the tool in it looks like.
std::string fresh_text(size_t limit)
{
    Vm vm(limit);
    CHECK(vm.run(Vm::kTool) == 0);
    vm.save(); // collects; it is never restored
    return vm_walk(vm.L);
}

bool same(const std::string& wanted, const std::string& got, const char* after)
{
    if (wanted == got)
        return true;
    size_t at = 0;
    while (at < wanted.size() && at < got.size() && wanted[at] == got[at])
        at++;
    size_t from = at < 60 ? 0 : at - 60;
    fprintf(
        stderr,
        "after %s: fresh has \"...%s\", reset has \"...%s\"\n",
        after,
        wanted.substr(from, 120).c_str(),
        got.substr(from, 120).c_str()
    );
    return false;
}

// A VM with the tool in it and an image, and what it must look like.
struct Subject
{
    explicit Subject(size_t limit = 64 << 20) : vm(limit), fresh(fresh_text(limit))
    {
        CHECK(vm.run(Vm::kTool) == 0);
        vm.save();
    }

    // Resets, compares with a fresh VM, proves that it runs and collects, resets again.
    void expect_fresh(const char* after)
    {
        vm.reset();
        CHECK(arena_check(vm.arena));
        CHECK(same(fresh, vm_walk(vm.L), after));
        CHECK(vm.invoke(10) == 55);
        lua_gc(vm.L, LUA_GCCOLLECT, 0);
        CHECK(vm.run("local t = {} for i = 1, 2000 do t[i] = {tostring(i)} end return #t") == 0);
        lua_gc(vm.L, LUA_GCCOLLECT, 0);
        CHECK(vm.invoke(12) == 144);
        vm.reset();
    }

    Vm vm;
    std::string fresh;
};

void small_and_complete()
{
    Subject s;
    CHECK(image_bytes(s.vm.image) < 90000); // most of the VM's pages were never handed out
    CHECK(HK_ASAN || image_ranges(s.vm.image) < 100);
    CHECK(image_bytes(s.vm.image) < arena_used(s.vm.arena) / 3);
    s.expect_fresh("nothing");
    s.expect_fresh("nothing, twice");
}

void globals_and_libraries()
{
    Subject s;
    CHECK(s.vm.run("x = 1 y = {} invoke = nil getmetatable(_G).z = 1") != 0); // the sandbox holds
    CHECK(s.vm.run("x = 1 y = {} invoke = nil for i = 1, 500 do _G['g' .. i] = {i} end") != 0);
    CHECK(s.vm.run("x = 1 y = {} invoke = nil; local e = getfenv() for i = 1, 500 do e['g' .. i] = {i} end") == 0);
    s.expect_fresh("new globals");
}

// Without a collection most of an image is left alone by a reset, and is as it was.
void leaves_alone_what_nobody_wrote()
{
    Subject s;
    const char* quiet[] = {
        "return 1",
        "return tostring(1.5), string.rep('x', 100), #'a new string'",
        "x = 1 y = {} t = table.freeze({ a = 1, b = 2, c = 3 }) return t.a",
        "return pcall(function() string.format = nil end), pcall(table.freeze, string), pcall(rawset, string, 'rep', "
        "1)",
        "return pcall(setmetatable, string, {}), pcall(table.clear, math), table.clone(math).pi",
        "names = seen() return invoke(5), ('abc'):upper(), ('%d'):format(3), select('#', 1, 2)",
        "for word in string.gmatch('one two three', '%a+') do last = word end return last",
        "setfenv(1, {}) return 1",
        "local co = coroutine.wrap(function(...) coroutine.yield(...) end) return co(1, 2)",
        "error('no')",
    };
    for (int i = 0; i < 100; i++)
        for (const char* script : quiet)
        {
            s.vm.run(script);
            CHECK(image_left_alone(s.vm.image) > image_bytes(s.vm.image) / 3);
            s.vm.reset(false);
            CHECK(image_holds(s.vm.image));
            if (i == 0)
                CHECK(same(s.fresh, vm_walk(s.vm.L), script));
            s.vm.reset(false);
        }
    s.expect_fresh("runs without a collection");
}

// A tool large enough that each kind of memory in it is a piece of its own, and runs that use all of it for the first time
// or try to change it.
void leaves_alone_nothing_that_is_written()
{
    std::string tool = "local up = 0 function big(t) local n = 0\n";
    for (int i = 0; i < 200; i++)
        tool += "n += t.field" + std::to_string(i % 20) + " + math.abs(-1) + (t.other or 0)\n";
    tool += "up += n return up end\n constants = table.freeze({";
    for (int i = 0; i < 100; i++)
        tool += "key" + std::to_string(i) + " = 'a longer text of its own " + std::to_string(i) + "', ";
    tool += "}) words = {} for key, text in constants do words[key] = { text, function() up += 1 return text .. up end "
            "} end\n"
            "next_word = {} for i = 1, 20 do next_word[i] = string.gmatch('one two', '%a+') end\n meta = "
            "table.freeze({ __index = constants })";
    Vm vm;
    CHECK(vm.run(tool) == 0);
    vm.save();
    std::string fresh = vm_walk(vm.L);
    const char* runs[] = {
        "local t = {} for i = 0, 19 do t['field' .. i] = i end return big(t)",
        "return big(setmetatable({ other = 2 }, { __index = function(t, k) return 1 end }))",
        "for i = 1, 20, 3 do word = next_word[i]() end return word",
        "for key in words do words[key][3] = words[key][2]() words[key][1] = nil end words.key5 = nil",
        "return setmetatable({}, meta).key7, pcall(function() constants.key1 = 1 end), pcall(table.clear, constants)",
        "words = nil constants = nil big = nil next_word = nil collect = string.rep('k', 3000)",
        "return table.freeze(words).key1, table.freeze(words.key2), pcall(rawset, words, 'key1', 2)",
        "local c = table.clone(constants) c.key1 = 2 for i = 1, 100 do c['new' .. i] = i end return c",
    };
    int light = 0;
    for (const char* first : runs)
        for (const char* second : runs)
        {
            vm.run(first);
            vm.run(second);
            light += image_left_alone(vm.image) > image_bytes(vm.image) / 2;
            vm.reset(false);
            CHECK(image_holds(vm.image));
            CHECK(same(fresh, vm_walk(vm.L), first));
            vm.reset(false);
        }
    CHECK(light > 30); // the others made so many strings that their table grew
}

// Whatever writes more than a run alone can is found out, and then everything is copied back.
void copies_all_after_a_collection()
{
    Subject s;
    const std::function<void()> kinds[] = {
        [&] { lua_gc(s.vm.L, LUA_GCCOLLECT, 0); },
        [&] { lua_gc(s.vm.L, LUA_GCCOLLECT, 0), lua_gc(s.vm.L, LUA_GCCOLLECT, 0); }, // marks as before the first
        [&] { lua_gc(s.vm.L, LUA_GCSTEP, 1); },
        [&] { CHECK(s.vm.run("local t = {} for i = 1, 30000 do t[i % 100] = {i} end") == 0); },
        [&] { CHECK(s.vm.run("local s = {} for i = 1, 2000 do s[i] = 'a string of its own ' .. i end") == 0); },
    };
    for (const auto& kind : kinds)
    {
        s.vm.reset(false);
        CHECK(image_left_alone(s.vm.image) > 0);
        kind();
        CHECK(image_left_alone(s.vm.image) == 0);
        s.vm.reset(false);
        CHECK(image_holds(s.vm.image));
        CHECK(same(s.fresh, vm_walk(s.vm.L), "a collection"));
    }
    s.expect_fresh("collections");
}

void differs_between_resets()
{
    Subject s;
    std::set<std::string> numbers, addresses, functions;
    const int runs = 200;
    for (int i = 0; i < runs; i++)
    {
        s.vm.reset(false);
        CHECK(s.vm.run("return tostring(math.random()), tostring({}), tostring(print)") == 0);
        numbers.insert(lua_tostring(s.vm.L, -3));
        addresses.insert(lua_tostring(s.vm.L, -2));
        functions.insert(lua_tostring(s.vm.L, -1));
    }
    CHECK(numbers.size() == runs);
    CHECK(addresses.size() == runs);
    CHECK(functions.size() == runs);

    Vm a, b;
    image_reseed(a.L);
    image_reseed(b.L);
    CHECK(a.L->global->rngstate != b.L->global->rngstate);
    CHECK(lua_encodepointer(a.L, 4096) != 4096);
}

void errors()
{
    Subject s;
    CHECK(s.vm.run("local t = nil; return t.x") == LUA_ERRRUN);
    s.expect_fresh("a runtime error");
    CHECK(s.vm.run("error(setmetatable({}, {__tostring = function() error('x') end}))") == LUA_ERRRUN);
    s.expect_fresh("an error object");
    CHECK(s.vm.run("local co = coroutine.create(function() error({1, 2}) end) coroutine.resume(co) keep = co") == 0);
    s.expect_fresh("an error in a coroutine");
    CHECK(s.vm.run("coroutine.wrap(function() local t = nil; t.x = 1 end)()") == LUA_ERRRUN);
    s.expect_fresh("an error through a coroutine");
    CHECK(s.vm.resume("pcall(error) coroutine.yield() ") == LUA_YIELD);
    s.expect_fresh("a suspended host coroutine");
    CHECK(
        s.vm.run("t = {} for i = 1, 100 do t[i] = coroutine.create(function(...) local up = i; "
                 "coroutine.yield(function() up += 1 end) end) "
                 "coroutine.resume(t[i]) end") == 0
    );
    s.expect_fresh("suspended coroutines with open upvalues");
    CHECK(s.vm.run("local function f() return 1 + f() end return f()") == LUA_ERRRUN);
    s.expect_fresh("deep recursion");
    CHECK(s.vm.run("local function f() return pcall(f) end return f()") == 0);
    s.expect_fresh("deep recursion through pcall");
    CHECK(s.vm.run("local function f(x) return (string.gsub('a', 'a', f)) end return f()") == LUA_ERRRUN);
    s.expect_fresh("deep recursion through a library call");
    CHECK(s.vm.run("local s = {} for i = 1, 20000 do s[i] = 'a string of its own ' .. i end strings = s") == 0);
    s.expect_fresh("a grown string table");
    CHECK(
        s.vm.run("w = setmetatable({}, {__mode = 'kv'}) for i = 1, 1000 do w[{}] = {} end b = buffer.create(100000) v "
                 "= vector.create(1, 2, 3)") == 0
    );
    s.expect_fresh("weak tables and buffers");
    lua_gc(s.vm.L, LUA_GCSTOP, 0);
    lua_gc(s.vm.L, LUA_GCSETGOAL, 400);
    s.expect_fresh("changed collector settings");
    CHECK(s.vm.run("local t = {} for i = 1, 30000 do t[i % 100] = {i} end") == 0);
    while (s.vm.L->global->gcstate == 0)
        lua_gc(s.vm.L, LUA_GCSTEP, 1);
    s.expect_fresh("a half-done collection");
}

void out_of_memory()
{
    Subject s(1 << 20);
    const char* scripts[] = {
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local t = {} for i = 1, 1e9 do t[i] = {i} end",
        "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end",
        "return string.rep('x', 1e9)",
        "return buffer.create(1e9)",
        "return table.create(2^26)",
        "local t = {} while true do t[#t + 1] = coroutine.wrap(function() coroutine.yield() end) t[#t]() end",
        "local t = {} pcall(function() while true do t[#t + 1] = {} end end) while true do t[#t + 1] = function() "
        "return t end end",
        "local s = 'x' while true do s ..= s end",
    };
    for (const char* script : scripts)
    {
        CHECK(s.vm.run(script) == LUA_ERRMEM);
        CHECK(arena_peak(s.vm.arena) <= (1 << 20));
        s.expect_fresh(script);
    }
    CHECK(s.vm.run("keep = table.create(20000, 1)") == 0);
    s.expect_fresh("a caught one");
}

int countdown;

void kill_interrupt(lua_State*, int)
{
    if (--countdown <= 0)
        throw Kill{};
}

const char* const kEndless = R"(
    local function work(depth)
        local t = {}
        for i = 1, 50 do
            t[i] = { tostring(i), string.rep("y", i) }
            if depth > 0 and i % 25 == 0 then
                pcall(work, depth - 1)
                coroutine.wrap(work)(depth - 1)
                table.sort(t, function(a, b) return #a[2] > #b[2] end)
                string.gsub("abc", ".", function(c) return work(0) end)
            end
        end
        return t
    end
    setmetatable(work(0), { __index = function(t, k) return work(1) end })
    while true do xpcall(work, function() return work(0) end, 3) end
)";

bool killed_after(Vm& vm, int interrupts, bool coroutine)
{
    countdown = interrupts;
    lua_callbacks(vm.L)->interrupt = kill_interrupt;
    try
    {
        coroutine ? vm.resume(kEndless) : vm.run(kEndless);
    }
    catch (const Kill&)
    {
        return true;
    }
    return false;
}

void killed_at_random_points()
{
    Subject s;
    std::mt19937 rng(3);
    for (int i = 0; i < 400; i++)
    {
        int points = i < 50 ? i : int(rng() % 20000);
        CHECK(killed_after(s.vm, points, i % 2));
        s.vm.reset(i % 4 == 0);
        CHECK(lua_callbacks(s.vm.L)->interrupt == nullptr);
        CHECK(s.vm.invoke(7) == 13);
        if (i % 40 == 0)
            s.expect_fresh("a kill");
        s.vm.reset(false);
    }
    s.expect_fresh("many kills");
}

int foreign_thrower(lua_State*)
{
    throw Kill{};
}

void foreign_exception_from_a_host_function()
{
    Subject s;
    lua_pushcfunction(s.vm.L, foreign_thrower, "thrower");
    lua_setglobal(s.vm.L, "thrower");
    bool caught = false;
    try
    {
        s.vm.run("pcall(function() coroutine.wrap(function() table.sort({1, 2, 3}, thrower) end)() end) reached = true"
        );
    }
    catch (const Kill&)
    {
        caught = true;
    }
    CHECK(caught);
    s.expect_fresh("a foreign exception");
}

void mixed_runs(int runs)
{
    Subject s(4 << 20);
    std::mt19937 rng(11);
    const std::function<void()> kinds[] = {
        [&] { CHECK(s.vm.invoke(6) == 8); },
        [&]
        { s.vm.run("local n = math.random(1, 300) local t = {} for i = 1, n do t[i] = {i, tostring(i)} end all = t"); },
        [&] { s.vm.run("error('no')"); },
        [&] {
            s.vm.resume(
                "keep = coroutine.create(function() coroutine.yield(1) end) coroutine.resume(keep) coroutine.yield()"
            );
        },
        [&] {
            s.vm.run(
                "local s = {} for i = 1, math.random(1, 200) do s[i] = string.rep('k', i) .. i end _ = table.concat(s)"
            );
        },
        [&] { killed_after(s.vm, int(rng() % 50), rng() % 2); },
        [&] { rng() % 50 ? (void)0 : (void)s.vm.run("local t = {} while true do t[#t + 1] = {} end"); },
        [&] { rng() % 20 ? (void)0 : (void)lua_gc(s.vm.L, LUA_GCCOLLECT, 0); },
        [&] { s.vm.run("invoke, seen = nil, nil"), rng() % 20 ? 0 : lua_gc(s.vm.L, LUA_GCCOLLECT, 0); },
        [&] { s.vm.run("local b = {} for i = 1, 40 do b[i] = buffer.create(i * 37) end return b"); },
    };
    for (int i = 0; i < runs; i++)
    {
        for (unsigned n = rng() % 3; n-- > 0;)
        {
            size_t kind = rng() % (sizeof(kinds) / sizeof(*kinds));
            if (kind == 0 && lua_getglobal(s.vm.L, "invoke") == LUA_TNIL)
                continue;
            kinds[kind]();
            if (kind == 5 || kind == 6)
                break; // only a reset may follow a kill, and unprotected calls need memory
        }
        s.vm.reset(i % 8 == 0);
        CHECK(image_holds(s.vm.image));
        if (i % 16 == 0)
        {
            CHECK(same(s.fresh, vm_walk(s.vm.L), "mixed runs"));
            s.vm.reset(false);
        }
    }
    s.expect_fresh("mixed runs");
}

void memory_goes_back()
{
    Subject s;
    char *begin, *top, *touched;
    CHECK(s.vm.run("local t = {} for i = 1, 200000 do t[i] = {i} end") == 0);
    arena_extent(s.vm.arena, &begin, &top, &touched);
    CHECK(touched - begin > (10 << 20));
    s.vm.reset(false);
    arena_extent(s.vm.arena, &begin, &top, &touched);
    CHECK(touched - begin < (1 << 20));
    CHECK(arena_peak(s.vm.arena) == arena_used(s.vm.arena));
    image_set_keep(s.vm.image, 0);
    CHECK(s.vm.run("local t = {} for i = 1, 20000 do t[i] = {i} end") == 0);
    s.vm.reset(false);
    arena_extent(s.vm.arena, &begin, &top, &touched);
    CHECK(touched - top <= 4096);
    s.expect_fresh("memory was given back");
}

void settings_stay()
{
    Subject s;
    arena_set_limit(s.vm.arena, 2 << 20);
    std::atomic<int64_t> external{0};
    arena_set_charge(s.vm.arena, &external);
    s.vm.reset();
    CHECK(arena_limit(s.vm.arena) == (2 << 20));
    CHECK(s.vm.run("return string.rep('x', 1500000)") == 0);
    s.vm.reset();
    external = 1 << 20;
    CHECK(s.vm.run("return string.rep('x', 1500000)") == LUA_ERRMEM);
    s.expect_fresh("a charge");
}

void refuses_what_it_cannot_save()
{
    Vm vm;
    lua_State* T = lua_newthread(vm.L);
    CHECK(image_save(T, vm.arena) == nullptr);
    Vm other;
    CHECK(image_save(vm.L, other.arena) == nullptr);
    lua_setmemorycage(
        vm.L, [](void*, void*, size_t, size_t, int) -> void* { return nullptr; }, nullptr
    );
    CHECK(image_save(vm.L, vm.arena) == nullptr);
    lua_setmemorycage(vm.L, nullptr, nullptr);
    vm.save();
}

// Two moments of one VM, and an arena that gets a second VM after the first was dropped.
void several_images_and_reuse()
{
    Subject s;
    CHECK(s.vm.run("stage = 2") == 0);
    Image* second = image_save(s.vm.L, s.vm.arena);
    CHECK(second != nullptr);
    s.vm.reset(false);
    CHECK(image_left_alone(second) == 0);
    CHECK(lua_getglobal(s.vm.L, "stage") == LUA_TNIL);
    image_restore(second, s.vm.arena, s.vm.L);
    CHECK(image_left_alone(second) > 0);
    CHECK(image_left_alone(s.vm.image) == 0);
    CHECK(lua_getglobal(s.vm.L, "stage") == LUA_TNUMBER);
    image_free(second);
    s.expect_fresh("a second image");

    image_free(s.vm.image);
    s.vm.image = nullptr;
    killed_after(s.vm, 100, true);
    image_drop_vm(s.vm.L);
    arena_destroy(s.vm.arena);
    s.vm.arena = arena_create(64 << 20);
    s.vm.L = lua_newstate(arena_alloc, s.vm.arena);
    luaL_openlibs(s.vm.L);
    luaL_sandbox(s.vm.L);
    luaL_sandboxthread(s.vm.L);
    CHECK(s.vm.run(Vm::kTool) == 0);
    s.vm.save();
    s.expect_fresh("a second VM");
}

#if HK_ASAN
std::vector<bool> poisoned(const Arena* arena)
{
    std::vector<bool> marks;
    char *begin, *top, *touched;
    arena_extent(arena, &begin, &top, &touched);
    for (char* p = begin; p < touched; p++)
        marks.push_back(__asan_address_is_poisoned(p));
    return marks;
}
#endif

// A reset must not leave live bytes forbidden, nor dead ones allowed.
void sanitizer_marks_come_back()
{
#if HK_ASAN
    Subject s;
    image_set_keep(s.vm.image, 0);
    s.vm.reset();
    std::vector<bool> saved = poisoned(s.vm.arena);
    CHECK(s.vm.run("keep = {} for i = 1, 20000 do keep[i] = {tostring(i)} end") == 0);
    lua_gc(s.vm.L, LUA_GCCOLLECT, 0);
    CHECK(poisoned(s.vm.arena) != saved);
    s.vm.reset();
    CHECK(poisoned(s.vm.arena) == saved);
#endif
}

} // namespace

int main(int argc, char** argv)
{
    set_luau_flags();
    small_and_complete();
    globals_and_libraries();
    leaves_alone_what_nobody_wrote();
    leaves_alone_nothing_that_is_written();
    copies_all_after_a_collection();
    differs_between_resets();
    errors();
    out_of_memory();
    killed_at_random_points();
    foreign_exception_from_a_host_function();
    memory_goes_back();
    settings_stay();
    refuses_what_it_cannot_save();
    several_images_and_reuse();
    sanitizer_marks_come_back();
    mixed_runs(argc > 1 ? atoi(argv[1]) : 20000);
    return check_result("image_test");
}
