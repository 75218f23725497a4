#include "json_path.h"

#include "lobject.h"

#include <ctype.h>
#include <string.h>

namespace hk
{

namespace
{

const size_t kLongestKey = 40;
const size_t kLongestHalf = 90;

bool is_name(const char* s, size_t n)
{
    if (n == 0 || n > kLongestKey || (s[0] >= '0' && s[0] <= '9'))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum(uint8_t(s[i])) && s[i] != '_')
            return false;
    return true;
}

// Key bytes that a terminal or a log would not show as they are become \xNN.
std::string quoted(const char* s, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    std::string text = "[\"";
    for (size_t i = 0; i < n && i < kLongestKey; i++)
    {
        uint8_t c = uint8_t(s[i]);
        if (c == '"' || c == '\\')
            text += '\\';
        if (c >= 0x20 && c < 0x7f)
            text += char(c);
        else
            (text += "\\x") += {hex[c >> 4], hex[c & 15]};
    }
    return text + (n > kLongestKey ? "...\"]" : "\"]");
}

std::string step_text(const Step& step)
{
    if (!step.key)
        return "[" + std::to_string(step.index) + "]";
    const char* s = getstr(step.key);
    if (is_name(s, step.key->len))
        return "." + std::string(s, step.key->len);
    return quoted(s, step.key->len);
}

} // namespace

std::string path_text(const Step* steps, size_t count)
{
    std::string head = "$";
    size_t i = 0;
    while (i < count && head.size() < kLongestHalf)
        head += step_text(steps[i++]);
    std::string tail;
    size_t last = count;
    while (last > i && tail.size() < kLongestHalf)
        tail = step_text(steps[--last]) + tail;
    return head + (last > i ? "..." : "") + tail;
}

} // namespace hk
