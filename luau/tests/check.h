// A test program's few words: CHECK and CHECK_EQ count, say where they failed, and check_result decides the exit code.
#pragma once

#include <iostream>
#include <string>

namespace check
{

inline int& count()
{
    static int n = 0;
    return n;
}

inline int& failures()
{
    static int n = 0;
    return n;
}

inline void report(bool ok, const char* file, int line, const std::string& what)
{
    count()++;
    if (ok)
        return;
    failures()++;
    std::cerr << file << ":" << line << ": " << what << "\n";
}

template<typename A, typename B>
void equal(const A& got, const B& want, const char* file, int line, const char* expression)
{
    bool ok = got == want;
    count()++;
    if (ok)
        return;
    failures()++;
    std::cerr << file << ":" << line << ": " << expression << "\n  got:  " << got << "\n  want: " << want << "\n";
}

inline int summary(const char* name)
{
    std::cout << name << ": " << count() << " checks, " << failures() << " failed\n";
    return failures() ? 1 : 0;
}

} // namespace check

inline int check_result(const char* name)
{
    return check::summary(name);
}

#define CHECK(cond) check::report(bool(cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(got, want) check::equal(got, want, __FILE__, __LINE__, #got)
