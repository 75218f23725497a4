// Luau's fast flags. The library starts with all of them off; the official command line turns on
// every Luau* flag, and so do we, from a written list (flags.inc) that a test compares with the
// library, so that a new Luau cannot change what scripts see without somebody reading it.
#include "vm.h"

#include "Luau/Common.h"

#include <mutex>
#include <string.h>

namespace hk
{

static const char* const kFlags[] = {
#define HK_FLAG(name) #name,
#include "flags.inc"
#undef HK_FLAG
};

bool is_engine_flag(const char* name)
{
    for (const char* flag : kFlags)
        if (strcmp(flag, name) == 0)
            return true;
    return false;
}

void set_fast_flags()
{
    static std::once_flag once;
    std::call_once(
        once,
        []
        {
            for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
                if (is_engine_flag(flag->name))
                    flag->value = true;
        }
    );
}

} // namespace hk

static std::string difference()
{
    std::string text;
    for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
    {
        bool wanted = strncmp(flag->name, "Luau", 4) == 0 && !strstr(flag->name, "Experimental");
        if (wanted && !hk::is_engine_flag(flag->name))
            text += std::string("not in flags.inc: ") + flag->name + "\n";
    }
    return text;
}

extern "C" const char* hk_flag_mismatch(void)
{
    static const std::string text = difference();
    return text.empty() ? nullptr : text.c_str();
}
