// Compiled code.
#pragma once

#include <stdint.h>
#include <string>

struct hk_bytecode
{
    std::string bytes;
    bool marked = false; // some of it asks for native code
    uint64_t id = 0;     // never used twice in a process: names the native code made from it
};
