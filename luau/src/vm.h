// The VM behind the C interface: its state, and the pieces that the sources of this folder share.
#pragma once

#include "hukilau.h"
#include "arena.h"
#include "flat.h"
#include "image.h"
#include "json.h"
#include "profile.h"
#include "raise.h"

#include "lstate.h"
#include "lua.h"
#include "lualib.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <unordered_set>
#include <vector>

namespace hk
{

// Thrown to end a run. Not a std::exception on purpose: Luau's pcall catches those.
struct Kill
{
};

// Registry slots that every VM has, made before any script runs and part of each image.
enum FixedRef
{
    kErrorMeta,    // metatable of host errors: prints as .message
    kFoldedMeta,   // metatable of tables whose keys are read in any case
    kTraceHandler, // error handler of hk_call_function
    kSealed,       // the sealed globals behind the run's
    kNatives,      // name -> built-in value, for HK_T_NATIVE
    kErrorIds,     // error table of the host -> the host's number for it; weak
    kFixedRefs
};

// The threads that are on the C stack, each resumed by the one before it, outermost first. A run
// inside of a host call has a chain of its own, behind that of the script that made the call.
class ResumeChain
{
public:
    // The innermost thread of all; nullptr when nothing runs.
    lua_State* innermost() const
    {
        return count ? links[count - 1].L : nullptr;
    }
    bool empty() const
    {
        return count == 0;
    }
    // Whether the innermost thread belongs to the newest run.
    bool running() const
    {
        return count > first;
    }
    void push(lua_State* L)
    {
        // A script's call into its own coroutine, while it cannot yield itself.
        bool blocks = running() && !lua_isyieldable(innermost());
        if (count == room)
            grow();
        blocked += blocks;
        links[count++] = {L, blocks};
    }
    void pop()
    {
        blocked -= links[--count].blocks;
    }
    // Calls f with each thread of all runs, innermost first.
    template<typename F>
    void each(F f) const
    {
        for (int i = count - 1; i >= 0; i--)
            f(links[i].L);
    }
    // How many threads of the newest run could not yield when they resumed the next one.
    int blocked = 0;

private:
    friend struct RunScope;
    struct Link
    {
        lua_State* L;
        bool blocks;
    };
    // Luau refuses more than 225 nested C calls, and each link takes one at least.
    static constexpr int kMost = 256;
    static constexpr int kFew = 8; // what most runs need
    Link few[kFew];
    std::unique_ptr<Link[]> many;
    Link* links = few;
    int room = kFew;
    int count = 0;
    int first = 0;

    void grow()
    {
        if (room == kMost)
            throw std::bad_alloc(); // Luau refuses before
        many = std::make_unique<Link[]>(kMost);
        std::copy(few, few + kFew, many.get());
        links = many.get();
        room = kMost;
    }
};

// Nesting of calls between host and script: each takes space on the C stack.
constexpr size_t kMaxNesting = 100;

// What one nesting depth of host calls needs: buffers stay where they are while deeper ones run.
struct Frame
{
    Buf args;
    Buf out;
    Buf results;
};

// The frames of all depths. Few runs nest, so the deeper ones are made when the first one does.
class Frames
{
public:
    explicit Frames(hk_vm* owner);
    Frame& operator[](size_t depth)
    {
        return depth < kShallow ? shallow[depth] : deep[depth - kShallow];
    }
    bool reach(size_t depth) // false: no memory for it
    {
        return depth < kShallow || deep || make_deep();
    }
    void rest();

private:
    static constexpr size_t kShallow = 4;
    static constexpr size_t kDeep = kMaxNesting + 1 - kShallow;
    Frame shallow[kShallow];
    std::unique_ptr<Frame[]> deep;
    hk_vm* owner;
    bool make_deep();
};

} // namespace hk

