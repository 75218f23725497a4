// Waiting, yielding, time slices and kills, through every construct that a script can put around them.
#include "test_host.h"

#include <atomic>
#include <chrono>
#include <thread>

// wait(x) waits for the host: token and argument are noted, the test resumes.
class WaitHost : public TestHost
{
public:
    explicit WaitHost(uint32_t flags = 0) : TestHost(0, flags)
    {
        function(
            "wait",
            [this](const hk_call& call, const std::vector<Value>& args)
            {
                last = args.empty() ? nil() : args[0];
                couldWait = call.can_wait != 0;
                return couldWait ? waits(++token) : returns({text("in place")});
            },
            HK_FN_MAY_WAIT
        );
    }

    // Runs source and answers each wait with 10 times its argument, until it is over.
    Result finish(const std::string& source, int* waited = nullptr)
    {
        Result r = start_source(source);
        while (r.status == HK_WAIT || r.status == HK_SLICE)
        {
            hk_ref thread = r.thread;
            CHECK(thread != 0);
            if (r.status == HK_SLICE)
                r = resume(thread);
            else
            {
                CHECK_EQ(r.token, token);
                if (waited)
                    (*waited)++;
                r = resume(thread, {num(last.number * 10)});
            }
            if (r.status != HK_WAIT && r.status != HK_SLICE && r.status != HK_ERR_KILLED)
                hk_release(vm, thread);
        }
        return r;
    }

    Value last;
    uint64_t token = 0;
    bool couldWait = false;
};

struct Case
{
    const char* name;
    const char* source;
    int waits; // of which the host heard as such; the others were in place
    Value want;
};

static const Case kCases[] = {
    {"plain", "return wait(1)", 1, num(10)},
    {"twice", "return wait(1) + wait(2)", 2, num(30)},
    {"pcall", "local ok, v = pcall(wait, 3) return v", 1, num(30)},
    {"pcall of pcall", "local a, b, v = pcall(pcall, function() return wait(4) end) return v", 1, num(40)},
    {"xpcall", "local ok, v = xpcall(function() return wait(5) end, print) return v", 1, num(50)},
    {"error after a wait", "local ok, e = pcall(function() error(wait(6), 0) end) return e", 1, num(60)},
    {"wrap", "return coroutine.wrap(function() return wait(7) end)()", 1, num(70)},
    {"resume", "local _, v = coroutine.resume(coroutine.create(wait), 8) return v", 1, num(80)},
    {"chain of five",
     R"(
        local function nest(n)
            if n == 0 then return wait(9) end
            return coroutine.wrap(function() return (select(2, pcall(nest, n - 1))) end)()
        end
        return nest(5))",
     1,
     num(90)},
    {"chain that yields between",
     R"(
        local co = coroutine.wrap(function() coroutine.yield(wait(1)) coroutine.yield(wait(2)) return wait(3) end)
        return co() + co() + co())",
     3,
     num(60)},
    {"iterator",
     "local sum = 0 for v in function(_, i) i = (i or 0) + 1 return i < 4 and wait(i) and i or nil end do sum += v end "
     "return sum",
     3,
     num(6)},
    {"coroutine iterator",
     "local sum = 0 for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(wait(i)) end end) do sum += v "
     "end return sum",
     3,
     num(60)},
    {"tail call", "local function f() return wait(2) end return f()", 1, num(20)},
    {"comparator",
     "local t = {2, 1} table.sort(t, function(a, b) wait(1) return a < b end) return wait(t[1])",
     1,
     num(10)},
    {"gsub", "return (('x'):gsub('x', wait))", 0, text("in place")},
    {"metamethod", "return setmetatable({}, {__add = function() return wait(1) end}) + 1", 0, text("in place")},
    {"coroutine in a comparator",
     R"(
        local seen
        table.sort({2, 1}, function(a, b) seen = coroutine.wrap(function() return wait(1) end)() return a < b end)
        return seen)",
     0,
     text("in place")},
    {"many in turn", "local sum = 0 for i = 1, 500 do sum += wait(1) end return sum", 500, num(5000)},
};

static void waits_work_everywhere(uint32_t flags)
{
    WaitHost host(flags);
    for (const Case& c : kCases)
    {
        int waited = 0;
        Result r = host.finish(c.source, &waited);
        CHECK_EQ(r.status, HK_OK);
        CHECK_EQ(waited, c.waits);
        CHECK_EQ(r.first(), c.want);
        if (r.status != HK_OK || waited != c.waits)
            std::cerr << "  in: " << c.name << " " << r.text << "\n";
    }
    CHECK_EQ(host.stats().refs, uint64_t(0));
}

