// A VM through the C interface: calls, host functions, references, globals, limits, images.
#include "test_host.h"

static void calls_and_errors(TestHost& host)
{
    CHECK_EQ(host.made, HK_OK);
    CHECK_EQ(host.run_source("return ...", {num(1), text("x")}).values.size(), size_t(2));
    Result r = host.run_source("local function f() error('boom') end f()");
    CHECK_EQ(r.status, HK_ERR_RUNTIME);
    CHECK_EQ(r.values[0], text("test:1: boom"));
    CHECK_EQ(r.values[1], nil());
    CHECK(r.values[2].array.size() >= 3); // error, f, the chunk
    r = host.run_source("error({code = 7})");
    CHECK_EQ(r.values[1], table({}, {{text("code"), num(7)}}));
    for (const char* thrown :
         {"nil",
          "false",
          "setmetatable({}, {__tostring = error})",
          "setmetatable({}, {__tostring = function() return 5 end})"})
    {
        r = host.run_source(std::string("error(") + thrown + ")");
        CHECK_EQ(r.status, HK_ERR_RUNTIME);
        CHECK(!r.text.empty());
    }
    CHECK_EQ(host.run_source("coroutine.yield()").status, HK_ERR_RUNTIME);
}

static void host_functions(TestHost& host)
{
    host.function("echo", [](const hk_call&, const std::vector<Value>& args) { return returns(args); });
    host.function(
        "fail",
        [](const hk_call&, const std::vector<Value>&) {
            return raises(table({}, {{text("code"), text("x")}}));
        }
    );
    host.function(
        "big", [](const hk_call&, const std::vector<Value>&) { return returns({text(std::string(5000000, 'b'))}); }
    );
    CHECK_EQ(host.run_source("return echo(1, nil, 'x')").values.size(), size_t(3));
    CHECK_EQ(host.run_source("local ok, e = pcall(fail) return ok, e.code").values[1], text("x"));
    CHECK_EQ(host.run_source("return #big()").first(), num(5000000));
    CHECK_EQ(host.run_source("return select('#', echo(table.unpack(table.create(5000, 1))))").first(), num(5000));
    CHECK_EQ(host.run_source("return debug.info(echo, 'n')").first(), text("echo"));
}

static void calls_nest(TestHost& host)
{
    // A host function that calls its argument, which calls it again, as deep as it goes.
    host.function(
        "each",
        [&host](const hk_call&, const std::vector<Value>& args)
        {
            Result r = host.call(hk_ref(args.at(0).integer));
            return r.status == HK_OK ? returns(r.values) : raises(text(r.text));
        }
    );
    Result r = host.run_source(
        "local depth = 0 local function f() depth += 1 local ok, e = pcall(each, f) return depth, e end return f()"
    );
    CHECK_EQ(r.status, HK_OK);
    CHECK(r.first().number > 20);
    // The C stack that all of them share has one limit, however the calls are mixed.
    r = host.run_source(R"(
        local function f()
            return (("x"):gsub("x", function() table.sort({1, 2}, function() each(f) return false end) end))
        end
        return pcall(f))");
    CHECK_EQ(r.first(), boolean(false));
    CHECK_EQ(host.run_source("return each(function() return 5 end)").first(), num(5));
}

static void references_die(TestHost& host)
{
    hk_ref first = host.load("return 1");
    hk_release(host.vm, first);
    hk_release(host.vm, first);
    // The slot is used again and again; the old name must never mean the new object.
    for (int i = 0; i < 1000; i++)
    {
        hk_ref next = host.load("return 2");
        CHECK_EQ(host.call(first).status, HK_ERR_INVALID);
        CHECK_EQ(host.call(next).first(), num(2));
        hk_release(host.vm, next);
    }
    for (hk_ref bad : {hk_ref(0), hk_ref(1), ~hk_ref(0), hk_ref(1) << 63})
    {
        CHECK_EQ(host.call(bad).status, HK_ERR_INVALID);
        CHECK_EQ(host.start(bad).status, HK_ERR_INVALID);
        CHECK_EQ(host.resume(bad).status, HK_ERR_INVALID);
        CHECK_EQ(hk_get_value(host.vm, bad).status, HK_ERR_INVALID);
        hk_release(host.vm, bad);
    }
    TestHost other;
    hk_ref foreign = 0;
    for (int i = 0; i < 2000; i++)
        foreign = other.load("return 3");
    CHECK_EQ(host.call(foreign).status, HK_ERR_INVALID);
    // Those in data that nobody holds go with the data.
    uint64_t before = host.stats().refs;
    host.function("ignore", [](const hk_call&, const std::vector<Value>&) { return returns({}); });
    CHECK_EQ(
        host.run_source("for i = 1, 1000 do ignore(print, {print, coroutine.create(print)}) end return print, print")
            .values.size(),
        size_t(2)
    );
    CHECK_EQ(host.stats().refs, before + 2);
    host.run_source("return {}");
    CHECK_EQ(host.stats().refs, before);
}

