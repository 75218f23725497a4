// What of a VM's memory no run can write as long as the collector rests: most of what a small tool has in its
// image, so a reset need not copy it back.
#pragma once

#include <stddef.h>

#include <vector>

struct lua_State;

namespace hk
{

struct Range
{
    char* at;
    size_t size;
};

// In order, without overlaps; right after a full collection. What is in it stays as it is, but for fields that only the
// collector writes, and links that are written when the table of strings changes its size. Throws std::bad_alloc.
std::vector<Range> cold_memory(lua_State* mainL);

// Cuts `live`, in order, in two: what is cold, in pieces large enough to be worth it, and the rest.
void split_cold(
    const std::vector<Range>& live, const std::vector<Range>& cold, std::vector<Range>* warm, std::vector<Range>* left
);

} // namespace hk
