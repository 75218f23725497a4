// The peer of `make bench`: Luau from the same library, held by plain C++ and nothing else.
#pragma once

#include "lua.h"
#include "lualib.h"

#include <stddef.h>
#include <time.h>

#include <algorithm>
#include <string>

namespace bare
{

// CPU time of this process: other work on the machine does not count.
inline double now()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

// Nanoseconds of one operation. `run` does n of them; n grows until they take `least` seconds, at
// first by what the last turn lets expect.
template<typename F>
double each(double least, F run)
{
    for (size_t n = 1;;)
    {
        double start = now();
        run(n);
        double took = now() - start;
        if (took >= least || least <= 0)
            return took * 1e9 / double(n);
        double expected = took > 0 ? double(n) * least / took * 1.05 : 0;
        n = std::max(n * 2, size_t(std::min(expected, double(n) * 1e4)));
    }
}

// A VM as the official command line makes it. nullptr options of the compiler: its defaults.
struct Script
{
    lua_State* L;

    explicit Script(bool native);
    ~Script();
    // Compiles and calls a file that returns a function, and leaves that function on the stack.
    void load(const std::string& chunk, const std::string& source, bool native);
};

std::string compile(const std::string& source, bool native);
[[noreturn]] void fail(const std::string& what);

double run_script(const std::string& mode, const std::string& path, double least);
double callback(double least);
double yield_and_resume(double least);
double new_vm(double least);
double new_vm_and_call(double least);
double idle_vm();

} // namespace bare