static Result field(TestHost& host, hk_ref table, const Value& key)
{
    std::string in = flat({key});
    return Result(hk_get_field(host.vm, table, TestHost::bytes(in), in.size()));
}

static int set_field(TestHost& host, hk_ref table, const Value& key, const Value& v)
{
    std::string in = flat({key, v});
    return hk_set_field(host.vm, table, TestHost::bytes(in), in.size()).status;
}

static void tables_by_reference(TestHost& host)
{
    host.global("config", table({}, {{text("inner"), table({}, {{text("n"), num(1)}})}, {num(2), text("two")}}));
    std::string key = flat({text("config")});
    Result r(hk_get_table(host.vm, 0, TestHost::bytes(key), key.size()));
    CHECK_EQ(r.status, HK_OK);
    CHECK_EQ(field(host, r.thread, num(2)).first(), text("two"));
    CHECK_EQ(field(host, r.thread, text("none")).first(), nil());
    CHECK_EQ(set_field(host, r.thread, text("new"), numbers({1, 2})), HK_OK);
    CHECK_EQ(host.run_source("return config.new[2]").first(), num(2));
    CHECK_EQ(set_field(host, r.thread, nil(), num(1)), HK_ERR_INVALID);
    CHECK_EQ(set_field(host, r.thread, text("new"), nil()), HK_OK);
    CHECK_EQ(host.run_source("return config.new").first(), nil());
    std::string inner = flat({text("inner")}), wrong = flat({num(2)});
    CHECK_EQ(hk_get_table(host.vm, r.thread, TestHost::bytes(inner), inner.size()).status, HK_OK);
    CHECK_EQ(hk_get_table(host.vm, r.thread, TestHost::bytes(wrong), wrong.size()).status, HK_ERR_INVALID);
    CHECK_EQ(Result(hk_get_value(host.vm, r.thread)).first().pairs.size(), size_t(2));
    hk_ref fn = host.load("return 1");
    CHECK_EQ(field(host, fn, num(1)).status, HK_ERR_INVALID);
    CHECK_EQ(hk_get_value(host.vm, fn).status, HK_ERR_CONVERT);
}

static Result global(TestHost& host, const std::string& name)
{
    return Result(hk_get_global(host.vm, name.data(), name.size()));
}

static void globals(TestHost& host)
{
    host.global(std::string("a\0b", 3), num(5));
    CHECK_EQ(global(host, std::string("a\0b", 3)).first(), num(5));
    CHECK_EQ(host.run_source("return _G['a\\0b']").first(), num(5));
    CHECK_EQ(global(host, "no_such").first(), nil());
    CHECK_EQ(int(global(host, "print").first().flags), int(HK_REF_FUNCTION)); // sealed ones as well
    // What a script does to its globals has no code run here, and cannot hold the host up.
    Result freeze = host.run_source(R"(
        local freeze, globals = table.freeze, _G
        local function endless() while true do end end
        object = setmetatable({}, {__index = endless})
        setmetatable(_G, {__index = endless})
        return function() freeze(globals) end)");
    hk_ref freezer = host.hold(freeze.first());
    CHECK_EQ(global(host, "no_such").first(), nil());
    CHECK(host.load("return math.floor(object.x.y)") != 0);
    // Loaded code sees a global that is replaced later.
    host.global("limit", num(1));
    hk_ref fn = host.load("return limit");
    CHECK_EQ(host.call(fn).first(), num(1));
    host.global("limit", num(2));
    CHECK_EQ(host.call(fn).first(), num(2));
    CHECK_EQ(host.call(freezer).status, HK_OK);
    std::string in = flat({num(3)});
    CHECK_EQ(hk_set_global(host.vm, "limit", 5, TestHost::bytes(in), in.size()).status, HK_ERR_INVALID);
}

static void collected_functions_are_reported()
{
    TestHost host;
    for (int i = 0; i < 100; i++)
    {
        host.function("f", [](const hk_call&, const std::vector<Value>&) { return returns({}); });
        host.run_source("f() f = nil");
    }
    hk_collect(host.vm);
    std::vector<uint32_t> ids(200);
    size_t n = hk_take_unused(host.vm, ids.data(), 50);
    CHECK_EQ(n, size_t(50));
    n += hk_take_unused(host.vm, ids.data() + n, 150);
    CHECK_EQ(n, size_t(100));
    std::vector<bool> seen(100);
    for (size_t i = 0; i < n; i++)
    {
        CHECK(ids[i] < 100 && !seen[ids[i]]);
        seen[ids[i]] = true;
    }
}

