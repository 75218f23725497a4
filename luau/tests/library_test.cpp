// The library functions that replace Luau's own must give the same answers: each script runs in a bare
// Luau state and in a VM of ours, and both must return the same text.
#include "check.h"

#include "hukilau.h"

#include "lua.h"
#include "luacode.h"
#include "lualib.h"

#include <stdlib.h>
#include <string.h>

#include <string>

static std::string in_bare_luau(const std::string& source)
{
    lua_State* L = luaL_newstate();
    luaL_openlibs(L);
    size_t size = 0;
    char* code = luau_compile(source.data(), source.size(), nullptr, &size);
    std::string text = "failed";
    if (luau_load(L, "=test", code, size, 0) == 0 && lua_pcall(L, 0, 1, 0) == 0)
    {
        size_t n = 0;
        const char* s = lua_tolstring(L, -1, &n);
        text.assign(s ? s : "no text", s ? n : 7);
    }
    else
        text += std::string(": ") + lua_tostring(L, -1);
    free(code);
    lua_close(L);
    return text;
}

static std::string in_our_vm(const std::string& source)
{
    hk_vm* vm = nullptr;
    hk_vm_options options = {};
    if (hk_vm_new(&options, &vm).status != HK_OK)
        return "no VM";
    hk_limits limits = {};
    hk_run_begin(vm, 1, &limits);
    hk_bytecode* code = nullptr;
    uint8_t* error = nullptr;
    size_t size = 0;
    std::string text = "failed";
    if (hk_compile(source.data(), source.size(), nullptr, &code, &error, &size) == HK_OK)
    {
        hk_result loaded = hk_load(vm, code, "=test", 5, 0);
        hk_result r = hk_call_function(vm, loaded.thread, nullptr, 0, 0);
        uint32_t n = 0;
        if (r.status == HK_OK && r.count == 1 && r.data[0] == HK_T_STRING)
        {
            memcpy(&n, r.data + 1, 4);
            text.assign(reinterpret_cast<const char*>(r.data) + 5, n);
        }
        else
            text += ": " + std::string(reinterpret_cast<const char*>(r.data), r.size);
        hk_bytecode_free(code);
    }
    hk_text_free(error);
    hk_vm_close(vm);
    return text;
}

static void same(const std::string& source)
{
    std::string ours = in_our_vm(source); // first: it sets the flags
    std::string stock = in_bare_luau(source);
    size_t at = 0, line = 0; // where the first line begins that differs
    for (size_t i = 0; i < ours.size() && i < stock.size() && ours[i] == stock[i]; i++)
        if (ours[i] == '\n')
            at = i + 1, line++;
    if (ours == stock)
        at = 0;
    CHECK_EQ(
        std::to_string(line * (at > 0)) + ": " + ours.substr(at, 200),
        std::to_string(line * (at > 0)) + ": " + stock.substr(at, 200)
    );
    CHECK(ours == stock);
}

// The test's own random numbers, the same in both.
static const char* const kRandom = R"lua(
    local state = SEED
    local function random(n)
        state = (state * 48271) % 2147483647
        return state % n + 1
    end
    local function pick(list) return list[random(#list)] end
    local out, size = {}, 0
    local function note(...)
        local parts = table.pack(...)
        for i = 1, parts.n do parts[i] = tostring(parts[i]) end
        local line = table.concat(parts, "|")
        table.insert(out, line)
        size += #line
    end
)lua";

static void same_random(const std::string& body, int seed)
{
    std::string source = std::string(kRandom) + body + "\nreturn table.concat(out, '\\n')";
    size_t at = source.find("SEED");
    source.replace(at, 4, std::to_string(seed));
    same(source);
}

static const char* const kPatterns = R"lua(
    local pieces = {"a", "b", "c", ".", "%a", "%d", "%w", "%s", "%S", "%p", "%z", "%.", "%%", "[ab]", "[^a]", "[a-c]", "[%d_]",
        "[^%w]", "[]a]", "[a-]", "[%]]", "[", "]", "(", ")", "()", "%1", "%2", "%0", "%b()", "%bab", "%b", "%f[%w]", "%f[a]", "%f",
        "^", "$", "*", "+", "-", "?", "\0", "\255", "[\128-\255]", "[a-c0-9xyzuvw.,;:!]", "%", "é"}
    local letters = {"a", "a", "b", "c", "1", " ", ".", "(", ")", "\0", "\255", "_", "é", "x", "%"}
    local function text(list, n)
        local t = {}
        for i = 1, random(n) - 1 do t[i] = pick(list) end
        return table.concat(t)
    end
    local inits = {0, 1, 2, 3, 100, -1, -2, -100}
    local replacements = {"x", "<%0>", "<%1>", "%2", "%%", "%", "%x", "", 7, {a = "A", b = false, ["1"] = 2, c = {}}, function(...) return ... end,
        function() return nil end, function(a, b) return b end, function() return {} end}
    for i = 1, 3000 do
        local s, p = text(letters, 16), text(pieces, 7)
        note("find", pcall(string.find, s, p, pick(inits)))
        note("plain", pcall(string.find, s, p, pick(inits), true))
        note("match", pcall(string.match, s, p, pick(inits)))
        note("gsub", pcall(string.gsub, s, p, pick(replacements), ({nil, 0, 1, 2})[random(4)]))
        note("split", table.concat(string.split(s, text(letters, 3)), "|"))
        local found = {}
        note("gmatch", pcall(function()
            for a, b in string.gmatch(s, p) do
                table.insert(found, tostring(a) .. tostring(b))
                if #found > 20 then break end
            end
        end))
        note(table.unpack(found))
    end
)lua";

