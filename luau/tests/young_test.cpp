// A VM in the arena of a closed one: nothing of the old one is left, whatever it did and however it
// ended.
#include "test_host.h"

#include <memory>

// A limit that no other test uses: the first VM with it has an arena of its own.
static constexpr size_t kMemory = size_t(48) << 20;

// Everything that a script reaches from its globals, in an order of its own.
static const char* const kSeen = R"(
    local out, seen = {}, {}
    local function walk(path, v)
        local kind = type(v)
        if kind ~= "table" then
            local what = if kind == "function" then `{debug.info(v, "n")} {debug.info(v, "s")}` else tostring(v)
            table.insert(out, `{path} {kind} {what}`)
            return
        end
        if seen[v] then
            table.insert(out, `{path} is {seen[v]}`)
            return
        end
        seen[v] = path
        table.insert(out, `{path} table frozen={table.isfrozen(v)} length={#v}`)
        local keys = {}
        for key in v do
            table.insert(keys, key)
        end
        table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
        for _, key in keys do
            walk(`{path}.{key}`, v[key])
        end
        local meta = getmetatable(v)
        if meta ~= nil then
            walk(path .. "<meta>", meta)
        end
    end
    for _, name in {"string", "table", "math", "os", "coroutine", "bit32", "utf8", "buffer", "vector", "debug",
        "integer", "_G", "_VERSION", "print", "pcall", "error", "rawset", "left", "host"} do
        walk(name, _G[name])
    end
    walk("text", getmetatable(""))
    return table.concat(out, "\n")
)";

static std::string seen(TestHost& host)
{
    Result r = host.run_source(kSeen);
    CHECK_EQ(r.status, HK_OK);
    return r.first().text;
}

static double random_number(TestHost& host)
{
    return host.run_source("return math.random()").first().number;
}

// Ways to leave a VM.
static void use_globals(TestHost& host)
{
    host.function("host", [](const hk_call&, const std::vector<Value>&) { return returns({num(1)}); });
    CHECK_EQ(host.run_source("left = {1, 2, 3} return host()").first(), num(1));
}

static void run_out_of_memory(TestHost& host)
{
    CHECK_EQ(
        host.run_source("local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end").status, HK_ERR_MEMORY
    );
}

static void be_killed(TestHost& host)
{
    hk_kill(host.vm, host.run, HK_KILL_USER);
    CHECK_EQ(host.run_source("left = 1 while true do end").status, HK_ERR_KILLED);
}

static void be_suspended(TestHost& host)
{
    host.function(
        "host", [](const hk_call&, const std::vector<Value>&) { return waits(7); }, HK_FN_MAY_WAIT
    );
    CHECK_EQ(host.start_source("local r = host() left = r").status, HK_WAIT);
}

static void save_an_image(TestHost& host)
{
    CHECK_EQ(host.run_source("left = table.create(1000, 'x')").status, HK_OK);
    CHECK_EQ(hk_vm_save(host.vm).status, HK_OK);
    CHECK_EQ(host.run_source("left = nil").status, HK_OK);
    CHECK_EQ(hk_vm_reset(host.vm).status, HK_OK);
}

static void run_native(TestHost& host)
{
    hk_ref fn = host.load("local s = 0 for i = 1, 1000 do s += i end left = s return s", HK_LOAD_NATIVE);
    CHECK_EQ(host.call(fn).first(), num(500500));
}

int main()
{
    std::string fresh;
    {
        TestHost host(kMemory);
        fresh = seen(host);
        CHECK(fresh.size() > 1000);
    }
    double last = 0;
    void (*const ways[]
    )(TestHost&) = {use_globals, run_out_of_memory, be_killed, be_suspended, save_an_image, run_native};
    for (int round = 0; round < 3; round++)
        for (auto way : ways)
            for (uint32_t flags : {uint32_t(0), uint32_t(HK_VM_NATIVE)})
            {
                TestHost host(kMemory, flags);
                CHECK_EQ(seen(host), fresh);
                double random = random_number(host);
                CHECK(random != last);
                last = random;
                CHECK_EQ(host.stats().refs, uint64_t(0));
                way(host);
            }

    // Many at once: no two have the same arena.
    std::vector<std::unique_ptr<TestHost>> hosts;
    for (int i = 0; i < 40; i++)
        hosts.push_back(std::make_unique<TestHost>(kMemory));
    for (int i = 0; i < 40; i++)
        CHECK_EQ(hosts[size_t(i)]->run_source("left = ...", {num(i)}).status, HK_OK);
    for (int i = 0; i < 40; i++)
        CHECK_EQ(hosts[size_t(i)]->run_source("return left").first(), num(i));
    hosts.clear();
    TestHost host(kMemory);
    CHECK_EQ(seen(host), fresh);
    return check_result("young");
}
