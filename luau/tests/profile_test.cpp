// Profiles: which stacks the sampler sees, and that it bounds what it keeps. Samples are asked for by host
// functions and by a watcher, and no test needs a watcher that keeps to the clock.
#include "test_host.h"

#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <time.h>

static std::string piece(const char* text, uint32_t size)
{
    return std::string(text, size);
}

// A profile in words: "outer:3>inner:7" with lines, and the time of each.
class Seen
{
public:
    explicit Seen(hk_vm* vm)
    {
        hk_profile_stop(vm, &p);
        for (size_t i = 0; i < p.stack_count; i++)
        {
            const hk_stack& s = p.stacks[i];
            CHECK(s.parent <= i);
            CHECK(s.frame >= 1 && s.frame <= p.frame_count);
            const hk_frame& f = p.frames[s.frame - 1];
            std::string path = s.parent ? paths.at(s.parent - 1) + ">" : "";
            path += piece(f.name, f.name_size);
            if (f.kind == HK_FRAME_LUAU)
                path += ":" + std::to_string(f.line);
            paths.push_back(path);
            depths.push_back(s.parent ? depths.at(s.parent - 1) + 1 : 1);
            samples += s.samples;
            time += s.nanoseconds;
            if (s.samples)
                byPath[path] += s.samples;
        }
        CHECK_EQ(samples, p.samples);
        CHECK_EQ(time, p.nanoseconds);
    }

    // Time of all stacks with the text in them.
    uint64_t with(const std::string& text) const
    {
        uint64_t sum = 0;
        for (size_t i = 0; i < paths.size(); i++)
            if (paths[i].find(text) != std::string::npos)
                sum += p.stacks[i].nanoseconds;
        return sum;
    }
    uint64_t ending(const std::string& text) const
    {
        uint64_t sum = 0;
        for (const auto& [path, n] : byPath)
            if (path.size() >= text.size() && path.compare(path.size() - text.size(), text.size(), text) == 0)
                sum += n;
        return sum;
    }
    uint64_t count(const std::string& path) const
    {
        auto found = byPath.find(path);
        return found == byPath.end() ? 0 : found->second;
    }
    const hk_frame* frame(const std::string& name) const
    {
        for (size_t i = 0; i < p.frame_count; i++)
            if (piece(p.frames[i].name, p.frames[i].name_size) == name)
                return &p.frames[i];
        return nullptr;
    }
    int deepest() const
    {
        int most = 0;
        for (int depth : depths)
            most = depth > most ? depth : most;
        return most;
    }

    hk_profile p = {};
    std::vector<std::string> paths;
    std::vector<int> depths;
    std::map<std::string, uint64_t> byPath;
    uint64_t samples = 0, time = 0;
};

// work() uses two milliseconds and wants a sample; wait() waits.
class ProfileHost : public TestHost
{
public:
    explicit ProfileHost(uint32_t flags = 0) : TestHost(0, flags)
    {
        function(
            "work",
            [](const hk_call& call, const std::vector<Value>&)
            {
                hk_attend(call.vm, HK_ATTEND_SAMPLE);
                burn(2000000);
                return returns({});
            }
        );
        function(
            "wait", [](const hk_call&, const std::vector<Value>&) { return waits(1); }, HK_FN_MAY_WAIT
        );
    }

    // Uses so much processor time.
    static void burn(uint64_t ns)
    {
        for (uint64_t end = cpu() + ns; cpu() < end;)
            ;
    }
    static uint64_t cpu()
    {
        timespec t = {};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
    }
};

// Asks for samples until it is destroyed.
class Watcher
{
public:
    explicit Watcher(hk_vm* vm)
        : thread(
              [this, vm]
              {
                  while (!stop)
                  {
                      hk_attend(vm, HK_ATTEND_SAMPLE);
                      asked++;
                      std::this_thread::sleep_for(std::chrono::microseconds(200));
                  }
              }
          )
    {
    }
    ~Watcher()
    {
        stop = true;
        thread.join();
    }

