// What VMs of ours offer to the JSON codecs. Apart from the rest, so that a test can offer its own.
#include "charge.h"

#include "vm.h"

namespace hk
{

JsonScratch* json_scratch(lua_State* L)
{
    return vm_of(L)->json;
}

bool charge(lua_State* L, size_t bytes)
{
    return hk_charge(vm_of(L), bytes) != 0;
}

void uncharge(lua_State* L, size_t bytes)
{
    hk_uncharge(vm_of(L), bytes);
}

void poll(lua_State* L)
{
    poll(vm_of(L));
}

} // namespace hk
