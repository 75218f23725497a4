// Answers measurements on its standard input, one a line: `name [words] seconds`. The answer is a
// line with a number: nanoseconds of one operation, or bytes.
#include "bare.h"

#include "Luau/Common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iostream>
#include <sstream>

namespace bare
{

void fail(const std::string& what)
{
    fprintf(stderr, "bare: %s\n", what.c_str());
    exit(1);
}

// As the official command line does it, and as Hukilau's written list has it.
static void set_flags()
{
    for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
        if (strncmp(flag->name, "Luau", 4) == 0 && !strstr(flag->name, "Experimental"))
            flag->value = true;
}

static double answer(const std::string& line)
{
    std::istringstream words(line);
    std::string name, mode, path;
    double least = 0;
    words >> name;
    if (name == "script" && words >> mode >> path >> least)
        return run_script(mode, path, least);
    words >> least;
    if (name == "callback")
        return callback(least);
    if (name == "yield")
        return yield_and_resume(least);
    if (name == "vm")
        return new_vm(least);
    if (name == "invoke")
        return new_vm_and_call(least);
    if (name == "idle")
        return idle_vm();
    fail("no such measurement: " + line);
}

} // namespace bare

int main()
{
    bare::set_flags();
    for (std::string line; std::getline(std::cin, line);)
        printf("%.17g\n", bare::answer(line)), fflush(stdout);
}
