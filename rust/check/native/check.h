// What the Rust program calls: Luau's type checker behind a few C functions. Nothing here may be called by two threads
// at once. Texts are bytes with a length and live until the call that got or gave them returns.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {
struct lc_text
{
    const char* data;
    size_t size;
};

// One thing that a check found. Lines and columns begin at 1; columns count bytes.
struct lc_finding
{
    lc_text kind;
    uint32_t line, column, endLine, endColumn;
    uint32_t declared; // 1: it is about something that the definitions or Luau's own library declare
    lc_text path;      // the expression that it is about, "sdk.files.read"; empty: none that has a name
    lc_text field;     // where in its argument, "filter.limit"
    lc_text name;      // the unknown name
    lc_text wanted, given;
    lc_text text;         // Luau's own message
    const lc_text* names; // what there is in place of name, or what is missing
    size_t nameCount;
    uint32_t allNames; // 1: there are no others
};

struct lc_host
{
    void* context;
    void (*found)(void* context, const lc_finding* finding);
    // Finds the module that `from` requires as `name`: 1 and the module's own name and source, or 0 and the reason
    // in source.
    int (*resolve)(void* context, lc_text from, lc_text name, lc_text* module, lc_text* source);
};

enum lc_status
{
    LC_DONE,
    LC_TIMEOUT, // the time limit
    LC_FAILED,  // definitions that do not load, or a fault of the checker; says what by `found`
};

enum
{
    LC_EXIT_TIMEOUT = 3,
    LC_EXIT_MEMORY = 4,
};

struct lc_definitions;

// Turns fast flags on. Once, before all else. When memory runs out, the process ends with LC_EXIT_MEMORY.
void lc_start(void);
// Calls `found` for every fast flag: kind is "on" or "off", name the flag, text "written" where flags.inc has it.
void lc_flags(const lc_host* host);

// A set of definitions: what scripts find. NULL where it does not load.
lc_definitions* lc_load(lc_text text, const lc_host* host, lc_status* status);
void lc_drop(lc_definitions* definitions);
lc_status
lc_check(lc_definitions* definitions, lc_text module, lc_text source, int strict, double seconds, const lc_host* host);
// Forgets every module that was required.
void lc_forget(lc_definitions* definitions);
}
