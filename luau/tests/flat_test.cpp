// The flat value format: every kind both ways, malformed input, and the limits.
#include "test_host.h"

#include <chrono>
#include <cmath>
#include <limits>

// The value after a trip into the VM and back.
static Value there_and_back(TestHost& host, const Value& v)
{
    static const std::string identity = "return ...";
    Result r = host.run_source(identity, {v});
    CHECK_EQ(r.status, HK_OK);
    if (r.status != HK_OK)
        std::cerr << r.text << "\n";
    return r.first();
}

static void scalars_come_back(TestHost& host)
{
    double inf = std::numeric_limits<double>::infinity();
    for (double n : {0.0, -0.0, 1.5, 1e308, 5e-324, inf, -inf, 9007199254740993.0})
    {
        Value back = there_and_back(host, num(n));
        CHECK_EQ(back, num(n));
        CHECK_EQ(std::signbit(back.number), std::signbit(n));
    }
    CHECK(std::isnan(there_and_back(host, num(NAN)).number));
    for (int64_t n : {int64_t(0), int64_t(-1), INT64_MAX, INT64_MIN})
        CHECK_EQ(there_and_back(host, integer(n)), integer(n));
    CHECK_EQ(there_and_back(host, nil()), nil());
    CHECK_EQ(there_and_back(host, boolean(true)), boolean(true));
    CHECK_EQ(there_and_back(host, boolean(false)), boolean(false));
    CHECK_EQ(there_and_back(host, null()), null());
    CHECK_EQ(there_and_back(host, vec(1, -2.5f, 3e30f)), vec(1, -2.5f, 3e30f));
    CHECK_EQ(
        there_and_back(host, text("123456789012345678901234567890", HK_T_EXACT)),
        text("123456789012345678901234567890", HK_T_EXACT)
    );
}

static void bytes_come_back(TestHost& host)
{
    std::string all;
    for (int i = 0; i < 256; i++)
        all += char(i);
    for (const std::string& s : {std::string(), std::string("a\0b", 3), all, std::string(3000000, 'x')})
    {
        CHECK_EQ(there_and_back(host, text(s)), text(s));
        CHECK_EQ(there_and_back(host, text(s, HK_T_BUFFER)), text(s, HK_T_BUFFER));
        CHECK_EQ(there_and_back(host, table({}, {{text(s), num(1)}})), table({}, {{text(s), num(1)}}));
    }
    Result r = host.run_source("return #...", {text(std::string("a\0b", 3))});
    CHECK_EQ(r.first(), num(3));
}

static void tables_come_back(TestHost& host)
{
    CHECK_EQ(there_and_back(host, table({})), table({}));
    CHECK_EQ(there_and_back(host, table({}, {}, HK_TABLE_ARRAY)), table({}, {}, HK_TABLE_ARRAY));
    CHECK_EQ(
        there_and_back(host, table({text("a"), boolean(true)}, {}, HK_TABLE_ARRAY)),
        table({text("a"), boolean(true)}, {}, HK_TABLE_ARRAY)
    );
    CHECK_EQ(there_and_back(host, numbers({1, 2.5, -3})), numbers({1, 2.5, -3}));
    CHECK_EQ(there_and_back(host, table({num(1), num(2)})), numbers({1, 2}));
    Value nested = table({text("x")}, {{text("in"), table({}, {{boolean(true), numbers({7})}})}});
    CHECK_EQ(there_and_back(host, nested), nested);
    for (const Value& key : {num(0), num(-1), num(1.5), num(1e300), integer(5), boolean(false), text("")})
        CHECK_EQ(there_and_back(host, table({}, {{key, text("v")}})), table({}, {{key, text("v")}}));
    // A null under a key reads as nil and is there again afterwards.
    Value nulled = table({}, {{text("gone"), nil()}});
    CHECK_EQ(there_and_back(host, nulled), nulled);
    CHECK_EQ(host.run_source("local t = ... return t.gone == nil", {nulled}).first(), boolean(true));
    CHECK_EQ(
        host.run_source("local t = ... t.gone = 1 return t", {nulled}).first(), table({}, {{text("gone"), num(1)}})
    );
}

static void flags_of_tables(TestHost& host)
{
    Value fixed = table({}, {{text("a"), num(1)}}, HK_TABLE_READONLY);
    CHECK_EQ(there_and_back(host, fixed), fixed);
    CHECK_EQ(host.run_source("return pcall(function(t) t.a = 2 end, ...)", {fixed}).first(), boolean(false));
    Value folded = table({}, {{text("content-type"), text("x")}}, HK_TABLE_FOLDED);
    CHECK_EQ(host.run_source("local h = ... return h['Content-TYPE']", {folded}).first(), text("x"));
    CHECK_EQ(host.run_source("local h = ... return h.other, h[1], h[{}]", {folded}).first(), nil());
    Value error;
    error.tag = HK_T_ERROR;
    error.array = {table({}, {{text("message"), text("went wrong")}})};
    CHECK_EQ(host.run_source("return tostring(...)", {error}).first(), text("went wrong"));
    CHECK_EQ(there_and_back(host, error).flags, HK_TABLE_ERROR);
}