struct hk_vm
{
    lua_State* L = nullptr; // main thread; owns nothing that a script can reach
    hk::Arena* arena = nullptr;
    hk::Image* image = nullptr; // what hk_vm_reset goes back to
    hk::Image* young = nullptr; // the VM right after its set-up, for the next one in this arena
    bool native = false;        // native code wanted
    bool nativeReady = false;   // and set up
    bool useMalloc = false;
    bool eachLine = false; // output is given to the host after each print
    std::atomic<int64_t> mallocUsed{0};
    size_t memoryLimit = 0; // of this run
    size_t reserved = 0;    // of the VM

    uint64_t host = 0;
    const hk_host* hooks = nullptr;

    // Running.
    hk::ResumeChain running;
    size_t depth = 0;                // host calls on the C stack
    std::atomic<uint64_t> caller{0}; // the OS thread that is inside the innermost host call; else 0
    hk::Frames frames{this};
    bool roomy = false; // one of their buffers is larger than an idle VM should hold
    uint64_t waitToken = 0;
    bool waiting = false; // a host call asked for a wait; else a break is a time slice
    bool dead = false;    // killed: nothing but reset and close
    hk::FlatIn payload;   // outcome of the host call that is being resumed
    bool payloadError = false;
    bool raiseOnResume = false; // a thread that yielded goes on with an error
    hk::Buf trace;              // frames that the error handler of hk_call_function saw, or a kill met
    hk::Buf subject;            // what that error was about
    ptrdiff_t traceFrom = 0;    // calls below the one that the handler is for
    lua_CFunction resumeCall = nullptr, wrapCall = nullptr; // coroutine.resume and what wrap returns

    // Limits of this run.
    uint64_t run = 0;
    std::atomic<uint64_t> killWord{0}; // run << 8 | reason
    std::atomic<uint32_t> attention{0};
    struct
    {
        lua_State* L;
        ptrdiff_t depth; // of its calls
    } full{};            // where a collection freed too little
    hk_limits limits{};
    uint64_t hostCalls = 0;
    uint64_t outputTotal = 0;
    uint64_t checks = 0; // calls of assert
    std::atomic<int64_t> charged{0};
    std::string output;

    // Host functions.
    std::unordered_set<std::string> names; // Luau keeps bare pointers to them
    std::vector<uint32_t> unused;          // ids that no script can call any more

    // References.
    std::vector<hk_ref> refs, savedRefs; // by registry slot: the live one, or 0; those of the image
    uint64_t lastSerial = 0, savedSerial = 0;
    uint64_t liveRefs = 0;
    bool impure = false;
    uint64_t observedRandom = 0;
    int fixed[hk::kFixedRefs] = {};
    JsonScratch* json = nullptr;    // made with the VM
    hk::Profile* profile = nullptr; // the one being taken
    hk::Profile* taken = nullptr;   // the last one, for the host to read
};

