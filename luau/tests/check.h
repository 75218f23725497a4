// The whole of our C++ test tooling: CHECK counts and prints, main returns check_result().
#pragma once

#include <stdio.h>

inline int& check_count()
{
    static int count = 0;
    return count;
}

inline int& check_failures()
{
    static int failures = 0;
    return failures;
}

#define CHECK(cond) \
    do \
    { \
        check_count()++; \
        if (!(cond)) \
        { \
            check_failures()++; \
            fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #cond); \
        } \
    } while (0)

inline int check_result(const char* name)
{
    printf("%s: %d checks, %d failed\n", name, check_count(), check_failures());
    return check_failures() ? 1 : 0;
}