static void patterns()
{
    for (int seed = 1; seed <= 6; seed++)
        same_random(kPatterns, seed * 7919);
    const char* const more[] = {
        "return tostring(select(2, pcall(string.find, ('a'):rep(300), ('a?'):rep(300) .. ('a'):rep(300))))",
        "return tostring(string.find(('a'):rep(300), ('a?'):rep(12) .. 'b'))",
        "return tostring(string.find('', ('a*'):rep(1000)))",
        "return tostring(select(2, pcall(string.find, 'a', ('('):rep(40))))",
        "return tostring(select(2, pcall(string.find, ('a'):rep(500), ('(a'):rep(32) .. (')'):rep(32))))",
        "return tostring(string.find(('a'):rep(70000) .. 'b', '^[^b]*b$'))",
        "return (string.gsub(('ab'):rep(3000), '(a)(b)', '%2%1%%'))",
        "return tostring(string.find(('a'):rep(70000) .. 'b', '[acdefghijklmnop]*b'))",
        "return tostring(string.find(('a'):rep(3000), '.-b'))",
        "return tostring(string.find(('('):rep(70000) .. (')'):rep(70000), '%b()'))",
        "return table.concat({string.gsub('hello world', '%w+', '%0 %0', 1)}, '|')",
        "return table.concat({string.gsub('abc', '', '-')}, '|')",
        "return (string.gsub(('ab'):rep(5000), 'ab', {ab = 'x'}))",
        "return (string.gsub(('ab'):rep(5000), 'b', '%%'))",
        "return tostring(select(2, pcall(string.gsub, 'a', 'a', true)))",
        "return tostring(select(2, pcall(string.gsub, 'a')))",
        "return tostring(select(2, pcall(string.find)))",
        "return tostring(select(2, pcall(string.gmatch, 1)))",
        "local t = {} for k, v in string.gmatch('a=1, b=2', '(%w+)=(%w+)') do t[#t + 1] = k .. v end return "
        "table.concat(t)",
        "return tostring(string.find('a\\0b', '\\0')) .. tostring(string.find('a\\0b', '%z')) .. "
        "tostring(string.match('a\\0b', '[\\0]()'))",
        "return (string.gsub(12.5, '%.', ',')) .. tostring(string.find(125, 2))",
        "local co = coroutine.wrap(function() return pcall(string.gsub, 'a', 'a', coroutine.yield) end) return "
        "tostring(select(2, co()))",
    };
    for (const char* source : more)
        same(source);
}

static const char* const kSorts = R"lua(
    local words = {"", "a", "b", "ab", "aa", "a\0", "a\0b", "\255", "é", "zz", "B", "10", "9"}
    local function list(n, make)
        local t = {}
        for i = 1, random(n) - 1 do t[i] = make(i) end
        return t
    end
    local makers = {
        function() return random(1000) end, function() return random(3) end, function(i) return i end, function(i) return -i end,
        function() return random(1000) / 7 - 50 end, function() return pick(words) end, function(i) return pick(words) .. i end,
        function() return 1 end, function(i) return ({1 / 0, -1 / 0, 0, 1, 5e-324})[random(5)] end,
    }
    local errors = {function(i) return ({1, "a", true, {}, print})[i % 5 + 1] end, function() return {} end, function() return true end}
    for i = 1, 400 do
        local t = list(({3, 14, 40, 600})[random(4)], pick(makers))
        note("sort", pcall(table.sort, t))
        note(table.concat(t, ","))
        note("down", pcall(table.sort, t, function(a, b) return a > b end))
        note(table.concat(t, ","))
        local wrong = list(4, pick(errors))
        note("wrong", pcall(table.sort, wrong))
    end
    local m = {__lt = function(a, b) return a.n < b.n end}
    local objects = {}
    for i = 1, 200 do objects[i] = setmetatable({n = random(1e6)}, m) end
    table.sort(objects)
    for i, o in objects do note(o.n) end
    note(pcall(table.sort, table.freeze({2, 1})))
    note(pcall(table.sort), pcall(table.sort, 1), pcall(table.sort, {2, 1}, 1), pcall(table.sort, {2, 1}, {}))
    note(pcall(table.sort, {3, 1, nil, 2}))
    note(pcall(table.sort, {3, 2, 1}, math.max))
    note(pcall(table.sort, {3, 2, 1, x = 1}), pcall(table.sort, {}), pcall(table.sort, {1}), pcall(table.sort, {print}))
    note(pcall(table.sort, {3, 2, 1}, function() error("mine", 0) end))
    note(pcall(table.sort, {3, 2, 1}, function(a, b) return true end))
)lua";

static void sorts()
{
    for (int seed = 1; seed <= 6; seed++)
        same_random(kSorts, seed * 104729);
    // No order at all: every number is still there.
    same(R"lua(
        local t, n = {}, 0
        for i = 1, 5000 do t[i] = i % 3 == 0 and 0 / 0 or i end
        table.sort(t)
        for _, v in t do n += v == v and v or 1 end
        return tostring(n))lua");
    // Orders that are bad for a quick sort.
    same(R"lua(
        local out = {}
        for _, n in {1000, 20000} do
            for _, make in {function(i) return i end, function(i) return n - i end, function(i) return i % 2 * n + i end, function(i) return math.abs(i - n / 2) end,
                function(i) return i % 7 end, function(i) return bit32.bxor(i, 0x5555) end, function(i) return bit32.bxor(i, 0x5555) .. "" end} do
                local t = {}
                for i = 1, n do t[i] = make(i) end
                table.sort(t)
                local ok = true
                for i = 2, n do ok = ok and not (t[i] < t[i - 1]) end
                table.insert(out, tostring(ok))
            end
        end
        return table.concat(out))lua");
}

int main()
{
    patterns();
    sorts();
    return check_result("library_test");
}