static void arrays_with_holes(TestHost& host)
{
    // Nothing of a table is lost, wherever it lies.
    Result r = host.run_source("return {1, nil, 3, [1e9] = 4, x = 5}");
    CHECK_EQ(r.first().array.size(), size_t(3));
    CHECK_EQ(r.first().array[2], num(3));
    CHECK_EQ(r.first().pairs.size(), size_t(2));
    r = host.run_source("local t = table.create(10) t[10] = 'end' return t");
    CHECK_EQ(r.first().array.back(), text("end"));
    r = host.run_source("local t = {1, 2, 3, 4, 5, 6, 7, 8} t[5] = nil t[8] = nil t[4] = nil return t");
    size_t there = 0;
    for (const Value& v : r.first().array)
        there += v.tag != HK_T_NIL;
    CHECK_EQ(there + r.first().pairs.size(), size_t(5));
}

static void objects_become_references(TestHost& host)
{
    Result r = host.run_source("return function() return 42 end, coroutine.create(print), { f = print }");
    CHECK_EQ(r.values.size(), size_t(3));
    CHECK_EQ(int(r.values[0].tag), int(HK_T_REF));
    CHECK_EQ(int(r.values[0].flags), int(HK_REF_FUNCTION));
    CHECK_EQ(int(r.values[1].flags), int(HK_REF_THREAD));
    CHECK_EQ(int(r.values[2].pairs[0].second.flags), int(HK_REF_FUNCTION));
    hk_ref fn = host.hold(r.values[0]);
    CHECK_EQ(host.call(fn).first(), num(42));
    CHECK_EQ(host.run_source("local f = ... return f()", {reference(HK_REF_FUNCTION, fn)}).first(), num(42));
    CHECK_EQ(host.run_source("return ...", {r.values[0]}).status, HK_ERR_INVALID); // it went with its data
    hk_release(host.vm, fn);
}

static void what_cannot_cross_names_its_path(TestHost& host)
{
    CHECK_EQ(
        host.run_source("local t = {} t.a = {1, {b = t}} return t").text, "a table that contains itself at $.a[2].b"
    );
    CHECK_EQ(host.run_source("return 1, {[{}] = 1}").text, "cannot convert a table key of type table at value 2 $");
    CHECK_EQ(
        host.run_source("local t = {['a\\0\\n'] = {}} t['a\\0\\n'].x = t return t").text,
        "a table that contains itself at $.a\\x00\\x0a.x"
    );
    Result deep = host.run_source("local t = {} for i = 1, 100000 do t = {t} end return t");
    CHECK_EQ(deep.status, HK_ERR_CONVERT);
    CHECK(deep.text.find("nesting deeper than 200 tables") == 0);
    CHECK_EQ(host.run_source("local t = {} for i = 1, 198 do t = {t} end return t").status, HK_OK);
}

static std::string nested_tables(int depth)
{
    Value v = table({});
    for (int i = 1; i < depth; i++)
        v = table({v});
    return flat({v});
}

static int keep(TestHost& host, const std::string& in)
{
    hk_result r = hk_keep(host.vm, TestHost::bytes(in), in.size());
    if (r.status == HK_OK)
        hk_release(host.vm, r.thread);
    return r.status;
}

static void depth_goes_to_the_limit(TestHost& host)
{
    CHECK_EQ(keep(host, nested_tables(HK_MAX_DEPTH)), HK_OK);
    CHECK_EQ(keep(host, nested_tables(HK_MAX_DEPTH + 1)), HK_ERR_INVALID);
    // One byte for each level would nest for ever.
    CHECK_EQ(keep(host, std::string(10000000, char(HK_T_ERROR))), HK_ERR_INVALID);
}

static Value one_of_each()
{
    Value error;
    error.tag = HK_T_ERROR;
    error.array = {table({}, {{text("message"), text("m")}})};
    return table(
        {nil(),
         boolean(true),
         num(1),
         integer(2),
         text("three"),
         vec(4, 5, 6),
         text("buf", HK_T_BUFFER),
         numbers({7, 8}),
         null(),
         text("12345678901234567890", HK_T_EXACT),
         host_function(0, "f"),
         text("json", HK_T_NATIVE),
         error},
        {{text("k"), table({}, {}, HK_TABLE_ARRAY)}, {text("n"), nil()}}
    );
}

