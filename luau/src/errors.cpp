// Errors: host error tables, error records with frames, and the entries' protection.
#include "subject.h"
#include "vm.h"

#include "ldo.h"
#include "lstate.h"

#include <stdarg.h>
#include <stdio.h>

namespace hk
{

namespace
{

// Frames kept of a deep stack: the innermost and the outermost ones.
constexpr int kFramesInner = 40;
constexpr int kFramesOuter = 20;

void put_frame(Buf& out, const lua_Debug& ar)
{
    out.put_list(3);
    const char* source = ar.source ? ar.source : "";
    out.put_text(HK_T_STRING, source, strlen(source));
    out.put_number(ar.currentline > 0 ? ar.currentline : 0);
    const char* name = ar.name ? ar.name : "";
    out.put_text(HK_T_STRING, name, strlen(name));
}

// The coroutine that an unfinished coroutine.wrap call in this frame runs, when it died of an error.
lua_State* failed_wrap(const hk_vm* vm, CallInfo* ci)
{
    if (!ttisfunction(ci->func))
        return nullptr;
    Closure* f = clvalue(ci->func);
    if (!f->isC || f->c.f != vm->wrapCall || f->nupvalues < 1 || !ttisthread(&f->c.upvals[0]))
        return nullptr;
    lua_State* co = thvalue(&f->c.upvals[0]);
    return co->status > LUA_YIELD && co->status != LUA_BREAK ? co : nullptr;
}

uint32_t put_frames(hk_vm* vm, lua_State* L, Buf& out, int first, int nesting, int below = 0)
{
    uint32_t count = 0;
    int depth = int(L->ci - L->base_ci) - below;
    for (int level = first; level < depth; level++)
    {
        if (level == kFramesInner && depth - level > kFramesOuter)
            level = depth - kFramesOuter;
        lua_Debug ar = {};
        if (!lua_getinfo(L, level, "sln", &ar))
            break;
        lua_State* co = nesting < 16 ? failed_wrap(vm, L->ci - level) : nullptr;
        if (co)
            count += put_frames(vm, co, out, 0, nesting + 1);
        if (ar.what && strcmp(ar.what, "C") == 0 && !ar.name)
            continue;
        put_frame(out, ar);
        count++;
    }
    return count;
}

// A list of the frames that `put` puts; it gives how many those are.
template<typename F>
void put_frames_by(Buf& out, F put)
{
    Insist insist(out);
    if (!out.put_list(0))
        return;
    size_t at = out.size() - 8;
    uint32_t count = put();
    memcpy(out.data() + at, &count, 4);
}

void put_frame_list(hk_vm* vm, lua_State* L, Buf& out, int first = 0, ptrdiff_t below = 0)
{
    put_frames_by(out, [&] { return put_frames(vm, L, out, first, 0, int(below)); });
}

// What the error raised in ci was about, or in the coroutine that ci ran, goes into vm->subject.
void find_subject(hk_vm* vm, lua_State* L, CallInfo* ci, const char* message, size_t size)
{
    for (int i = 0; i < 16 && ci > L->base_ci; i++)
    {
        lua_State* co = failed_wrap(vm, ci);
        if (!co)
            break;
        L = co;
        ci = co->ci;
    }
    put_subject(L, ci, message, size, vm->subject);
}

void note_subject(hk_vm* vm, lua_State* L, CallInfo* ci, int message)
{
    vm->subject.clear();
    if (lua_type(L, message) != LUA_TSTRING)
        return;
    size_t size = 0;
    const char* text = lua_tolstring(L, message, &size);
    find_subject(vm, L, ci, text, size);
}

void put_noted_subject(hk_vm* vm, Buf& out)
{
    if (vm->subject.size())
        out.put(vm->subject.data(), vm->subject.size());
    else
        out.put_u8(HK_T_NIL);
    vm->subject.clear();
}

// Messages longer than this are cut: they are for people.
constexpr size_t kMaxMessage = size_t(1) << 20;

void put_message(Buf& out, const char* message, size_t size)
{
    Insist insist(out);
    if (size <= kMaxMessage)
    {
        out.put_text(HK_T_STRING, message, size);
        return;
    }
    char tail[64];
    int n = snprintf(tail, sizeof(tail), "... (%zu bytes in all)", size);
    uint32_t all = uint32_t(kMaxMessage) + uint32_t(n);
    if (out.put_tagged(HK_T_STRING, &all, 4) && out.put(message, kMaxMessage))
        out.put(tail, size_t(n));
}

// Gives the readable form of an error value. May call a script's __tostring.
int describe(lua_State* L)
{
    if (lua_istable(L, 1))
    {
        lua_rawgetfield(L, 1, "message");
        if (lua_type(L, -1) == LUA_TSTRING)
            return 1;
        lua_settop(L, 1);
        if (!luaL_getmetafield(L, 1, "__tostring"))
        {
            lua_pushliteral(L, ""); // the host shows the table
            return 1;
        }
        lua_settop(L, 1);
    }
    luaL_tolstring(L, 1, nullptr);
    return 1;
}

} // namespace

int protect(hk_vm* vm, lua_State* L, void (*f)(lua_State*, void*), void* ud)
{
    try
    {
        return luaD_rawrunprotected(L, f, ud);
    }
    catch (const Kill&)
    {
        vm->dead = true;
        return kKilled;
    }
}

hk_result text_result(hk_vm* vm, hk_status status, const char* fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    Buf& out = frame_of(vm).results;
    out.clear();
    Insist insist(out);
    out.put(text, size_t(n) < sizeof(text) ? size_t(n) : sizeof(text) - 1);
    return flat_result(out, 0, status);
}

hk_result flat_result(const Buf& out, uint32_t count, hk_status status)
{
    hk_result r = {};
    r.status = status;
    r.count = count;
    r.data = out.data();
    r.size = out.size();
    return r;
}

hk_result killed_result(hk_vm* vm)
{
    flush_output(vm);
    hk_result r = {};
    r.status = HK_ERR_KILLED;
    r.token = kill_reason(vm);
    if (vm->trace.size() > 0)
    {
        r.count = 1;
        r.data = vm->trace.data();
        r.size = vm->trace.size();
    }
    return r;
}

// The number of the host error in `value`; 0 when it is none.
static double error_number(hk_vm* vm, lua_State* L, int value)
{
    if (!lua_istable(L, value))
        return 0;
    value = lua_absindex(L, value);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->fixed[kErrorIds]);
    lua_pushvalue(L, value);
    lua_rawget(L, -2);
    double number = lua_tonumber(L, -1);
    lua_pop(L, 2);
    return number;
}

