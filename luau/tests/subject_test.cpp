// What error records say a failed operation was about: each instruction that can fail, at each level of
// the compiler, interpreted and as native code, wherever the code runs.
#include "test_host.h"

namespace
{

struct Case
{
    const char* source;
    const char* want; // kind, expression, type, and what is near; "-" when nothing is to be said
    int folded = 3;   // the level from which the compiler puts a constant in place of the expression
};

const Case kCases[] = {
    // Calls, by where the function was to come from.
    {"undefined_function()", "global undefined_function nil"},
    {"prnt('x')", "global prnt nil print"},
    {"string.uper('x')", "field string.uper nil upper"},
    {"local lib = { encode = print, pretty = print } lib.stringify({})", "field lib.stringify nil"},
    {"local lib = { encode = print, pretty = print } lib.encod({})", "field lib.encod nil encode"},
    {"local lib = { read = print } lib.readFile('x')", "field lib.readFile nil read"},
    {"local lib = { a = { b = { run = print } } } lib.a.b.rum()", "field lib.a.b.rum nil run"},
    {"local lib = table.freeze({ run = print }) local function f() lib.go() end f()", "field lib.go nil"},
    {"local lib = setmetatable({}, { __index = { run = print } }) lib.rum()", "field lib.rum nil run"},
    {"local function outer(f) f(1) end outer(nil)", "local f nil", 2},
    {"local function outer(f) return function() f(1) end end outer(nil)()", "upvalue f nil"},
    {"local function outer(f) local g = 1 return function() g += 1 f(g) end end outer('text')()", "upvalue f string"},
    {"local t = {} t.x()()", "field t.x nil"},
    {"local function f() end local r = f()()", "result f() nil", 2},
    {"local list = { 1 } list[2]()", "element list[2] nil"},
    {"local list, i = { 1 }, ... list[i]('x')", "element list[i] nil"},
    {"local t = {} t['a b']()", "field t[\"a b\"] nil"},
    {"local t = { f = 5 } t.f()", "field t.f number", 1},
    {"local t = {} t.a, t.b = 1, 2 local x = math.max(t.a, t.b) t.mx(x)", "field t.mx nil"},
    {"local t = {} for i = 1, 3 do t.step(i) end", "field t.step nil"},
    {"local t = {} for k, v in { 1 } do t.step(k, v) end", "field t.step nil"},
    {"local t = {} if #t == 0 then t.a = 1 end t.go()", "field t.go nil"},
    {"local t = {} while true do if t.x then break end t.go() end", "field t.go nil"},
    // Methods.
    {"local s = {} s:foo()", "method s:foo nil"},
    {"local s = { fooo = print, name = 'x' } s:foo()", "method s:foo nil fooo"},
    {"local s = { inner = { run = print } } s.inner:rum(1)", "method s.inner:rum nil run"},
    {"local s = tostring(1) s:uper()", "method s:uper nil upper"},
    {"local class = { run = print } class.__index = class setmetatable({}, class):rum()",
     "method setmetatable(...):rum nil run"},
    {"local s = ... s:foo()", "local s nil"},
    // Indexing, read and written.
    {"missing.field()", "global missing nil"},
    {"print(missing.field.deeper)", "global missing nil"},
    {"print(math.missing.deeper)", "field math.missing nil"},
    {"local n = ... print(n.x)", "local n nil"},
    {"local n = ... print(n[1])", "local n nil"},
    {"local n, k = ... print(n[k])", "local n nil"},
    {"local n = ... n.x = 1", "local n nil"},
    {"local n = ... n[1] = 1", "local n nil"},
    {"local n, k = ... n[k or 'k'] = 1", "local n nil"},
    {"local t = { list = {} } print(t.lst.x)", "field t.lst nil list"},
    {"local t = { a = {} } t.a.b.c = 1", "field t.a.b nil"},
    {"local n = 5 + #... print(n.x.y)", "-"}, // fails earlier, without an expression to name
    // Arithmetic, concatenation, length, comparison, iteration.
    {"local t = {} print(1 + t.x)", "field t.x nil"},
    {"local t = {} print(t.x + 1)", "field t.x nil"},
    {"local t = {} print(t.x // 2 % 3)", "field t.x nil"},
    {"local t = {} print(2 - t.x)", "field t.x nil"},
    {"local t = {} print(2 / t.x)", "field t.x nil"},
    {"local t, a = {}, ... print(2 * a ^ t.x)", "local a nil"},
    {"local t = {} print(-t.x)", "field t.x nil"},
    {"local t = {} local n = 0 n += t.count", "field t.count nil"},
    {"local t = {} print('a' .. t.x .. 'b')", "field t.x nil"},
    {"local t = {} print('a' .. 'b' .. t.x)", "field t.x nil"},
    {"local t = { list = {} } print(#t.lst)", "field t.lst nil list"},
    {"local t = {} if t.a < 3 then end", "field t.a nil"},
    {"local t = {} if 3 <= t.a then end", "field t.a nil"},
    {"local t = {} if t.a > 3 then end", "field t.a nil"},
    {"local t = {} for k, v in t.list do end", "field t.list nil"},
    {"print(tonumber('x') + 1)", "result tonumber(...) nil"},
    {"local t = { get = function() end } print(t.get().x)", "result t.get() nil", 2},
    {"local t = { get = function() end } print(t:get().x)", "result t:get() nil"},
    // Coroutines.
    {"local f = coroutine.wrap(function() local q = { run = print } q.rum() end) f()", "field q.rum nil run"},
    {"local q = { run = print } local co = coroutine.wrap(function() coroutine.yield() q.rum() end) co() co()",
     "field q.rum nil run"},
    // What is not certain is not said.
    {"local t = {} local ok = (t.a or t.b)()", "-"},
    {"local t = {} local x = (if #t > 0 then t.a else t.b).c", "-"},
    {"error('attempt to call a nil value')", "-"},
    {"local ok, e = pcall(function() local t = {} t.x() end) error(e, 0)", "-"},
    {"error({ message = 'attempt to call a nil value' })", "-"},
    {"pcall(nil) string.rep()", "-"},
    {"setmetatable({}, { __index = function() error('attempt to index nil with \\'x\\'') end }).x()", "-"},
};

std::string said(const Result& r)
{
    CHECK_EQ(r.status, HK_ERR_RUNTIME);
    if (r.values.size() != 5)
        return "no record";
    const Value& s = r.values[4];
    if (s.tag == HK_T_NIL)
        return "-";
    CHECK_EQ(s.array.size(), size_t(8));
    if (s.array.size() != 8)
        return "another record";
    std::string near = s.array[5].text;
    return s.array[0].text + " " + s.array[1].text + " " + s.array[2].text + (near.empty() ? "" : " " + near);
}

hk_ref load_at(TestHost& host, const std::string& source, int optimization, int debug, uint32_t flags)
{
    hk_compile_options options = {};
    options.optimization = optimization;
    options.debug = debug;
    options.type_info = 1;
    hk_bytecode* code = nullptr;
    uint8_t* error = nullptr;
    size_t size = 0;
    CHECK_EQ(hk_compile(source.data(), source.size(), &options, &code, &error, &size), HK_OK);
    hk_result r = hk_load(host.vm, code, "=test", 5, flags);
    hk_bytecode_free(code);
    CHECK_EQ(r.status, HK_OK);
    return r.thread;
}

void named_everywhere(uint32_t flags)
{
    TestHost host(0, flags);
    uint32_t load = flags & HK_VM_NATIVE ? HK_LOAD_NATIVE : 0;
    for (int optimization = 0; optimization <= 2; optimization++)
        for (const Case& c : kCases)
        {
            hk_ref fn = load_at(host, c.source, optimization, 2, load);
            std::string at = "O" + std::to_string(optimization) + " " + c.source + ": ";
            std::string want = at + (optimization < c.folded ? c.want : "-");
            CHECK_EQ(at + said(host.start(fn)), want);
            CHECK_EQ(at + said(host.call(fn)), want);
            hk_release(host.vm, fn);
        }
}

// From the last dot or colon on.
std::string last_part(const std::string& said)
{
    size_t at = said.find_last_of(".:");
    return at == std::string::npos ? said : said.substr(at);
}

// Without names of locals, what is said is still true, if less.
void without_debug_information()
{
    TestHost host;
    for (const Case& c : kCases)
    {
        hk_ref fn = load_at(host, c.source, 1, 0, 0);
        std::string got = said(host.start(fn));
        std::string want = last_part(c.want).substr(0, last_part(got).size());
        if (got != "-")
            CHECK_EQ(c.source + last_part(got), c.source + want);
        hk_release(host.vm, fn);
    }
    CHECK_EQ(said(host.start(load_at(host, "string.uper('x')", 1, 0, 0))), "field string.uper nil upper");
}

std::string names(const Value& list)
{
    std::string all;
    for (const Value& v : list.array)
        all += v.text + " ";
    return all;
}

void the_rest_of_the_record()
{
    TestHost host;
    Result r(
        host.start(load_at(host, "local lib = { b = print, a = print, _c = print, d = 5 } lib.stringify({})", 1, 2, 0))
    );
    CHECK_EQ(said(r), "field lib.stringify nil");
    const std::vector<Value>& s = r.values.at(4).array;
    CHECK_EQ(s.at(3).text, "lib");
    CHECK_EQ(s.at(4).text, "stringify");
    CHECK_EQ(names(s.at(6)), "a b "); // what can be called, and is no secret
    CHECK_EQ(s.at(7).number, 2);

    // The message itself stays Luau's own.
    CHECK_EQ(r.text, "test:1: attempt to call a nil value");

    // A large table: a few names, and how many there are.
    Result large(
        host.start(load_at(host, "local t = {} for i = 1, 500 do t['n' .. i] = print end t.some_other_name()", 1, 2, 0))
    );
    CHECK_EQ(large.values.at(4).array.at(6).array.size(), size_t(12));
    CHECK_EQ(large.values.at(4).array.at(7).number, 500);

    // The table that was asked is another one when the call fails: nothing of the new one is named.
    Result changed(host.start(load_at(
        host, "local t = { x = print } local function swap() t = { foo = print, fo = print } end t.foo(swap())", 1, 2, 0
    )));
    CHECK_EQ(said(changed), "field t.foo nil");
    CHECK(changed.values.at(4).array.at(6).array.empty());
}

void hostile_names()
{
    TestHost host;
    std::string longName(5000, 'n');
    std::string source = "local t = {} t." + longName + "()";
    Result r(host.start(load_at(host, source, 1, 2, 0)));
    CHECK_EQ(r.status, HK_ERR_RUNTIME);
    CHECK(said(r).size() < 400);

    std::string nested = "local t = {} ";
    for (int i = 0; i < 200; i++)
        nested += "t = t.a or { a = { b = {} } } ";
    nested += "print(t.q.w.e.r.t.y.u.i.o.p.a.s.d.f.g.h)";
    CHECK_EQ(host.start(load_at(host, nested, 1, 2, 0)).status, HK_ERR_RUNTIME);

    // __index that goes round in a circle by the time of the error.
    CHECK_EQ(
        said(host.start(load_at(
            host,
            "local t = {} local function swap() local a, b = {}, {} a.__index, b.__index = b, a"
            " setmetatable(a, b) setmetatable(b, a) t = a end t.foo(swap())",
            1,
            2,
            0
        ))),
        "field t.foo nil"
    );
}

// Each part of an expression is looked for from the start of its function, and nothing can end that.
void long_functions()
{
    TestHost host;
    std::string expression = "a[a[a[1]]][a[a[1]]].x()";
    std::string before = "local a = setmetatable({ x = false }, {}) getmetatable(a).__index = function() return a end ";
    CHECK_EQ(said(host.start(load_at(host, before + expression, 1, 2, 0))), "field a[a[a[1]]][a[a[1]]].x boolean");
    for (int i = 0; i < 150000; i++)
        before += "g=g ";
    CHECK_EQ(said(host.start(load_at(host, before + "a.x()", 1, 2, 0))), "field a.x boolean");
    CHECK_EQ(said(host.start(load_at(host, before + expression, 1, 2, 0))), "-");
}

} // namespace

int main()
{
    for (uint32_t flags : {0u, uint32_t(HK_VM_MALLOC), uint32_t(HK_VM_NATIVE)})
        named_everywhere(flags);
    without_debug_information();
    the_rest_of_the_record();
    hostile_names();
    long_functions();
    return check_result("subject");
}