static void malformed_input_is_refused(TestHost& host)
{
    std::string whole = flat({one_of_each()});
    CHECK_EQ(keep(host, whole), HK_OK);
    for (size_t cut = 0; cut < whole.size(); cut++)
    {
        // A copy of exactly that size, so that a sanitizer sees a read behind its end.
        std::vector<uint8_t> part(whole.begin(), whole.begin() + ptrdiff_t(cut));
        CHECK_EQ(hk_keep(host.vm, part.data(), part.size()).status, HK_ERR_INVALID);
    }
    // Any byte may be anything: no crash, and the VM still works.
    for (size_t at = 0; at < whole.size(); at++)
        for (int byte : {0x00, 0x01, 0x08, 0x0a, 0x0f, 0x7f, 0x80, 0xff})
        {
            std::string bad = whole;
            bad[at] = char(byte);
            keep(host, bad);
        }
    CHECK_EQ(host.run_source("return 1 + 1").first(), num(2));
}

static void wrong_values_are_refused(TestHost& host)
{
    CHECK_EQ(keep(host, flat({table({}, {{nil(), num(1)}})})), HK_ERR_INVALID);
    CHECK_EQ(keep(host, flat({table({}, {{num(NAN), num(1)}})})), HK_ERR_INVALID);
    CHECK_EQ(keep(host, flat({table({}, {{num(1), nil()}})})), HK_ERR_INVALID);
    CHECK_EQ(keep(host, flat({text("no such thing", HK_T_NATIVE)})), HK_ERR_INVALID);
    CHECK_EQ(keep(host, flat({reference(HK_REF_FUNCTION, 12345)})), HK_ERR_INVALID);
    CHECK_EQ(keep(host, flat({nil()})), HK_ERR_INVALID);
    for (const char* digits :
         {"",
          "-",
          "-0",
          "007",
          "1.5",
          "1e9",
          "12,\"x\":1",
          "+1",
          "12",
          "9223372036854775807",
          "-9223372036854775808",
          "12345678901234567890x",
          "0123456789012345678901"})
        CHECK_EQ(keep(host, flat({text(digits, HK_T_EXACT)})), HK_ERR_INVALID);
    for (const char* digits : {"9223372036854775808", "-9223372036854775809", "18446744073709551615"})
        CHECK_EQ(keep(host, flat({text(digits, HK_T_EXACT)})), HK_OK);
    // Sizes that promise more than there is, up to the largest.
    for (uint8_t tag : {HK_T_STRING, HK_T_BUFFER, HK_T_NUMBERS, HK_T_EXACT, HK_T_NATIVE})
        CHECK_EQ(keep(host, std::string(1, char(tag)) + "\xff\xff\xff\xff" + "abc"), HK_ERR_INVALID);
    CHECK_EQ(
        keep(host, std::string(1, char(HK_T_TABLE)) + std::string(1, 0) + "\xff\xff\xff\xff\xff\xff\xff\xff"),
        HK_ERR_INVALID
    );
    hk_ref fn = host.load("return ...");
    CHECK_EQ(hk_call_function(host.vm, fn, nullptr, 0, 0xffffffffu).status, HK_ERR_INVALID);
    CHECK_EQ(hk_start(host.vm, fn, nullptr, 0, 0x7fffffffu, 0, 0, nullptr).status, HK_ERR_INVALID);
}

static void a_vm_without_host_takes_no_functions()
{
    hk_vm* vm = nullptr;
    CHECK_EQ(hk_vm_new(nullptr, &vm).status, HK_OK);
    std::string in = flat({host_function(0, "f")});
    CHECK_EQ(hk_set_global(vm, "f", 1, TestHost::bytes(in), in.size()).status, HK_ERR_INVALID);
    hk_vm_close(vm);
}

static double seconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Few tables that stand for very many: refused by the memory limit, long before anything is slow.
static void shared_tables_do_not_explode()
{
    for (uint32_t flags : {0u, uint32_t(HK_VM_MALLOC)})
    {
        TestHost host(64 << 20, flags);
        auto start = std::chrono::steady_clock::now();
        Result r = host.run_source("local t = {} for i = 1, 60 do t = {t, t} end return t");
        CHECK_EQ(r.status, HK_ERR_CONVERT);
        CHECK_EQ(r.text.substr(0, 47), "too large to convert within the memory limit at");
        r = host.run_source("local s = ('x'):rep(1000000) local t = table.create(1000, s) return t");
        CHECK_EQ(r.status, HK_ERR_CONVERT);
        CHECK(seconds_since(start) < 20); // milliseconds; a doubling each level would take years
        CHECK_EQ(host.run_source("local t = {} return {t, t, t}").status, HK_OK);
        CHECK(host.stats().memory_used < (32 << 20));
    }
}

int main()
{
    TestHost host;
    scalars_come_back(host);
    bytes_come_back(host);
    tables_come_back(host);
    flags_of_tables(host);
    arrays_with_holes(host);
    objects_become_references(host);
    what_cannot_cross_names_its_path(host);
    depth_goes_to_the_limit(host);
    host.function("f", [](const hk_call&, const std::vector<Value>&) { return returns({}); });
    malformed_input_is_refused(host);
    wrong_values_are_refused(host);
    a_vm_without_host_takes_no_functions();
    shared_tables_do_not_explode();
    return check_result("flat");
}
