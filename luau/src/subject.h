// What a failed operation was about: the expression in the source that had no value.
#pragma once

#include "flat.h"

#include "lstate.h"

#include <string>
#include <vector>

namespace hk
{

// An expression, as the code of a function says it.
struct Origin
{
    const char* kind = nullptr; // as the header lists them; nullptr: nothing is known
    std::string text;           // as a person would write it
    std::string owner;          // of a field or method: text of what it was looked up in
    std::string key;            // of a field, method or global
    // What it holds now, found without calling anything; nullptr when that is not known.
    const TValue* value = nullptr;
    const TValue* ownerValue = nullptr;
};

// One call of a Luau function.
struct Call
{
    lua_State* L;
    CallInfo* ci;
    Closure* function;
    const Proto* p;
    TValue globals;
    Call(lua_State* L, CallInfo* ci);
    Call(const Call&) = delete; // what is found points into it

    // Counts what is read of the function. False when it was much: nothing ends a run while it is read, and
    // an expression with many parts reads a long function again for each.
    bool may_read(int n) const
    {
        left -= n;
        return left >= 0;
    }

private:
    mutable int64_t left = int64_t(1) << 22; // some 20 ms
};

// What the register holds before the instruction at pc, and where that came from.
Origin origin_of(const Call& call, int reg, int pc, int depth = 0);
// The part of the global path of a GETIMPORT that has no value, with the key that was looked up in it in
// next; the whole path when nothing was.
Origin import_of(const Call& call, int pc, std::string* next);

// Where Luau looks for what a value does not have itself: __index of its metatable, or nil.
const TValue* index_of(lua_State* L, const TValue* value);
constexpr int kMostTables = 16; // that __index leads through

// The names that something has: the one that looks like the key, if any does, and the first few.
struct Names
{
    std::string near;
    std::vector<std::string> few; // sorted
    size_t count = 0;             // of all
};
Names names_in(lua_State* L, const TValue* owner, const std::string& key, bool callable);

// Appends the subject of the error with this message that the instruction at hand in ci raised: see "error
// record" in the header. Nothing when it is not certain. It raises nothing and allocates nothing in the VM.
void put_subject(lua_State* L, CallInfo* ci, const char* message, size_t size, Buf& out);

} // namespace hk