hk_result error_result(hk_vm* vm, lua_State* from, int status)
{
    if (!deliver_output(vm))
        return killed_result(vm);
    Buf& out = frame_of(vm).results;
    out.clear();
    lua_State* L = vm->L;

    if (status == LUA_ERRRUN && !vm->trace.size())
        note_subject(vm, from, from->ci, -1);
    // The message may come from a script's __tostring, so it is made on the main thread, guarded.
    const char* message = "not enough memory";
    size_t size = strlen(message);
    int top = lua_gettop(L);
    bool isText = false;
    auto work = [&](lua_State* L)
    {
        luaL_checkstack(L, 8, "reporting an error");
        if (from != L)
            lua_xmove(from, L, 1);
        isText = lua_type(L, -1) == LUA_TSTRING;
        lua_pushvalue(L, -1);
        lua_pushcfunction(L, describe, "describe");
        lua_insert(L, -2);
        if (lua_pcall(L, 1, 1, 0) != 0 || lua_type(L, -1) != LUA_TSTRING)
        {
            lua_pop(L, 1);
            lua_pushstring(L, "the error value cannot be shown: its __tostring failed");
        }
        message = lua_tolstring(L, -1, &size);
    };
    int failed = status == LUA_ERRMEM ? 0 : protect(vm, L, work);
    if (failed == kKilled)
        return killed_result(vm);

    put_message(out, message, size);
    std::string why;
    bool complete = false;
    double number = 0;
    auto value = [&](lua_State* L)
    {
        if (status == LUA_ERRMEM || failed)
            return; // there is no value
        int index = lua_gettop(L) - 1;
        number = error_number(vm, L, index);
        // A value that cannot cross is left out; its message stands. Of a table, the rest still says something.
        Keep keep = lua_istable(L, index) ? kDescribe : kCopy;
        complete = !isText && encode_values(vm, L, index, 1, keep, out, why);
    };
    size_t before = out.size();
    int second = protect(vm, L, value);
    if (second == kKilled)
        return killed_result(vm);
    Insist insist(out);
    if (second || !complete)
    {
        out.resize(before);
        out.put_u8(HK_T_NIL);
    }
    if (vm->trace.size())
        out.put(vm->trace.data(), vm->trace.size());
    else
        put_frame_list(vm, from, out);
    vm->trace.clear();
    out.put_number(number);
    put_noted_subject(vm, out);
    lua_settop(L, top);

    return flat_result(out, 5, status == LUA_ERRMEM ? HK_ERR_MEMORY : HK_ERR_RUNTIME);
}

