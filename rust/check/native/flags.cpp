// Luau's fast flags, from a written list as the engine's are: a new Luau cannot change what is reported without
// somebody reading it. The solver is the old one, so what is experimental of the analysis stays off.
#include "check.h"

#include "Luau/Common.h"

#include <new>
#include <string.h>
#include <unistd.h>

static const char* const kFlags[] = {
#define LC_FLAG(name) #name,
#include "flags.inc"
#undef LC_FLAG
};

static bool written(const char* name)
{
    for (const char* flag : kFlags)
        if (strcmp(flag, name) == 0)
            return true;
    return false;
}

extern "C" void lc_start(void)
{
    // Much of Luau's analysis cannot go on from a failed allocation.
    std::set_new_handler([] { _exit(LC_EXIT_MEMORY); });
    for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
        flag->value = written(flag->name);
}

static lc_text text_of(const char* s)
{
    return {s, strlen(s)};
}

extern "C" void lc_flags(const lc_host* host)
{
    for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
    {
        lc_finding f{};
        f.kind = text_of(flag->value ? "on" : "off");
        f.name = text_of(flag->name);
        f.text = text_of(written(flag->name) ? "written" : "");
        host->found(host->context, &f);
    }
    // What is written and nowhere in the program is stale.
    for (const char* name : kFlags)
    {
        bool there = false;
        for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
            there = there || strcmp(flag->name, name) == 0;
        if (there)
            continue;
        lc_finding f{};
        f.kind = text_of("gone");
        f.name = text_of(name);
        host->found(host->context, &f);
    }
}