// What a dropped thread waits for ends with it; a coroutine that is not on the way does not.
static void dropped_threads_are_dead(uint32_t flags)
{
    WaitHost host(flags);
    Result r = host.start_source(
        "top = coroutine.running() "
        "local up = 1 read = function() return up end "
        "idle = coroutine.create(function() coroutine.yield() return 'idle' end) coroutine.resume(idle) "
        "co = coroutine.create(function() inner = coroutine.create(wait) up = 2 pcall(coroutine.resume, inner) end) "
        "coroutine.wrap(function() coroutine.resume(co) end)()"
    );
    CHECK_EQ(r.status, HK_WAIT);
    hk_drop(host.vm, r.thread);
    hk_drop(host.vm, r.thread); // is stale by now
    CHECK_EQ(host.stats().refs, uint64_t(0));
    r = host.finish("local s = coroutine.status return s(top) .. s(co) .. s(inner) .. s(idle) .. read() .. "
                    "tostring(select(2, coroutine.resume(co))) .. tostring(select(2, coroutine.resume(idle)))");
    CHECK_EQ(r.first(), text("deaddeaddeadsuspended2cannot resume dead coroutineidle"));
    CHECK_EQ(host.resume(0).status, HK_ERR_INVALID);
}

static void outcomes_of_a_wait()
{
    WaitHost host;
    Result r = host.start_source("local ok, e = pcall(wait, 1) return ok, e");
    Result out = host.resume(r.thread, {text("failed")}, HK_RESUME_ERROR);
    CHECK_EQ(out.values[0], boolean(false));
    CHECK_EQ(out.values[1], text("failed"));
    CHECK_EQ(host.resume(r.thread, {}).status, HK_ERR_INVALID); // finished
    r = host.start_source("return wait(1)");
    CHECK_EQ(host.resume(r.thread, {num(1), nil(), num(3)}).values.size(), size_t(3));
    r = host.start_source("return wait(1)");
    out = host.resume(r.thread, {reference(HK_REF_FUNCTION, 99)});
    CHECK_EQ(out.status, HK_ERR_RUNTIME); // the script hears of it
    // A call in place has nobody to wait for.
    CHECK_EQ(host.run_source("return wait(1)").first(), text("in place"));
    CHECK_EQ(host.start_source("return wait(1)", {}, HK_START_IN_PLACE).first(), text("in place"));
}

static void yields_reach_the_host()
{
    WaitHost host;
    Result r = host.start_source("local a = coroutine.yield(1, 'x') return a, coroutine.yield()");
    CHECK_EQ(r.status, HK_YIELD);
    CHECK_EQ(r.values.size(), size_t(2));
    hk_ref thread = r.thread;
    CHECK_EQ(host.resume(thread, {reference(HK_REF_FUNCTION, 99)}).status, HK_ERR_INVALID);
    r = host.resume(thread, {text("back")}); // as if the wrong try had not been
    CHECK_EQ(r.status, HK_YIELD);
    CHECK_EQ(r.values.size(), size_t(0));
    r = host.resume(thread, {num(2)});
    CHECK_EQ(r.status, HK_OK);
    CHECK_EQ(r.values[0], text("back"));
    CHECK_EQ(r.values[1], num(2));
    r = host.start_source("return ...", {num(1)}, HK_START_SUSPENDED);
    CHECK_EQ(r.status, HK_SLICE);
    CHECK_EQ(host.resume(r.thread, {num(2)}).values.size(), size_t(2));
    // What cannot cross ends the thread for the host, and leaves nothing to trip over.
    r = host.start_source("coroutine.yield() return {[{}] = 1}");
    thread = r.thread;
    CHECK_EQ(host.resume(thread).status, HK_ERR_CONVERT);
    CHECK_EQ(host.resume(thread).status, HK_ERR_INVALID);
    // A script's own coroutine.
    r = host.run_source("return coroutine.create(function(x) local y = coroutine.yield(x + 1) return x + y end)");
    thread = host.hold(r.first());
    CHECK_EQ(host.resume(thread, {num(1)}).first(), num(2));
    CHECK_EQ(host.resume(thread, {num(5)}).first(), num(6));
    CHECK_EQ(host.resume(thread, {num(5)}).status, HK_ERR_INVALID);
    r = host.run_source("local co = coroutine.create(error) coroutine.resume(co, 'x') return co");
    thread = host.hold(r.first());
    CHECK_EQ(host.resume(thread).status, HK_ERR_INVALID);
}