hk_result values_result(hk_vm* vm, lua_State* from, int count, hk_status status, bool keep)
{
    if (!deliver_output(vm))
        return killed_result(vm);
    Buf& out = frame_of(vm).results;
    out.clear();
    if (count > 0)
    {
        std::string why;
        bool ok = true;
        int first = lua_gettop(from) - count + 1;
        int failed = protect(
            vm,
            from,
            [&](lua_State* L) { ok = encode_values(vm, L, first, count, keep ? kKeepTables : kKeepObjects, out, why); }
        );
        if (failed == kKilled)
            return killed_result(vm);
        lua_settop(from, first - 1); // also after a failure: what is left there is no thread to resume
        if (failed)
            return text_result(vm, HK_ERR_MEMORY, "not enough memory for the result");
        if (!ok)
            return text_result(vm, HK_ERR_CONVERT, "%s", why.c_str());
    }
    return flat_result(out, uint32_t(count), status);
}

int trace_handler(lua_State* L)
{
    hk_vm* vm = vm_of(L);
    vm->trace.clear();
    put_frame_list(vm, L, vm->trace, 1, vm->traceFrom); // not the handler itself, and not who called the host
    note_subject(vm, L, L->ci - 1, 1);
    return 1;
}

void note_place(hk_vm* vm)
{
    vm->trace.clear();
    put_frames_by(
        vm->trace,
        [&]
        {
            uint32_t count = 0;
            vm->running.each([&](lua_State* L) { count += put_frames(vm, L, vm->trace, 0, 0); });
            return count;
        }
    );
}

} // namespace hk

extern "C" hk_result hk_traceback(hk_vm* vm)
{
    if (vm->dead)
        return hk::killed_result(vm);
    lua_State* L = hk::current(vm);
    hk::Buf& out = hk::frame_of(vm).results;
    out.clear();
    hk::put_frame_list(vm, L, out);
    return hk::flat_result(out, 1);
}

extern "C" hk_result hk_thread_place(hk_vm* vm, hk_ref thread)
{
    if (vm->dead)
        return hk::killed_result(vm);
    lua_State* L = hk::current(vm);
    if (!hk::push_ref(vm, L, thread))
        return hk::text_result(vm, HK_ERR_INVALID, "the thread is gone");
    lua_State* co = lua_tothread(L, -1);
    lua_pop(L, 1);
    if (!co)
        return hk::text_result(vm, HK_ERR_INVALID, "not a thread");
    constexpr size_t kMost = 256; // Luau nests fewer
    lua_State* chain[kMost];
    size_t length = 0;
    for (; co && length < kMost; co = hk::next_broken(vm, co))
        chain[length++] = co;
    hk::Buf& out = hk::frame_of(vm).results;
    out.clear();
    hk::put_frames_by(
        out,
        [&]
        {
            uint32_t count = 0;
            for (size_t i = length; i > 0; i--)
                count += hk::put_frames(vm, chain[i - 1], out, 0, 0);
            return count;
        }
    );
    return hk::flat_result(out, 1);
}

extern "C" hk_result hk_subject(hk_vm* vm, const char* message, size_t size)
{
    if (vm->dead)
        return hk::killed_result(vm);
    lua_State* L = hk::current(vm);
    CallInfo* ci = L->ci;
    while (ci > L->base_ci && !isLua(ci))
        ci--;
    vm->subject.clear();
    if (ci > L->base_ci)
        hk::find_subject(vm, L, ci - 1, message, size);
    hk::Buf& out = hk::frame_of(vm).results;
    out.clear();
    hk::put_noted_subject(vm, out);
    return hk::flat_result(out, 1);
}

extern "C" hk_result hk_caller(hk_vm* vm)
{
    if (vm->dead)
        return hk::killed_result(vm);
    lua_State* L = hk::current(vm);
    lua_Debug ar = {};
    for (int level = 0; lua_getinfo(L, level, "sl", &ar); level++)
        if (ar.what && strcmp(ar.what, "C") != 0)
            break;
    hk::Buf& out = hk::frame_of(vm).results;
    out.clear();
    hk::Insist insist(out);
    const char* source = ar.source ? ar.source : "";
    out.put_text(HK_T_STRING, source, strlen(source));
    out.put_number(ar.currentline > 0 ? ar.currentline : 0);
    return hk::flat_result(out, 2);
}