static void images()
{
    TestHost host;
    host.function("count", [&host](const hk_call&, const std::vector<Value>&) { return returns({num(host.calls)}); });
    hk_ref fn = host.load("total = (total or 0) + 1 return total, count()");
    CHECK_EQ(hk_vm_reset(host.vm).status, HK_ERR_INVALID);
    CHECK_EQ(hk_vm_save(host.vm).status, HK_OK);
    for (int i = 0; i < 1000; i++)
    {
        CHECK_EQ(hk_vm_reset(host.vm).status, HK_OK);
        host.begin();
        CHECK_EQ(host.call(fn).first(), num(1));
        CHECK_EQ(host.call(fn).first(), num(2));
        hk_ref later = host.load("return 'later'");
        hk_vm_reset(host.vm);
        host.begin();
        CHECK_EQ(host.call(later).status, HK_ERR_INVALID);
        hk_release(host.vm, fn); // comes back with the image
    }
    CHECK_EQ(host.call(fn).first(), num(1));
    CHECK(host.stats().image_bytes > 0);
    TestHost plain(0, HK_VM_MALLOC);
    CHECK_EQ(hk_vm_save(plain.vm).status, HK_ERR_INVALID);
}

// Large values on many levels of host calls must not count against the runs that come after.
static void large_values_leave_nothing()
{
    TestHost host(size_t(64) << 20);
    hk_ref inner = 0;
    host.function(
        "nest",
        [&](const hk_call&, const std::vector<Value>& args)
        {
            hk_call_function(host.vm, inner, nullptr, 0, 0);
            return returns({args.at(0)});
        }
    );
    inner = host.load("depth = (depth or 0) + 1 if depth < 60 then return nest(string.rep('x', 900000)) end");
    CHECK_EQ(hk_vm_save(host.vm).status, HK_OK);
    hk_vm_reset(host.vm);
    host.begin();
    uint64_t before = host.stats().memory_used;
    for (int i = 0; i < 3; i++)
    {
        CHECK(host.call(inner).status != HK_ERR_INVALID);
        hk_vm_reset(host.vm);
        host.begin();
        CHECK(host.stats().memory_used < before + (size_t(2) << 20));
    }
}

static void sizes_of_memory()
{
    for (size_t memory : {size_t(1), size_t(4096), size_t(100000), SIZE_MAX, SIZE_MAX / 2})
    {
        TestHost host(memory);
        CHECK(host.made == HK_OK || (host.made == HK_ERR_MEMORY && host.vm == nullptr));
    }
    for (int i = 0; i < 100; i++)
        CHECK_EQ(TestHost(size_t(1 + i % 3) << 20).made, HK_OK);
}

static void chunk_names(TestHost& host)
{
    hk_bytecode* code = nullptr;
    uint8_t* error = nullptr;
    size_t size = 0;
    CHECK_EQ(hk_compile(nullptr, 0, nullptr, &code, &error, &size), HK_OK);
    CHECK_EQ(hk_load(host.vm, code, "=a\0b", 4, 0).status, HK_ERR_INVALID);
    CHECK_EQ(hk_load(host.vm, code, nullptr, 0, 0).status, HK_OK);
    hk_bytecode_free(code);
    std::string huge(HK_MAX_SOURCE + 1, ' ');
    CHECK_EQ(hk_compile(huge.data(), huge.size(), nullptr, &code, &error, &size), HK_ERR_COMPILE);
    hk_text_free(error);
    hk_text_free(nullptr);
    hk_bytecode_free(nullptr);
}

static void deep_source_compiles_or_fails()
{
    std::vector<std::string> sources;
    int n = 100000;
    auto repeated = [n](const std::string& part)
    {
        std::string s;
        for (int i = 0; i < n; i++)
            s += part;
        return s;
    };
    sources.push_back("return " + repeated("(") + "1" + repeated(")"));
    sources.push_back("return " + repeated("{") + repeated("}"));
    sources.push_back(repeated("if x then ") + repeated(" end"));
    sources.push_back("return " + repeated("`{") + "1" + repeated("}`"));
    sources.push_back("return " + repeated("-") + "1");
    sources.push_back("return " + repeated("not ") + "1");
    sources.push_back("return 1" + repeated("..1"));
    sources.push_back("return x" + repeated(".x"));
    sources.push_back("return x" + repeated("()"));
    sources.push_back("local x: " + repeated("{") + "number" + repeated("}"));
    sources.push_back(repeated("do ") + repeated(" end"));
    sources.push_back("return " + repeated("function() return ") + "1" + repeated(" end"));
    for (const std::string& source : sources)
    {
        hk_bytecode* code = nullptr;
        uint8_t* error = nullptr;
        size_t size = 0;
        int status = hk_compile(source.data(), source.size(), nullptr, &code, &error, &size);
        CHECK(status == HK_OK || (status == HK_ERR_COMPILE && size > 0));
        hk_text_free(error);
        hk_bytecode_free(code);
    }
}

int main()
{
    {
        TestHost host;
        calls_and_errors(host);
        host_functions(host);
        calls_nest(host);
        references_die(host);
        tables_by_reference(host);
        chunk_names(host);
        globals(host);
    }
    {
        TestHost host(0, HK_VM_MALLOC | HK_VM_NATIVE);
        calls_and_errors(host);
        host_functions(host);
        calls_nest(host);
        references_die(host);
    }
    collected_functions_are_reported();
    images();
    large_values_leave_nothing();
    sizes_of_memory();
    deep_source_compiles_or_fails();
    return check_result("vm");
}