static void tables_keep_their_identity()
{
    TestHost host;
    Result r = host.start_source("local t = {1} shared = t return t", {}, HK_START_KEEP);
    CHECK_EQ(int(r.first().flags), int(HK_REF_TABLE));
    CHECK_EQ(host.run_source("local t = ... return t == shared", {r.first()}).first(), boolean(true));
    r = host.start_source("coroutine.yield() return shared");
    r = host.resume(r.thread, {}, HK_RESUME_KEEP);
    CHECK_EQ(int(r.first().tag), int(HK_T_REF));
}

static void slices_break_off()
{
    WaitHost host;
    for (const char* source : {
             "local x = 0 for i = 1, 3e6 do x += 1 end return x",
             "return coroutine.wrap(function() local x = 0 for i = 1, 3e6 do x += 1 end return x end)()",
             "local ok, x = pcall(function() local x = 0 while x < 3e6 do x += 1 end return x end) return x",
             "local x = 0 table.sort({2, 1}, function(a, b) for i = 1, 3e6 do x += 1 end return a < b end) for i = 1, "
             "10 do end return math.min(x, 3e6)",
         })
    {
        hk_attend(host.vm, HK_ATTEND_SLICE);
        Result r = host.start_source(source);
        int slices = 0;
        for (; r.status == HK_SLICE && slices < 20; slices++)
        {
            if (slices < 10)
                hk_attend(host.vm, HK_ATTEND_SLICE);
            r = host.resume(r.thread);
        }
        CHECK(slices > 0);
        CHECK_EQ(r.status, HK_OK);
        CHECK_EQ(r.first(), num(3e6));
    }
    // Nothing breaks off in place.
    hk_attend(host.vm, HK_ATTEND_SLICE);
    CHECK_EQ(host.run_source("local x = 0 for i = 1, 1e5 do x += 1 end return x").first(), num(1e5));
}

// Ends the run from another thread, again and again at another moment, while the script does all it
// can to go on.
static void kills_end_everything(uint32_t flags)
{
    static const char* const sources[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local function f() xpcall(f, f) end while true do f() end",
        "while true do coroutine.wrap(function() for i = 1, 10 do coroutine.yield() end end)() end",
        "while true do table.sort(table.create(100, 1), function() return false end) end",
        "while true do local t = {} for i = 1, 1000 do t[i] = {i} end end",
        "while true do (('x'):rep(1000)):gsub('x', function() return 'y' end) end",
        "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
        "while true do print(('x'):rep(100)) end",
        "while true do host() end",
    };
    for (const char* source : sources)
    {
        TestHost host(0, flags);
        host.function("host", [](const hk_call&, const std::vector<Value>&) { return returns({}); });
        bool saved = hk_vm_save(host.vm).status == HK_OK;
        for (int i = 0; i < (saved ? 8 : 1); i++)
        {
            if (i > 0)
                CHECK_EQ(hk_vm_reset(host.vm).status, HK_OK);
            host.begin();
            hk_ref fn = host.load(source);
            std::atomic<bool> go{false};
            std::thread killer(
                [&host, &go, i]
                {
                    while (!go)
                        std::this_thread::yield();
                    std::this_thread::sleep_for(std::chrono::microseconds(i * 300));
                    hk_kill(host.vm, host.run, HK_KILL_USER + 1);
                    hk_kill(host.vm, host.run, HK_KILL_USER + 2);
                    hk_kill(host.vm, host.run - 1, HK_KILL_USER + 3);
                }
            );
            go = true;
            Result r = i % 2 ? host.call(fn) : host.start(fn);
            killer.join();
            CHECK_EQ(r.status, HK_ERR_KILLED);
            CHECK_EQ(r.token, uint64_t(HK_KILL_USER + 1)); // the first reason
            CHECK_EQ(host.run_source("return 1").status, HK_ERR_KILLED);
            CHECK_EQ(hk_caller(host.vm).status, HK_ERR_KILLED);
            CHECK_EQ(hk_traceback(host.vm).status, HK_ERR_KILLED);
            hk_collect(host.vm);
        }
    }
}