namespace hk
{

inline hk_vm* vm_of(lua_State* L)
{
    return static_cast<hk_vm*>(L->global->cb.userdata);
}

inline uint32_t kill_reason(const hk_vm* vm)
{
    uint64_t word = vm->killWord.load(std::memory_order_relaxed);
    return (word >> 8) == (vm->run & 0xffffffffffffffull) ? uint32_t(word & 0xff) : 0;
}

// Notes where the script is, and throws Kill.
[[noreturn]] void leave_run(hk_vm* vm);

// Throws Kill when this run has been ended.
inline void check_kill(hk_vm* vm)
{
    if (kill_reason(vm))
        leave_run(vm);
}

// The stack, with a frame for the garbage collector where that is at work.
void take_sample(hk_vm* vm, bool collecting);
void profile_resume(hk_vm* vm); // a script goes on
void profile_pause(hk_vm* vm);
void profile_free(hk_vm* vm);

// In C++ where a script may be for long: what the watchers ask for, and Luau's own safe points are not
// there to see. The C function is the innermost frame then.
inline void poll(hk_vm* vm)
{
    check_kill(vm);
    if (vm->profile && (vm->attention.load(std::memory_order_relaxed) & HK_ATTEND_SAMPLE))
        take_sample(vm, false);
}

// Marks the run as ended. An end that was marked before keeps its reason.
void mark_ended(hk_vm* vm, uint64_t run, uint32_t reason);
[[noreturn]] void end_run(hk_vm* vm, uint32_t reason);

constexpr uint32_t kAttendCollect = 1u << 16; // internal: collect garbage at the next safe point
constexpr uint32_t kAttendUnwound = 1u << 17; // internal: and once more when the thread has left this call

void install_interrupt(hk_vm* vm);
void on_interrupt(lua_State* L, int gc);
void arm_pressure(hk_vm* vm);
void relieve(hk_vm* vm); // outside of scripts
void relieve_at_safe_point(hk_vm* vm, lua_State* L, uint32_t what);
void set_memory_limit(hk_vm* vm, size_t bytes);
void before_resume(lua_State* L);
void after_resume(lua_State* L);

// Whether one more call between host and script may begin.
inline bool can_nest(hk_vm* vm)
{
    return vm->depth < kMaxNesting && vm->frames.reach(vm->depth + 1);
}

inline Frame& frame_of(hk_vm* vm)
{
    return vm->frames[vm->depth];
}

// Before another run: gives back what large values left in the buffers.
void rest_buffers(hk_vm* vm);

// The thread whose stack the host may use now.
inline lua_State* current(const hk_vm* vm)
{
    return vm->running.empty() ? vm->L : vm->running.innermost();
}

// The thread that co waits for while both are broken off; nullptr when there is none.
lua_State* next_broken(const hk_vm* vm, lua_State* co);

// References.
hk_ref make_ref(hk_vm* vm, lua_State* L, int idx);
bool push_ref(hk_vm* vm, lua_State* L, hk_ref ref); // false and nothing pushed when it is stale
void drop_ref(hk_vm* vm, hk_ref ref);
void save_refs(hk_vm* vm);    // references made so far survive restore_refs
void restore_refs(hk_vm* vm); // all others die

// Runs f with Luau errors and kills caught; f may throw neither to the caller.
int protect(hk_vm* vm, lua_State* L, void (*f)(lua_State* L, void* ud), void* ud);

template<typename F>
int protect(hk_vm* vm, lua_State* L, F&& f)
{
    return protect(
        vm, L, [](lua_State* L, void* ud) { (*static_cast<std::remove_reference_t<F>*>(ud))(L); }, &f
    );
}
constexpr int kKilled = -1; // status of protect besides Luau's own

// Results.
hk_result text_result(hk_vm* vm, hk_status status, const char* fmt, ...) __attribute__((format(printf, 3, 4)));
hk_result killed_result(hk_vm* vm);
hk_result flat_result(const Buf& out, uint32_t count, hk_status status = HK_OK); // so many values in out
// The error object is on top of `from` and is popped; frames come from `from`.
hk_result error_result(hk_vm* vm, lua_State* from, int status);
hk_result values_result(hk_vm* vm, lua_State* from, int count, hk_status status, bool keep = false);

int trace_handler(lua_State* L);
void note_place(hk_vm* vm); // into vm->trace
void flush_output(hk_vm* vm);
bool deliver_output(hk_vm* vm); // false: the host ended the run meanwhile
void give_output(hk_vm* vm, const char* text, size_t size);
int host_call(lua_State* L);
int host_continue(lua_State* L, int status);
void push_host_function(lua_State* L, uint32_t id, uint8_t flags, const char* name, size_t size);
void leave_uncounted(const Closure* f); // a host function that no script calls itself

// Set-up.
bool ready_native(hk_vm* vm);        // false: there is no native code on this machine
void push_own_globals(lua_State* L); // a new table that reads through to the run's globals
void open_libraries(hk_vm* vm, lua_State* L);
// Puts f in place of a library's function; old, unless nullptr, gets that one.
void replace_function(lua_State* L, const char* table, const char* name, lua_CFunction f, lua_CFunction* old);
void set_fast_flags();

} // namespace hk
