// The JSON codecs as scripts see them. Tests carry the ids of the cases they prove.
#include "check.h"
#include "json_vm.h"

#include "lgc.h"
#include "lstate.h"

#include <chrono>

namespace
{

using std::string;

// The message of an error: ours, or Luau's without its "test:1: ".
string message(const string& result)
{
    const string mark = "error: ";
    if (result.compare(0, mark.size(), mark) != 0)
        return result;
    string text = result.substr(mark.size());
    size_t at = text.compare(0, 5, "test:") == 0 ? text.find(": ") : string::npos;
    return at == string::npos ? text : text.substr(at + 2);
}

string decode_error(JsonVm& vm, const string& text)
{
    return message(vm.run_with(text, "return json.decode(text)"));
}

string round_trip(JsonVm& vm, const string& text)
{
    return vm.run_with(text, "return json.encode(json.decode(text))");
}

string encode(JsonVm& vm, const string& expression)
{
    return vm.run("return json.encode(" + expression + ")");
}

string encode_error(JsonVm& vm, const string& expression)
{
    return message(encode(vm, expression));
}

bool starts_with(const string& s, const string& start)
{
    return s.compare(0, start.size(), start) == 0;
}

double seconds_of(void (*work)(JsonVm&), JsonVm& vm)
{
    auto start = std::chrono::steady_clock::now();
    work(vm);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void numbers_a15()
{
    JsonVm vm;
    CHECK_EQ(encode(vm, "771234567890123"), "771234567890123");
    CHECK_EQ(encode(vm, "2^53-1"), "9007199254740991");
    CHECK_EQ(encode(vm, "100000"), "100000");
    CHECK_EQ(encode(vm, "0.1"), "0.1");
    CHECK_EQ(encode(vm, "69.01"), "69.01");
    CHECK_EQ(encode(vm, "1e21"), "1e+21");
    CHECK_EQ(encode(vm, "5e-324"), "5e-324");
    CHECK_EQ(encode(vm, "-0"), "-0");
    CHECK_EQ(encode(vm, "1e20"), "100000000000000000000");
    CHECK_EQ(encode(vm, "123456789012345680000"), "123456789012345680000");
    CHECK_EQ(encode(vm, "1e-6"), "0.000001");
    CHECK_EQ(encode(vm, "1e-7"), "1e-7");
    CHECK_EQ(encode(vm, "-1.5e-10"), "-1.5e-10");
    CHECK_EQ(encode(vm, "1.7976931348623157e308"), "1.7976931348623157e+308");
    CHECK_EQ(encode(vm, "0.1+0.2"), "0.30000000000000004");
    CHECK_EQ(encode(vm, "1/3"), "0.3333333333333333");
    CHECK_EQ(encode(vm, "1e15"), "1000000000000000");
    CHECK_EQ(encode(vm, "123456789.125"), "123456789.125");
    CHECK_EQ(encode(vm, "0.005"), "0.005");
    CHECK_EQ(encode(vm, "1.05"), "1.05");
    CHECK_EQ(encode(vm, "9007199254740993i"), "9007199254740993");
    CHECK_EQ(encode_error(vm, "{a={1,0/0}}"), "json.encode: cannot encode NaN at $.a[2]");
    CHECK_EQ(encode_error(vm, "{a={1,2,{b=1/0}}}"), "json.encode: cannot encode infinity at $.a[3].b");
    CHECK_EQ(encode_error(vm, "-1/0"), "json.encode: cannot encode -infinity at $");
    for (const char* text :
         {"0",
          "-0",
          "1",
          "-1",
          "0.5",
          "-0.25",
          "1e+21",
          "5e-324",
          "2.2250738585072014e-308",
          "9007199254740991",
          "9007199254740992",
          "-9007199254740993",
          "9223372036854775807",
          "-9223372036854775808",
          "9223372036854775808",
          "-9223372036854775809",
          "123456789012345678901234567890",
          "771234567890123",
          "69.01",
          "1.7976931348623157e+308"})
        CHECK_EQ(round_trip(vm, text), text);
}

// Every form of double must come back with the same bits.
void number_bits_a15()
{
    JsonVm vm;
    string result = vm.run(R"(
        local bad = 0
        for i = 1, 20000 do
            local b = buffer.create(8)
            buffer.writeu32(b, 0, math.random(0, 65535) * 65536 + math.random(0, 65535)) buffer.writeu32(b, 4, math.random(0, 65535) * 65536 + math.random(0, 65535))
            local v = buffer.readf64(b, 0)
            if v == v and math.abs(v) ~= math.huge and json.tonumber(json.decode(json.encode(v))) ~= v then bad += 1 end
            local short = math.random(0, 99999999) / 10 ^ math.random(0, 9)
            local text = json.encode(short)
            if json.decode(text) ~= short or #text > #tostring(short) then bad += 1 end
        end
        return bad)");
    CHECK_EQ(result, "0");
}

void number_kinds()
{
    JsonVm vm;
    auto kind = [&](const string& text)
    { return vm.run_with(text, "return typeof(json.decode(text)), json.decode(text)"); };
    CHECK_EQ(kind("9007199254740991"), "number, 9007199254740991");
    CHECK_EQ(kind("9007199254740992"), "integer, 9007199254740992");
    CHECK_EQ(kind("-9223372036854775808"), "integer, -9223372036854775808");
    CHECK_EQ(kind("9223372036854775808"), "exact, 9223372036854775808");
    CHECK_EQ(kind("18446744073709551616"), "exact, 18446744073709551616");
    CHECK_EQ(kind("1.0"), "number, 1");
    CHECK_EQ(kind("12345678901234567890.5"), "number, 12345678901234567000");
    CHECK_EQ(kind("1e-400"), "number, 0");
    CHECK_EQ(kind("-1e-400"), "number, -0");
    CHECK_EQ(
        vm.run_with(
            "[123456789012345678901234567890,123456789012345678901234567890,1]",
            "local t = json.decode(text) return t[1] == t[2], t[1] == t[3], json.tonumber(t[1])"
        ),
        "true, false, 1.2345678901234568e+29"
    );
    CHECK(starts_with(
        message(vm.run_with("123456789012345678901234567890", "return json.decode(text) + 1")),
        "an exact number has no arithmetic"
    ));
    CHECK(starts_with(
        message(vm.run_with("123456789012345678901234567890", "return json.decode(text) < json.decode(text)")),
        "an exact number has no arithmetic"
    ));
    CHECK_EQ(
        message(vm.run_with("123456789012345678901234567890", "return json.decode(text) < 1")),
        "attempt to compare exact < number"
    );
    CHECK_EQ(vm.run("return json.tonumber(9007199254740993i), json.tonumber(1.5)"), "9007199254740992, 1.5");
    CHECK_EQ(
        vm.run_with(
            "-1" + string(400, '0'), "return json.tonumber(json.decode(text)), #json.encode(json.decode(text))"
        ),
        "-inf, 402"
    );
    CHECK_EQ(message(vm.run("return json.tonumber('1')")), "json.tonumber: argument 1 must be a number, got string");
    CHECK_EQ(vm.run_with("123456789012345678901234567890", "return getmetatable(json.decode(text))"), "locked");
}

void number_errors()
{
    JsonVm vm;
    CHECK_EQ(decode_error(vm, "[1, 1e400]"), "json.decode: number too large at byte 5 (line 1, column 5)");
    CHECK_EQ(decode_error(vm, "-1e999999999999"), "json.decode: number too large at byte 1 (line 1, column 1)");
    for (const char* text :
         {"01",
          "-",
          "-01",
          "1.",
          ".5",
          "+1",
          "1e",
          "1e+",
          "0x10",
          "1_000",
          "--1",
          "1.e5",
          "Infinity",
          "NaN",
          "1\"a\"",
          "1a",
          "- 1"})
    {
        string in_array = string("[") + text + "]";
        CHECK(starts_with(decode_error(vm, text), "json.decode: "));
        CHECK(starts_with(decode_error(vm, in_array), "json.decode: "));
        CHECK(decode_error(vm, in_array).find("invalid JSON") == string::npos);
    }
}

void tables_a16()
{
    JsonVm vm;
    CHECK_EQ(
        encode_error(vm, "{1,nil,3}"),
        "json.encode: cannot encode an array with holes (element 2 is nil, 3 is not; json.null keeps a place) at $"
    );
    CHECK_EQ(
        encode_error(vm, "{a={[1]=1,[1e9]=2}}"),
        "json.encode: cannot encode an array with holes (element 2 is nil, 1000000000 is not; json.null keeps a place) "
        "at $.a"
    );
    CHECK_EQ(
        encode_error(vm, "{[1.5]=1}"),
        "json.encode: cannot encode a table with key 1.5 (only strings, or whole numbers from 1) at $"
    );
    CHECK_EQ(
        encode_error(vm, "{[-1]=1}"),
        "json.encode: cannot encode a table with key -1 (only strings, or whole numbers from 1) at $"
    );
    CHECK_EQ(
        encode_error(vm, "{[0]=1}"),
        "json.encode: cannot encode a table with key 0 (only strings, or whole numbers from 1) at $"
    );
    CHECK_EQ(
        encode_error(vm, "{[math.huge]=1}"),
        "json.encode: cannot encode a table with key infinity (only strings, or whole numbers from 1) at $"
    );
    CHECK_EQ(
        encode_error(vm, "{1,2,x=3}"),
        "json.encode: cannot encode a table with both array elements and string keys at $"
    );
    CHECK_EQ(
        message(vm.run("local t = {a={}} t.a.b = {t} return json.encode(t)")),
        "json.encode: cannot encode a cycle: a table that contains itself at $.a.b[1]"
    );
    CHECK_EQ(
        message(vm.run("local big = table.create(1000, 'xxxxxxxx') local t = {} for i = 1, 100 do t[i] = big end "
                       "t[101] = t return json.encode(t)")),
        "json.encode: cannot encode a cycle: a table that contains itself at $[101]"
    );
    CHECK_EQ(vm.run("local s = {1} return json.encode({a=s,b=s,c={s,s}})"), R"({"a":[1],"b":[1],"c":[[1],[1]]})");
    const char* text = R"({"a":[],"b":{},"c":null,"d":[null,1]})";
    CHECK_EQ(round_trip(vm, text), text);
    CHECK(seconds_of([](JsonVm& v) { encode_error(v, "{[1]=1,[1e9]=2}"); }, vm) < 1);
}

// Arrays whose end lies in the hash part, or that were longer once.
void array_shapes()
{
    JsonVm vm;
    CHECK_EQ(vm.run("local t = {} for i = 10, 1, -1 do t[i] = i end return json.encode(t)"), "[1,2,3,4,5,6,7,8,9,10]");
    CHECK_EQ(vm.run("local t = {1,2,3} t[3] = nil return json.encode(t)"), "[1,2]");
    CHECK_EQ(vm.run("local t = {x=1} t.x = nil t[1] = 5 return json.encode(t)"), "[5]");
    CHECK_EQ(vm.run("local t = table.create(100) t[1] = 1 return json.encode(t)"), "[1]");
    CHECK_EQ(vm.run("local t = table.create(4, 0) t[5] = 5 t[2] = nil return (pcall(json.encode, t))"), "false");
    CHECK_EQ(vm.run("local t = json.decode('[1,2]') t[1] = nil t[2] = nil return json.encode(t)"), "[]");
    CHECK_EQ(vm.run("local t = json.decode('[]') t[1] = {} t[2] = json.array() return json.encode(t)"), "[{},[]]");
    CHECK_EQ(vm.run("local t = {1,2,3} t[1] = nil return (pcall(json.encode, t))"), "false");
    CHECK_EQ(encode(vm, "{}"), "{}");
    CHECK_EQ(encode(vm, "json.array({})"), "[]");
    CHECK_EQ(encode(vm, "json.array()"), "[]");
    CHECK_EQ(encode(vm, "table.clone(json.array())"), "{}");
    CHECK_EQ(encode(vm, "table.freeze(json.array())"), "[]");
    CHECK_EQ(
        vm.run("return json.isarray({}), json.isarray({1}), json.isarray(json.array()), "
               "json.isarray(json.decode('[]')), json.isarray('x')"),
        "false, true, true, true, false"
    );
    CHECK_EQ(encode_error(vm, "json.array({a=1})"), "json.encode: cannot encode an array with string keys at $");
    CHECK_EQ(
        message(vm.run("return json.array(table.freeze({}))")), "json.array: argument 1 must not be a frozen table"
    );
    CHECK_EQ(message(vm.run("return json.array(5)")), "json.array: argument 1 must be a table, got number");
    CHECK_EQ(
        vm.run("local t = json.decode('[1,2,3]') table.insert(t, 4) table.remove(t, 1) return #t, json.encode(t)"),
        "3, [2,3,4]"
    );
}

void nulls()
{
    JsonVm vm;
    CHECK_EQ(
        vm.run("return tostring(json.null), typeof(json.null), type(json.null), json.null == json.null"),
        "null, null, userdata, true"
    );
    CHECK_EQ(encode(vm, "nil"), "null");
    CHECK_EQ(encode(vm, "json.null"), "null");
    CHECK_EQ(encode(vm, "{a=json.null}"), R"({"a":null})");
    CHECK_EQ(vm.run("return json.decode('null')"), "nil");
    CHECK_EQ(
        vm.run("local t = json.decode('[null,2,null]') return #t, t[1] == json.null, t[3] == json.null"),
        "3, true, true"
    );
    CHECK_EQ(vm.run("local t = json.decode('{\"a\":null}') return t.a, next(t)"), "nil, nil");
    CHECK_EQ(vm.run("local t = json.decode('{\"a\":null,\"b\":1}') t.a = 5 return json.encode(t)"), R"({"a":5,"b":1})");
    CHECK_EQ(
        vm.run("local t = json.decode('{\"a\":null,\"b\":1}') t.c = 2 return json.encode(t)"),
        R"({"a":null,"b":1,"c":2})"
    );
    CHECK_EQ(
        vm.run("local t = json.decode('{\"a\":null,\"b\":null}') json.omit(t, 'a') return json.encode(t), "
               "json.isnull(t, 'a'), json.isnull(t, 'b')"),
        R"({"b":null}, false, true)"
    );
    CHECK_EQ(
        vm.run("local t = json.decode('{\"a\":null}') json.omit(t, 'a') json.omit(t, 'zz') return json.encode(t)"), "{}"
    );
    CHECK_EQ(
        vm.run("local t = json.decode('{\"a\":null}') t.a = 1 local x = json.isnull(t, 'a') t.a = nil return x, "
               "json.isnull(t, 'a')"),
        "false, true"
    );
    CHECK_EQ(vm.run("return json.isnull({a=json.null}, 'a'), json.isnull({}, 'a')"), "true, false");
    CHECK_EQ(vm.run("local t = table.clone(json.decode('{\"a\":null}')) return json.encode(t)"), "{}");
    CHECK_EQ(vm.run("local t = json.decode('{\"a\":null}') t[1] = 1 return (pcall(json.encode, t))"), "false");
    CHECK_EQ(round_trip(vm, R"({"a":1,"a":null})"), R"({"a":null})");
    CHECK_EQ(round_trip(vm, R"({"a":null,"a":1})"), R"({"a":1})");
    CHECK_EQ(round_trip(vm, R"({"a":null,"a":null,"b":null,"c":null})"), R"({"a":null,"b":null,"c":null})");
    CHECK_EQ(vm.run("local t = json.decode('{\"a\":null,\"a\":1}') t.a = nil return json.encode(t)"), "{}");
    CHECK_EQ(vm.run("return getmetatable(json.null)"), "locked");
    CHECK_EQ(message(vm.run("return json.omit({})")), "json.omit: argument 2 must be a string, got no value");
}

// Marks go with their table, and the memory categories they live in add up after any of it.
void marks_and_collection()
{
    JsonVm vm;
    CHECK_EQ(
        vm.run(R"(
        local kept = json.decode('{"x":null,"y":1}')
        for i = 1, 20000 do
            local t = json.decode('{"a":null,"b":[1,null],"c":{"d":null,"e":null}}')
            if json.encode(t) ~= '{"a":null,"b":[1,null],"c":{"d":null,"e":null}}' then return i end
        end
        return json.encode(kept))"),
        R"({"x":null,"y":1})"
    );
    lua_gc(vm.L, LUA_GCCOLLECT, 0);
    lua_gc(vm.L, LUA_GCCOLLECT, 0);
    size_t nulled = lua_totalbytes(vm.L, hk::kNulledCategory), arrays = lua_totalbytes(vm.L, hk::kArrayCategory);
    CHECK(nulled < 10000);
    CHECK(arrays < 10000);
    CHECK_EQ(
        vm.run(R"(
        local t = {1,2,3}
        t.x = 1 t.x = nil
        json.array(t)
        for i = 4, 1000 do t[i] = i end
        table.clear(t)
        return json.encode(t))"),
        "[]"
    );
    lua_gc(vm.L, LUA_GCCOLLECT, 0);
    lua_gc(vm.L, LUA_GCCOLLECT, 0);
    CHECK_EQ(lua_totalbytes(vm.L, hk::kArrayCategory), size_t(0));
    lua_State* L = vm.L;
    hk::new_array(L, 4);
    CHECK(hk::is_array(L, -1));
    lua_pushliteral(L, "k");
    hk::mark_null_key(L, -2, -1);
    CHECK(!hk::is_array(L, -2) && hk::is_null_key(L, -2, -1));
    CHECK(hk::omit_null_key(L, -2, -1) && !hk::omit_null_key(L, -2, -1));
    lua_pop(L, 2);
    hk::push_exact(L, "123", 3);
    size_t size = 0;
    CHECK_EQ(string(hk::to_exact(L, -1, &size), 3), "123");
    CHECK_EQ(size, size_t(3));
    CHECK(!hk::to_exact(L, LUA_REGISTRYINDEX, &size) && !hk::is_null(L, -1));
    lua_pop(L, 1);
}

void strings_a17()
{
    JsonVm vm;
    CHECK_EQ(vm.run_with(R"("\ud83e\uddea")", "return json.decode(text)"), "\xf0\x9f\xa7\xaa");
    CHECK_EQ(
        vm.run_with(R"("\uff21\u0041\u00e9\/\b\f\n\r\t\"\\")", "return json.decode(text)"),
        "\xef\xbc\xa1"
        "A\xc3\xa9/\b\f\n\r\t\"\\"
    );
    CHECK_EQ(
        decode_error(vm, R"(["x", "\ud83e"])"), R"(json.decode: lone surrogate \ud83e at byte 8 (line 1, column 8))"
    );
    CHECK_EQ(decode_error(vm, R"(["\uddea"])"), R"(json.decode: lone surrogate \uddea at byte 3 (line 1, column 3))");
    CHECK_EQ(
        decode_error(vm, R"(["\ud83e\u0041"])"), R"(json.decode: lone surrogate \ud83e at byte 3 (line 1, column 3))"
    );
    CHECK_EQ(
        decode_error(vm, "{\"\xc3\xa9\":\n\"a\xc0\x80\"}"), "json.decode: invalid UTF-8 at byte 10 (line 2, column 3)"
    );
    CHECK_EQ(decode_error(vm, "\"\xed\xa0\x80\""), "json.decode: invalid UTF-8 at byte 2 (line 1, column 2)");
    CHECK_EQ(decode_error(vm, "\"\xf4\x90\x80\x80\""), "json.decode: invalid UTF-8 at byte 2 (line 1, column 2)");
    CHECK_EQ(decode_error(vm, "\"\xe2\x82\""), "json.decode: invalid UTF-8 at byte 2 (line 1, column 2)");
    CHECK_EQ(
        decode_error(vm, "\"a\nb\""),
        R"(json.decode: control character 0x0A in a string, write it as \u000a at byte 3 (line 1, column 3))"
    );
    CHECK_EQ(decode_error(vm, R"("\x41")"), R"(json.decode: unknown escape \x at byte 2 (line 1, column 2))");
    CHECK_EQ(
        decode_error(vm, R"("\u12g4")"), R"(json.decode: \u needs four hexadecimal digits at byte 2 (line 1, column 2))"
    );
    CHECK_EQ(decode_error(vm, "[\"abc"), "json.decode: string without an end at byte 2 (line 1, column 2)");
    CHECK_EQ(
        encode_error(vm, R"({ok="é",a={"\xff\x80"}})"),
        "json.encode: cannot encode a string that is not valid UTF-8 at $.a[1]"
    );
    CHECK_EQ(
        encode_error(vm, R"({["\xff\x80"]=1})"),
        R"(json.encode: cannot encode a key that is not valid UTF-8 at $["\xff\x80"])"
    );
    CHECK_EQ(
        encode_error(vm, R"({"\xc3", "\xa9"})"), "json.encode: cannot encode a string that is not valid UTF-8 at $[1]"
    );
    CHECK_EQ(encode(vm, R"("<a href='x'>&\u{2028}\u{7f}")"), "\"<a href='x'>&\xe2\x80\xa8\x7f\"");
    CHECK_EQ(encode(vm, R"("\0\1\8\t\n\11\f\r\31 \"\\/")"), R"("\u0000\u0001\b\t\n\u000b\f\r\u001f \"\\/")");
}

// Every length around the widths that the codecs work in, with an escape at every place.
void string_places()
{
    JsonVm vm;
    CHECK_EQ(
        vm.run(R"(
        for n = 0, 70 do
            local plain = string.rep("k", n)
            if json.decode(json.encode(plain)) ~= plain then return "plain", n end
            for i = 1, n do
                for _, c in {"\n", "\\", '"', "\1", "é", "\127", " "} do
                    local s = plain:sub(1, i - 1) .. c .. plain:sub(i + 1)
                    local t = json.decode(json.encode({[s] = s}))
                    if t[s] ~= s or next(t) ~= s then return n, i, c end
                end
            end
        end
        for _, n in {890, 899, 900, 901, 1000, 5000, 100000} do
            local s = string.rep("ab\n", n):sub(1, n)
            if json.decode(json.encode(s)) ~= s then return "long", n end
        end
        return "fine")"),
        "fine"
    );
}

void zero_bytes_a18()
{
    JsonVm vm;
    CHECK_EQ(
        vm.run(R"(return json.encode("a\0b"), json.encode({["a\0b"]="a\0b"}), #json.decode('"a\\u0000b"'))"),
        R"("a\u0000b", {"a\u0000b":"a\u0000b"}, 3)"
    );
    CHECK_EQ(vm.run(R"(return json.decode('{"a\\u0000b":1}')["a\0b"])"), "1");
    CHECK_EQ(
        decode_error(vm, string("\"a\0b\"", 5)),
        R"(json.decode: control character 0x00 in a string, write it as \u0000 at byte 3 (line 1, column 3))"
    );
    CHECK_EQ(
        decode_error(vm, string("[1\0]", 4)),
        "json.decode: unexpected byte 0x00, expected ',' or ']' at byte 3 (line 1, column 3)"
    );
    CHECK_EQ(
        decode_error(vm, string("1\0", 2)),
        "json.decode: unexpected byte 0x00, expected the end of the text at byte 2 (line 1, column 2)"
    );
    CHECK_EQ(
        decode_error(vm, string("true\0", 5)),
        "json.decode: unexpected byte 0x00, expected the end of the text at byte 5 (line 1, column 5)"
    );
}

void depth_a19()
{
    JsonVm vm;
    auto nested = [](int n) { return string(size_t(n), '[') + string(size_t(n), ']'); };
    CHECK_EQ(round_trip(vm, nested(200)), nested(200));
    CHECK_EQ(
        decode_error(vm, nested(201)), "json.decode: nested deeper than 200 levels at byte 201 (line 1, column 201)"
    );
    CHECK_EQ(
        decode_error(vm, string(100000, '[')),
        "json.decode: nested deeper than 200 levels at byte 201 (line 1, column 201)"
    );
    string objects;
    for (int i = 0; i < 100000; i++)
        objects += "{\"a\":";
    CHECK_EQ(
        decode_error(vm, objects), "json.decode: nested deeper than 200 levels at byte 1001 (line 1, column 1001)"
    );
    string deep = message(vm.run("local t = {} for i = 1, 100000 do t = {t} end return json.encode(t)"));
    CHECK(starts_with(deep, "json.encode: cannot encode more than 200 levels at $[1][1][1]"));
    CHECK(deep.size() < 300);
    CHECK_EQ(vm.run("local t = {} for i = 1, 199 do t = {t} end return #json.encode(t)"), "400");
    CHECK(starts_with(vm.run("local t = {} for i = 1, 200 do t = {t} end return #json.encode(t)"), "error: "));
    CHECK(seconds_of([](JsonVm& v) { decode_error(v, string(10000000, '[')); }, vm) < 1);
}

void structure_errors()
{
    JsonVm vm;
    auto at = [&](const string& text, const string& want) { CHECK_EQ(decode_error(vm, text), "json.decode: " + want); };
    at("", "unexpected end of text, expected a value at byte 1 (line 1, column 1)");
    at("  \n ", "unexpected end of text, expected a value at byte 5 (line 2, column 2)");
    at("[1,]", "unexpected ']', expected a value at byte 4 (line 1, column 4)");
    at("[1 2]", "unexpected '2', expected ',' or ']' at byte 4 (line 1, column 4)");
    at("[,1]", "unexpected ',', expected a value at byte 2 (line 1, column 2)");
    at("{\"a\" 1}", "unexpected '1', expected ':' at byte 6 (line 1, column 6)");
    at("{\"a\":1,}", "unexpected '}', expected a key in double quotes at byte 8 (line 1, column 8)");
    at("{a:1}", "unexpected 'a', expected a key in double quotes at byte 2 (line 1, column 2)");
    at("{'a':1}", "unexpected ''', expected a key in double quotes at byte 2 (line 1, column 2)");
    at("{1:1}", "unexpected '1', expected a key in double quotes at byte 2 (line 1, column 2)");
    at("[1}", "unexpected '}', expected ',' or ']' at byte 3 (line 1, column 3)");
    at("{\"a\":1]", "unexpected ']', expected ',' or '}' at byte 7 (line 1, column 7)");
    at("[1", "unexpected end of text, expected ',' or ']' at byte 3 (line 1, column 3)");
    at("{\"a\"", "unexpected end of text, expected ':' at byte 5 (line 1, column 5)");
    at("1 2", "unexpected '2', expected the end of the text at byte 3 (line 1, column 3)");
    at("{}{}", "unexpected '{', expected the end of the text at byte 3 (line 1, column 3)");
    at("[] x", "unexpected 'x', expected the end of the text at byte 4 (line 1, column 4)");
    at("]", "unexpected ']', expected a value at byte 1 (line 1, column 1)");
    at("tru", "unexpected 't', expected a value at byte 1 (line 1, column 1)");
    at("[truex]", "unexpected 't', expected a value at byte 2 (line 1, column 2)");
    at("[true\"a\"]", "unexpected 't', expected a value at byte 2 (line 1, column 2)");
    at("[nul]", "unexpected 'n', expected a value at byte 2 (line 1, column 2)");
    at("[\"a\"\"b\"]", "unexpected '\"', expected ',' or ']' at byte 5 (line 1, column 5)");
    at("[\"a\"b]", "unexpected 'b', expected ',' or ']' at byte 5 (line 1, column 5)");
    at("{\n  \"naïve\": [\n    1,\n    é]}", "unexpected byte 0xC3, expected a value at byte 28 (line 4, column 5)");
    at("// c\n1", "unexpected '/', expected a value at byte 1 (line 1, column 1)");
    at("\xef\xbb\xbf[", "unexpected end of text, expected a value at byte 5 (line 1, column 2)");
}

void accepted()
{
    JsonVm vm;
    CHECK_EQ(round_trip(vm, " \t\r\n{ \"b\" : [ 1 , 2.5 ] , \"a\" : \"x\" } \n"), R"({"a":"x","b":[1,2.5]})");
    CHECK_EQ(round_trip(vm, "\xef\xbb\xbf{}"), "{}");
    CHECK_EQ(round_trip(vm, "{\"\":1}"), "{\"\":1}");
    CHECK_EQ(round_trip(vm, "{\"a\":1,\"b\":2,\"a\":3}"), R"({"a":3,"b":2})");
    CHECK_EQ(round_trip(vm, "\"x\""), "\"x\"");
    CHECK_EQ(round_trip(vm, "true"), "true");
    CHECK_EQ(round_trip(vm, " false "), "false");
    CHECK_EQ(round_trip(vm, "\"\""), "\"\"");
    CHECK_EQ(
        vm.run("return json.encode(json.decode(buffer.fromstring('{\"a\":[1]}'))), json.decode(buffer.fromstring('12'))"
        ),
        R"({"a":[1]}, 12)"
    );
    CHECK_EQ(vm.run("return setmetatable({}, json.decode('{\"__index\":{\"a\":7}}')).a"), "7");
    CHECK_EQ(
        encode(vm, "{b=1,a=2,B=3,[\"\"]=4,aa=5,[\"a\\0\"]=6,abcdefgh=1,abcdefghi=2,abcdefgg=3,[\"é\"]=9}"),
        R"({"":4,"B":3,"a":2,"a\u0000":6,"aa":5,"abcdefgg":3,"abcdefgh":1,"abcdefghi":2,"b":1,"é":9})"
    );
    CHECK_EQ(
        vm.run(R"(
        local t, keys = {}, {}
        for i = 1, 500 do local k = "key" .. math.random(1, 1e9) if not t[k] then t[k] = i table.insert(keys, k) end end
        table.sort(keys)
        local last = 0
        local text = json.encode(t)
        for _, k in keys do local at = text:find('"' .. k .. '":', 1, true) if not at or at < last then return k end last = at end
        local back = json.decode(text)
        for k, v in t do if back[k] ~= v then return k end end
        return "sorted")"),
        "sorted"
    );
}

void arguments()
{
    JsonVm vm;
    CHECK_EQ(message(vm.run("return json.decode({})")), "json.decode: argument 1 must be a string, got table");
    CHECK_EQ(message(vm.run("return json.decode()")), "json.decode: argument 1 must be a string, got no value");
    CHECK_EQ(message(vm.run("return json.decode(5)")), "json.decode: argument 1 must be a string, got number");
    CHECK_EQ(message(vm.run("return json.encode()")), "json.encode: argument 1 is missing");
    CHECK_EQ(
        encode_error(vm, "{a=print}"),
        "json.encode: cannot encode a function (only nil, json.null, booleans, numbers, strings and tables) at $.a"
    );
    CHECK_EQ(
        encode_error(vm, "{vector.create(1,2,3)}"),
        "json.encode: cannot encode a vector (only nil, json.null, booleans, numbers, strings and tables) at $[1]"
    );
    CHECK(starts_with(encode_error(vm, "coroutine.create(print)"), "json.encode: cannot encode a thread "));
    CHECK(starts_with(encode_error(vm, "buffer.create(1)"), "json.encode: cannot encode a buffer "));
    CHECK(starts_with(encode_error(vm, "newproxy()"), "json.encode: cannot encode a userdata "));
    CHECK_EQ(
        encode_error(vm, "{x={[true]=1}}"),
        "json.encode: cannot encode a table with a key of type boolean (only strings, or numbers from 1) at $.x"
    );
    CHECK_EQ(
        encode_error(vm, "{[5i]=1}"),
        "json.encode: cannot encode a table with a key of type integer (only strings, or numbers from 1) at $"
    );
    CHECK_EQ(
        encode_error(vm, R"({["odd key\n"]={[("k"):rep(50)]=print}})").find(R"( at $["odd key\x0a"]["kkkkk)") !=
            string::npos,
        true
    );
    lua_pushcfunction(vm.L, hk::json_decode, "__native.json_decode");
    lua_pushboolean(vm.L, true);
    CHECK_EQ(lua_pcall(vm.L, 1, 1, 0), int(LUA_ERRRUN));
    lua_rawgetfield(vm.L, -1, "message");
    CHECK_EQ(string(lua_tostring(vm.L, -1)), "__native.json_decode: argument 1 must be a string, got boolean");
    lua_pop(vm.L, 2);
    CHECK_EQ(vm.run("return pcall(json.decode, '[1')").substr(0, 6), "false,");
}

// What a call takes outside Luau's heap counts, and is given back however the call ends.
void memory_is_charged()
{
    JsonVm vm;
    string numbers = "[1";
    for (int i = 0; i < 200000; i++)
        numbers += ",1";
    numbers += "]";
    CHECK_EQ(vm.run_with(numbers, "return #json.decode(text)"), "200001");
    CHECK_EQ(vm.charged, size_t(0));
    CHECK(vm.charged_peak > numbers.size() * 4);
    CHECK(vm.scratch != nullptr);
    vm.charged_peak = 0;
    CHECK_EQ(vm.run("return #json.encode(string.rep('x', 3000000))"), "3000002");
    CHECK_EQ(vm.charged, size_t(0));
    CHECK(vm.charged_peak > 3000000);
    vm.charged_peak = 0;
    CHECK_EQ(vm.run("return json.encode(1)"), "1");
    CHECK(vm.charged_peak <= 1 << 20);
    vm.charge_limit = 1 << 20;
    CHECK_EQ(vm.run_with(numbers, "return pcall(json.decode, text)"), "false, not enough memory");
    CHECK_EQ(vm.run("return pcall(json.encode, string.rep('x', 3000000))"), "false, not enough memory");
    CHECK_EQ(
        vm.run("local t = {} for i = 1, 40 do t = {t, t} end return pcall(json.encode, t)"), "false, not enough memory"
    );
    CHECK_EQ(vm.charged, size_t(0));
    CHECK_EQ(vm.run("return json.encode(json.decode('[1]'))"), "[1]");
}

void heap_limit()
{
    JsonVm vm;
    string objects = "[{}";
    for (int i = 0; i < 100000; i++)
        objects += ",{\"a\":1}";
    objects += "]";
    vm.heap_limit = vm.heap + (4 << 20);
    CHECK_EQ(vm.run_with(objects, "return pcall(json.decode, text)"), "false, not enough memory");
    CHECK_EQ(vm.charged, size_t(0));
    CHECK_EQ(vm.run("return json.encode(json.decode('[1]'))"), "[1]");
    // Twice fits only if the first result, garbage by then, is collected for the second.
    vm.heap_limit = SIZE_MAX;
    lua_gc(vm.L, LUA_GCCOLLECT, 0);
    size_t before = vm.heap;
    CHECK_EQ(vm.run_with(objects, "return #json.decode(text)"), "100001");
    size_t one = vm.heap - before;
    lua_gc(vm.L, LUA_GCCOLLECT, 0);
    lua_gc(vm.L, LUA_GCSTOP, 0);
    vm.heap_limit = vm.heap + one + one / 2;
    CHECK_EQ(vm.run_with(objects, "for i = 1, 3 do json.decode(text) end return 'fine'"), "fine");
}

void kill_passes_through()
{
    for (const char* source :
         {"return pcall(json.decode, text)",
          "return pcall(json.encode, table.create(100000, 'x'))",
          "local t = {} for i = 1, 60 do t = {t, t} end return pcall(json.encode, t)"})
    {
        JsonVm vm;
        string numbers = "[1";
        for (int i = 0; i < 100000; i++)
            numbers += ",1";
        vm.polls_until_kill = 3;
        bool killed = false;
        try
        {
            vm.run_with(numbers, source);
        }
        catch (const KillForTest&)
        {
            killed = true;
        }
        CHECK(killed);
        CHECK_EQ(vm.charged, size_t(0));
        CHECK_EQ(vm.L->activememcat, 0);
    }
}

// Work without output: many references to one table that is empty but was large.
void polls_while_idle()
{
    JsonVm vm;
    vm.polls = 0;
    CHECK_EQ(
        vm.run(R"(
        local t = {}
        for i = 1, 20000 do t["k" .. i] = 1 end
        for i = 1, 20000 do t["k" .. i] = nil end
        return #json.encode(table.create(300, t)))"),
        "901"
    );
    CHECK(vm.polls >= 300);
}

} // namespace

int main()
{
    numbers_a15();
    number_bits_a15();
    number_kinds();
    number_errors();
    tables_a16();
    array_shapes();
    nulls();
    marks_and_collection();
    strings_a17();
    string_places();
    zero_bytes_a18();
    depth_a19();
    structure_errors();
    accepted();
    arguments();
    memory_is_charged();
    heap_limit();
    kill_passes_through();
    polls_while_idle();
    return check::summary("json");
}
