// Luau's fast flags: on by the written list, never the debugging or experimental ones.
#include "test_host.h"

#include "Luau/Common.h"

static void written_list_is_the_library()
{
    const char* mismatch = hk_flag_mismatch();
    CHECK(mismatch == nullptr);
    if (mismatch)
        std::cerr << mismatch;
}

// This program is linked with the whole library, so a flag that is missing is gone from Luau.
static void written_list_is_not_stale()
{
    static const char* const written[] = {
#define HK_FLAG(name) #name,
#include "flags.inc"
#undef HK_FLAG
    };
    for (const char* name : written)
    {
        bool found = false;
        for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
            found = found || strcmp(flag->name, name) == 0;
        CHECK(found);
        if (!found)
            std::cerr << "  no longer in the library: " << name << "\n";
    }
}

static void only_stable_flags_are_on()
{
    int on = 0;
    for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
    {
        std::string name = flag->name;
        if (!flag->value)
            continue;
        on++;
        bool stable = name.compare(0, 4, "Luau") == 0 && name.find("Experimental") == std::string::npos;
        CHECK(stable);
        if (!stable)
            std::cerr << "  on: " << name << "\n";
    }
    CHECK(on > 40);
}

static void scripts_that_need_flags_run(TestHost& host)
{
    CHECK_EQ(host.run_source("return 9223372036854775807i").first(), integer(INT64_MAX));
    CHECK_EQ(host.run_source("return integer.add(5i, 7i), type(5i), 5i == 5").values.size(), size_t(3));
    CHECK_EQ(host.run_source("return type(5i)").first(), text("integer"));
    CHECK_EQ(
        host.run_source("local b = buffer.create(8) buffer.writef64(b, 0, 1.5) return buffer.readf64(b, 0)").first(),
        num(1.5)
    );
}

int main()
{
    TestHost host;
    written_list_is_the_library();
    written_list_is_not_stale();
    only_stable_flags_are_on();
    scripts_that_need_flags_run(host);
    return check_result("flags");
}
