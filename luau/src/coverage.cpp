// What ran of a chunk, by line.
#include "vm.h"

#include "lua.h"

namespace hk
{

namespace
{

struct Report
{
    Buf& out;
    uint32_t count;
};

void put_function(void* context, const char* name, int line, int depth, const int* hits, size_t size)
{
    Report* report = static_cast<Report*>(context);
    Buf& out = report->out;
    Insist insist(out);
    out.put_list(4);
    out.put_text(HK_T_STRING, name ? name : "", name ? strlen(name) : 0);
    out.put_number(line);
    out.put_number(depth);
    uint32_t lines = size > 0 ? uint32_t(size - 1) : 0; // hits[0] is no line
    out.put_list(lines);
    for (uint32_t i = 1; i <= lines; i++)
        out.put_number(hits[i]);
    report->count++;
}

} // namespace

} // namespace hk

extern "C" hk_result hk_coverage(hk_vm* vm, hk_ref chunk)
{
    using namespace hk;
    if (vm->dead)
        return killed_result(vm);
    lua_State* L = current(vm);
    int top = lua_gettop(L);
    Buf& out = frame_of(vm).results;
    out.clear();
    Report report = {out, 0};
    bool found = false;
    int status = protect(
        vm,
        L,
        [&](lua_State* L)
        {
            luaL_checkstack(L, 2, "coverage");
            found = push_ref(vm, L, chunk) && lua_isLfunction(L, -1);
            if (!found)
                return;
            out.put_list(0);
            lua_getcoverage(L, -1, &report, put_function);
        }
    );
    lua_settop(L, top);
    if (status == kKilled)
        return killed_result(vm);
    if (status != 0)
        return text_result(vm, HK_ERR_MEMORY, "not enough memory for the coverage");
    if (!found)
        return text_result(vm, HK_ERR_INVALID, "coverage is of a loaded chunk");
    memcpy(out.data() + 2, &report.count, 4);
    return flat_result(out, 1);
}