    // So many that chance decides nothing, also where the machine lets the watcher wait.
    bool enough() const
    {
        return asked >= 300;
    }

private:
    std::atomic<bool> stop{false};
    std::atomic<int> asked{0};
    std::thread thread;
};

static const char* kShares = R"(
local function spin(n)
    local x = 0
    for i = 1, n do
        x = x + i % 7
    end
    return x
end
local function hot() return spin(30000) + 0 end
local function cold() return spin(10000) + 0 end
for i = 1, 40 do
    hot()
    cold()
end
)";

static void shares_are_those_of_the_work(uint32_t flags)
{
    ProfileHost host(flags);
    hk_ref fn = host.load(kShares, flags & HK_VM_NATIVE ? HK_LOAD_NATIVE : 0);
    CHECK_EQ(hk_profile_start(host.vm), 1);
    uint64_t before = ProfileHost::cpu();
    {
        Watcher watcher(host.vm);
        while (!watcher.enough())
            CHECK_EQ(host.start(fn).status, HK_OK);
    }
    uint64_t used = ProfileHost::cpu() - before;
    Seen seen(host.vm);
    CHECK(seen.p.samples > 0);
    CHECK_EQ(seen.p.lost, 0u);
    CHECK(seen.time <= used);
    CHECK(seen.with(">hot:") > seen.with(">cold:"));
    CHECK(seen.with("main chunk:") > seen.time / 2);
    const hk_frame* spin = seen.frame("spin");
    CHECK(spin != nullptr);
    if (spin)
    {
        CHECK_EQ(spin->defined, 2);
        CHECK(spin->line >= 2 && spin->line <= 7);
        CHECK_EQ(piece(spin->chunk, spin->chunk_size), "=test");
        CHECK_EQ(spin->kind, uint32_t(HK_FRAME_LUAU));
    }
}

static void host_functions_are_leaves()
{
    ProfileHost host;
    hk_profile_start(host.vm);
    CHECK_EQ(host.start_source("local function f()\n work()\nend\nf()\nlocal t = {1}").status, HK_OK);
    Seen seen(host.vm);
    CHECK_EQ(seen.count("main chunk:4>f:2>work"), 1u);
    CHECK(seen.with(">work") >= 2000000);
    CHECK_EQ(seen.frame("work")->kind, uint32_t(HK_FRAME_HOST));
}

static void coroutines_stand_in_their_resumers()
{
    ProfileHost host;
    hk_profile_start(host.vm);
    const char* source = "local co = coroutine.wrap(function()\n coroutine.wrap(function() work() end)()\nend)\nco()";
    CHECK_EQ(host.start_source(source).status, HK_OK);
    Seen seen(host.vm);
    CHECK_EQ(seen.samples, 1u);
    bool found = false;
    for (const auto& entry : seen.byPath)
        found |=
            entry.first.find("main chunk:4>") == 0 && entry.first.find(">anonymous function:2>") != std::string::npos &&
            entry.first.rfind("anonymous function:2>work") == entry.first.size() - strlen("anonymous function:2>work");
    CHECK(found);
}

static void callbacks_stand_in_their_callers()
{
    ProfileHost host;
    hk_ref callee = 0;
    host.function(
        "call",
        [&](const hk_call&, const std::vector<Value>& args)
        {
            callee = host.hold(args[0]);
            CHECK_EQ(host.call(callee).status, HK_OK);
            return returns({});
        }
    );
    hk_profile_start(host.vm);
    CHECK_EQ(host.start_source("call(function()\n work()\nend)").status, HK_OK);
    Seen seen(host.vm);
    CHECK_EQ(seen.count("main chunk:1>call>anonymous function:2>work"), 1u);
}

