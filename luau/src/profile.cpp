#include "profile.h"

#include "vm.h"

#include "lstate.h"

#include <time.h>

#include <utility>

namespace hk
{

namespace
{

const char* const kNoRoom = "(too many different stacks)";

uint64_t cpu_time()
{
    timespec t = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
}

int depth_of(lua_State* L)
{
    return int(L->ci - L->base_ci);
}

// Only the compiler knows a chunk's main function; these marks are those that it leaves.
bool is_main(const lua_Debug& ar)
{
    return !ar.name && ar.isvararg && ar.nparams == 0 && ar.nupvals == 0 && ar.linedefined <= 1;
}

const char* name_of(const lua_Debug& ar, uint32_t kind)
{
    if (ar.name && ar.name[0])
        return ar.name;
    return kind == HK_FRAME_LUAU && is_main(ar) ? "main chunk" : "anonymous function";
}

} // namespace

size_t Profile::KeyHash::operator()(const Key& key) const
{
    uint64_t h = uint64_t(key.name) << 32 | key.chunk;
    h = (h ^ (uint64_t(uint32_t(key.defined)) << 32 | uint32_t(key.line))) * 0x9e3779b97f4a7c15u;
    return size_t(h ^ (h >> 29) ^ key.kind);
}

Profile::Profile()
{
    intern("");
    noRoom = note(kNoRoom);
    unsampled = note("(after the last sample)");
}

void Profile::resume()
{
    running = true;
    since = cpu_time();
}

void Profile::pause()
{
    if (running)
        pending += cpu_time() - since;
    running = false;
}

void Profile::sample(hk_vm* vm, bool collecting) noexcept
{
    if (!running)
        return;
    uint64_t now = cpu_time();
    uint64_t time = pending + (now - since);
    pending = 0;
    totals.samples++;
    Place place = {0, false};
    try
    {
        enter_stack(vm, place);
        if (collecting)
            enter_note("(garbage collector)", place);
    }
    catch (const std::bad_alloc&)
    {
        place.lost = true;
    }
    totals.lost += place.lost;
    count(place.lost ? rest_of(place) : place.node ? place.node : noRoom, time);
    since = cpu_time(); // without what this took
}

void Profile::enter_stack(hk_vm* vm, Place& place)
{
    std::vector<lua_State*> threads;
    int depth = 0;
    vm->running.each(
        [&](lua_State* L)
        {
            if (!threads.empty() && threads.back() == L)
                return; // the host called back on the thread that had called it
            threads.push_back(L);
            depth += depth_of(L);
        }
    );
    int left = depth > kMostDepth ? depth - kMostDepth : 0;
    int at = 0;
    for (size_t i = threads.size(); i > 0; i--)
    {
        lua_State* L = threads[i - 1];
        for (int level = depth_of(L) - 1; level >= 0; level--, at++)
        {
            if (left > 0 && at == kOuter)
                enter_note("(frames left out)", place);
            if (left == 0 || at < kOuter || at >= kOuter + left)
                enter_frame(L, level, place);
        }
    }
}

void Profile::enter_frame(lua_State* L, int level, Place& place)
{
    lua_Debug ar = {};
    if (!lua_getinfo(L, level, "slnau", &ar))
        return;
    const CallInfo* ci = L->ci - level;
    Key key = {};
    key.kind = HK_FRAME_LUAU;
    if (const Closure* f = clvalue(ci->func); f->isC)
        key.kind = f->c.f == host_call ? HK_FRAME_HOST : HK_FRAME_BUILTIN;
    key.name = text_of(name_of(ar, key.kind), place.lost);
    if (key.kind == HK_FRAME_LUAU)
    {
        key.chunk = text_of(ar.source ? ar.source : "", place.lost);
        key.defined = ar.linedefined;
        key.line = ar.currentline > 0 ? ar.currentline : ar.linedefined;
    }
    enter(key, place);
}

void Profile::enter_note(const char* text, Place& place)
{
    Key key = {};
    key.kind = HK_FRAME_NOTE;
    key.name = text_of(text, place.lost);
    enter(key, place);
}

uint32_t Profile::note(const char* text)
{
    Place place = {0, false};
    enter_note(text, place);
    return place.node;
}

void Profile::enter(const Key& key, Place& place)
{
    if (place.lost)
        return;
    uint32_t frame = frame_of(key);
    if (frame == 0)
    {
        place.lost = true;
        return;
    }
    uint64_t step = uint64_t(place.node) << 32 | frame;
    auto found = nodeIds.find(step);
    if (found != nodeIds.end())
    {
        place.node = found->second;
        return;
    }
    if (nodes.size() >= kMostNodes + (key.kind == HK_FRAME_NOTE ? kMoreForNotes : 0))
    {
        place.lost = true;
        return;
    }
    nodes.push_back({place.node, frame, 0, 0});
    place.node = uint32_t(nodes.size());
    nodeIds.emplace(step, place.node);
}

// The stack for what finds no room inside the one at place.
uint32_t Profile::rest_of(Place place) noexcept
{
    place.lost = false;
    try
    {
        enter_note(kNoRoom, place);
    }
    catch (const std::bad_alloc&)
    {
        place.lost = true;
    }
    return place.lost ? noRoom : place.node;
}

void Profile::count(uint32_t node, uint64_t time)
{
    totals.nanoseconds += time;
    nodes[node - 1].nanoseconds += time;
    if (node != unsampled)
        nodes[node - 1].samples++;
}

// Frames are numbered from 1; 0: there is no room for another.
uint32_t Profile::frame_of(const Key& key)
{
    auto found = frameIds.find(key);
    if (found != frameIds.end())
        return found->second;
    if (frames.size() >= kMostFrames)
        return 0;
    const std::string& name = texts[key.name];
    const std::string& chunk = texts[key.chunk];
    frames.push_back(
        {name.data(), chunk.data(), uint32_t(name.size()), uint32_t(chunk.size()), key.defined, key.line, key.kind, 0}
    );
    uint32_t id = uint32_t(frames.size());
    frameIds.emplace(key, id);
    return id;
}

uint32_t Profile::text_of(const char* text, bool& lost)
{
    uint32_t id = intern(std::string_view(text, strnlen(text, kMostName)));
    if (id == 0 && *text)
        lost = true;
    return id;
}

uint32_t Profile::intern(std::string_view text)
{
    auto found = textIds.find(text);
    if (found != textIds.end())
        return found->second;
    size_t cost = text.size() + kTextCost;
    if (textBytes + cost > kMostText)
        return 0;
    textBytes += cost;
    texts.emplace_back(text);
    uint32_t id = uint32_t(texts.size() - 1);
    textIds.emplace(texts.back(), id);
    return id;
}

void Profile::finish(hk_profile* out) noexcept
{
    pause();
    count(unsampled, pending);
    pending = 0;
    *out = totals;
    out->frames = frames.data();
    out->frame_count = frames.size();
    out->stacks = nodes.data();
    out->stack_count = nodes.size();
}

void take_sample(hk_vm* vm, bool collecting)
{
    vm->attention.fetch_and(~uint32_t(HK_ATTEND_SAMPLE), std::memory_order_seq_cst);
    if (vm->profile)
        vm->profile->sample(vm, collecting);
}

void profile_resume(hk_vm* vm)
{
    // What was asked for before is no moment of the script.
    vm->attention.fetch_and(~uint32_t(HK_ATTEND_SAMPLE), std::memory_order_seq_cst);
    vm->profile->resume();
}

void profile_pause(hk_vm* vm)
{
    vm->profile->pause();
}

void profile_free(hk_vm* vm)
{
    delete vm->profile;
    delete vm->taken;
    vm->profile = vm->taken = nullptr;
}

} // namespace hk

using namespace hk;

extern "C" int hk_profile_start(hk_vm* vm)
{
    profile_free(vm);
    try
    {
        vm->profile = new Profile;
    }
    catch (const std::bad_alloc&)
    {
        return 0;
    }
    if (!vm->running.empty())
        profile_resume(vm);
    return 1;
}

extern "C" void hk_profile_stop(hk_vm* vm, hk_profile* out)
{
    *out = {};
    if (!vm->profile)
        return;
    vm->profile->finish(out);
    delete vm->taken;
    vm->taken = std::exchange(vm->profile, nullptr);
}
