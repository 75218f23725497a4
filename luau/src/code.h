// Compiled code.
#pragma once

#include <stdint.h>
#include <string>

struct hk_bytecode
{
    std::string bytes;
    uint64_t id = 0; // never used twice in a process: names the native code made from it
};