static void waiting_takes_no_time()
{
    ProfileHost host;
    hk_profile_start(host.vm);
    Result r = host.start_source("wait()\nwork()");
    CHECK_EQ(r.status, HK_WAIT);
    hk_attend(host.vm, HK_ATTEND_SAMPLE); // for nobody
    ProfileHost::burn(20000000);
    r = host.resume(r.thread);
    CHECK_EQ(r.status, HK_OK);
    Seen seen(host.vm);
    CHECK(seen.time < 20000000);
    CHECK_EQ(seen.samples, 1u);
    CHECK_EQ(seen.count("main chunk:2>work"), 1u);
}

static void deep_stacks_lose_their_middle()
{
    ProfileHost host;
    hk_profile_start(host.vm);
    CHECK_EQ(
        host.start_source(
                "local function f(n)\n if n == 0 then work() return 0 end\n return f(n - 1) + 1\nend\nf(15000)"
        )
            .status,
        HK_OK
    );
    CHECK_EQ(host.start_source("local function g(n) return g(n + 1) + 1 end\nreturn pcall(g, 1)").status, HK_OK);
    Seen seen(host.vm);
    CHECK_EQ(seen.deepest(), 201);
    CHECK(seen.with(">(frames left out)>f:3>") >= 2000000);
    CHECK(seen.with(">f:2>work") >= 2000000);
}

static void many_functions_are_bounded()
{
    ProfileHost host;
    hk_profile_start(host.vm);
    std::string source = "local list = {";
    for (int i = 0; i < 200; i++)
        source += "function() sample() end,\n";
    source += "}\nfor i = 1, ... do list[i % 200 + 1]() end";
    host.function(
        "sample",
        [](const hk_call& call, const std::vector<Value>&)
        {
            hk_attend(call.vm, HK_ATTEND_SAMPLE);
            return returns({});
        }
    );
    // Ever new chunks under ever new names: more frames than there is room for.
    hk_bytecode* code = nullptr;
    uint8_t* error = nullptr;
    size_t size = 0;
    CHECK_EQ(hk_compile(source.data(), source.size(), nullptr, &code, &error, &size), HK_OK);
    for (int i = 0; i < 400; i++)
    {
        std::string chunk = "=chunk" + std::to_string(i) + std::string(100, 'x');
        hk_result r = hk_load(host.vm, code, chunk.data(), chunk.size(), 0);
        CHECK_EQ(r.status, HK_OK);
        CHECK_EQ(host.start(r.thread, {num(200)}).status, HK_OK);
        hk_release(host.vm, r.thread);
    }
    hk_bytecode_free(code);
    Seen seen(host.vm);
    CHECK_EQ(seen.samples, 80000u);
    CHECK(seen.p.frame_count <= (size_t(1) << 16));
    CHECK(seen.p.lost > 0);
    CHECK_EQ(seen.ending("(too many different stacks)"), seen.p.lost);
}

// Then the known part of a stack still tells where the time went.
static void many_stacks_are_bounded()
{
    ProfileHost host;
    host.function(
        "sample",
        [](const hk_call& call, const std::vector<Value>&)
        {
            hk_attend(call.vm, HK_ATTEND_SAMPLE);
            return returns({});
        }
    );
    hk_profile_start(host.vm);
    const char* source = "local a, b\n"
                         "local function step(n) if n == 0 then sample() return 0 end\n"
                         "if math.random(2) == 1 then return a(n - 1) + 1 end\n"
                         "return b(n - 1) + 1 end\n"
                         "function a(n) return step(n) + 1 end\n"
                         "function b(n) return step(n) + 1 end\n"
                         "for _ = 1, 4000 do step(60) end";
    CHECK_EQ(host.start_source(source).status, HK_OK);
    Seen seen(host.vm);
    CHECK_EQ(seen.samples, 4000u);
    CHECK(seen.p.stack_count <= (size_t(1) << 17) / 4 * 5);
    CHECK(seen.p.lost > 1000);
    CHECK_EQ(seen.ending(">(too many different stacks)"), seen.p.lost);
    CHECK_EQ(seen.with("main chunk:7>step:"), seen.with("main chunk:7>"));
}