static void limits_end_a_run()
{
    TestHost host;
    host.function("f", [](const hk_call&, const std::vector<Value>&) { return returns({}); });
    CHECK_EQ(hk_vm_save(host.vm).status, HK_OK);
    hk_limits limits = {};
    limits.host_calls = 10;
    host.begin(limits);
    Result r = host.run_source("for i = 1, 100 do pcall(f) end");
    CHECK_EQ(r.status, HK_ERR_KILLED);
    CHECK_EQ(r.token, uint64_t(HK_KILL_HOST_CALLS));
    CHECK_EQ(host.calls, 10);

    hk_vm_reset(host.vm);
    limits = {};
    limits.output = 1000;
    host.begin(limits);
    r = host.run_source("while true do pcall(print, ('x'):rep(98)) end");
    CHECK_EQ(r.token, uint64_t(HK_KILL_OUTPUT));
    CHECK_EQ(host.printed.size(), size_t(990));

    hk_vm_reset(host.vm);
    limits = {};
    limits.memory = 4 << 20;
    host.begin(limits);
    r = host.run_source("local t = {} while true do t[#t + 1] = {} end");
    CHECK_EQ(r.status, HK_ERR_MEMORY);
    CHECK_EQ(host.run_source("return buffer.len(buffer.create(2^20))").first(), num(1 << 20));
    CHECK_EQ(hk_charge(host.vm, 8 << 20), 0);
    CHECK_EQ(hk_charge(host.vm, 1 << 20), 1);
    hk_uncharge(host.vm, 1 << 20);
    host.begin();
    CHECK_EQ(hk_charge(host.vm, 8 << 20), 1);
    hk_uncharge(host.vm, 8 << 20);
}

static void where_the_script_stands()
{
    TestHost host;
    host.function(
        "where",
        [&host](const hk_call& call, const std::vector<Value>&)
        {
            Result caller(hk_caller(call.vm)), trace(hk_traceback(call.vm));
            CHECK_EQ(caller.values[0], text("=test"));
            CHECK_EQ(caller.values[1], num(2));
            CHECK(trace.first().array.size() >= 2);
            CHECK_EQ(hk_in_host_call(call.vm), 1);
            return returns({});
        }
    );
    CHECK_EQ(host.run_source("local function f()\n where()\nend\nf()").status, HK_OK);
    CHECK_EQ(hk_in_host_call(host.vm), 0);
}

// A thread that waits has a place: with the coroutine that waits in front of who resumed it.
void where_a_thread_waits()
{
    WaitHost host;
    Result r(host.start_source("local function f()\n wait(1)\nend\ncoroutine.wrap(function()\n f()\nend)()"));
    CHECK_EQ(r.status, HK_WAIT);
    Result place(hk_thread_place(host.vm, r.thread));
    CHECK_EQ(place.status, HK_OK);
    std::string lines;
    for (const Value& frame : place.first().array)
        lines += std::to_string(int(frame.array.at(1).number)) + " ";
    CHECK_EQ(lines, "0 2 5 6 ");
    CHECK_EQ(host.resume(r.thread, {num(1)}).status, HK_OK);
    hk_release(host.vm, r.thread);
    CHECK_EQ(hk_thread_place(host.vm, r.thread).status, HK_ERR_INVALID);
    CHECK_EQ(hk_thread_place(host.vm, 0).status, HK_ERR_INVALID);
}

// What a table that was raised holds and cannot cross is named; the rest of it crosses.
void raised_tables_cross()
{
    TestHost host;
    Result r(host.run_source("local t = { code = 'zz', f = print, [print] = 1 } t.t = t error(t)"));
    CHECK_EQ(r.status, HK_ERR_RUNTIME);
    int found = 0;
    for (const auto& pair : r.values.at(1).pairs)
    {
        std::string name = pair.first.text;
        found += name == "code" && pair.second.text == "zz";
        found += name == "f" && pair.second.text == "<function>";
        found += name == "<function>" && pair.second.number == 1;
        found += name == "t" && pair.second.text == "<table>";
    }
    CHECK_EQ(found, 4);
}

int main()
{
    where_a_thread_waits();
    raised_tables_cross();
    for (uint32_t flags : {0u, uint32_t(HK_VM_MALLOC), uint32_t(HK_VM_NATIVE)})
    {
        waits_work_everywhere(flags);
        dropped_threads_are_dead(flags);
        kills_end_everything(flags);
    }
    outcomes_of_a_wait();
    yields_reach_the_host();
    tables_keep_their_identity();
    slices_break_off();
    limits_end_a_run();
    where_the_script_stands();
    return check_result("wait");
}
