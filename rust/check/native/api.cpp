// The C functions: no exception leaves them.
#include "definitions.h"

#include "Luau/Error.h"
#include "Luau/TypeCheckLimits.h"

#include <malloc.h>
#include <memory>

struct lc_definitions
{
    lc::Definitions set;
};

namespace
{

void fail(const lc_host* host, const char* text)
{
    lc::Finding f;
    f.kind = "internal";
    f.text = text;
    lc::report({f}, host);
}

template<typename F>
lc_status guarded(const lc_host* host, F run)
{
    try
    {
        return run();
    }
    catch (const Luau::TimeLimitError&)
    {
        return LC_TIMEOUT;
    }
    catch (const std::exception& e)
    {
        fail(host, e.what());
    }
    catch (...)
    {
        fail(host, "unknown exception");
    }
    return LC_FAILED;
}

} // namespace

extern "C" lc_definitions* lc_load(lc_text text, const lc_host* host, lc_status* status)
{
    lc_definitions* made = nullptr;
    *status = guarded(
        host,
        [&]
        {
            auto set = std::make_unique<lc_definitions>();
            lc::Findings wrong = set->set.load(std::string(text.data, text.size));
            if (!wrong.empty())
            {
                lc::report(wrong, host);
                return LC_FAILED;
            }
            made = set.release();
            return LC_DONE;
        }
    );
    return made;
}

extern "C" void lc_drop(lc_definitions* definitions)
{
    delete definitions;
    malloc_trim(0);
}

extern "C" lc_status
lc_check(lc_definitions* definitions, lc_text module, lc_text source, int strict, double seconds, const lc_host* host)
{
    lc_status status = guarded(
        host,
        [&]
        {
            return definitions->set.check(
                std::string(module.data, module.size), std::string(source.data, source.size), strict != 0, seconds, host
            );
        }
    );
    if (status != LC_DONE)
        guarded(host, [&] { return definitions->set.forget(), LC_DONE; });
    return status;
}

extern "C" void lc_forget(lc_definitions* definitions)
{
    lc_host nobody{nullptr, [](void*, const lc_finding*) {}, nullptr};
    guarded(&nobody, [&] { return definitions->set.forget(), LC_DONE; });
}