static void garbage_has_a_frame()
{
    ProfileHost host;
    hk_profile_start(host.vm);
    {
        Watcher watcher(host.vm);
        const char* source = "local keep = {}\nfor i = 1, 100000 do keep[i % 20000] = {i, {i}, tostring(i)} end";
        while (!watcher.enough())
            CHECK_EQ(host.start_source(source).status, HK_OK);
    }
    Seen seen(host.vm);
    CHECK(seen.frame("(garbage collector)") != nullptr);
}

static void library_calls_are_leaves()
{
    ProfileHost host;
    hk_profile_start(host.vm);
    {
        Watcher watcher(host.vm);
        const char* source = "local t = {} for i = 1, 50000 do t[i] = i * 7919 % 50021 end table.sort(t)";
        while (!watcher.enough())
            CHECK_EQ(host.start_source(source).status, HK_OK);
    }
    Seen seen(host.vm);
    CHECK(seen.ending("main chunk:1>sort") > 0);
}

static void ended_runs_are_told()
{
    ProfileHost host;
    hk_profile_start(host.vm);
    host.function(
        "end_it",
        [&host](const hk_call& call, const std::vector<Value>&)
        {
            hk_kill(call.vm, host.run, HK_KILL_USER);
            return returns({});
        }
    );
    CHECK_EQ(host.start_source("work()\nend_it()").status, HK_ERR_KILLED);
    Seen seen(host.vm);
    CHECK_EQ(seen.count("main chunk:1>work"), 1u);
}

static void nothing_else_changes()
{
    ProfileHost host;
    hk_profile none = {};
    none.samples = 7;
    hk_profile_stop(host.vm, &none); // none was begun
    CHECK_EQ(none.samples, 0u);
    hk_attend(host.vm, HK_ATTEND_SAMPLE);
    CHECK_EQ(host.run_source("local n = 0 for i = 1, 10 do n += i end return n").first(), num(55));

    hk_stats before = host.stats();
    hk_profile_start(host.vm);
    hk_profile_start(host.vm); // from the beginning
    CHECK_EQ(host.run_source("work() return 1").first(), num(1));
    hk_stats after = host.stats();
    CHECK_EQ(after.host_calls, before.host_calls + 1);
    Seen seen(host.vm);
    CHECK_EQ(seen.samples, 1u);

    // Begun and ended by a host function of the script that it looks at.
    host.function(
        "start",
        [](const hk_call& call, const std::vector<Value>&)
        {
            hk_profile_start(call.vm);
            return returns({});
        }
    );
    host.function(
        "stop",
        [](const hk_call& call, const std::vector<Value>&)
        {
            Seen inside(call.vm);
            CHECK_EQ(inside.samples, 1u);
            CHECK(inside.time >= 2000000);
            return returns({});
        }
    );
    CHECK_EQ(host.start_source("start() work() stop() work()").status, HK_OK);

    // A reset keeps it: it is the host's.
    CHECK_EQ(hk_vm_save(host.vm).status, HK_OK);
    hk_profile_start(host.vm);
    CHECK_EQ(host.start_source("work()").status, HK_OK);
    CHECK_EQ(hk_vm_reset(host.vm).status, HK_OK);
    host.begin();
    CHECK_EQ(host.start_source("\nwork()").status, HK_OK);
    Seen both(host.vm);
    CHECK_EQ(both.count("main chunk:1>work"), 1u);
    CHECK_EQ(both.count("main chunk:2>work"), 1u);
}

int main()
{
    for (uint32_t flags : {0u, uint32_t(HK_VM_MALLOC), uint32_t(HK_VM_NATIVE)})
        shares_are_those_of_the_work(flags);
    host_functions_are_leaves();
    coroutines_stand_in_their_resumers();
    callbacks_stand_in_their_callers();
    waiting_takes_no_time();
    deep_stacks_lose_their_middle();
    many_functions_are_bounded();
    many_stacks_are_bounded();
    garbage_has_a_frame();
    library_calls_are_leaves();
    ended_runs_are_told();
    nothing_else_changes();
    return check_result("profile");
}
