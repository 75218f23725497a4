#include "json_unescape.h"

#include <string.h>

namespace hk
{

namespace
{

char* put_utf8(char* out, uint32_t c)
{
    if (c < 0x80)
    {
        *out++ = char(c);
        return out;
    }
    if (c < 0x800)
    {
        *out++ = char(0xc0 | (c >> 6));
    }
    else
    {
        if (c < 0x10000)
        {
            *out++ = char(0xe0 | (c >> 12));
        }
        else
        {
            *out++ = char(0xf0 | (c >> 18));
            *out++ = char(0x80 | ((c >> 12) & 0x3f));
        }
        *out++ = char(0x80 | ((c >> 6) & 0x3f));
    }
    *out++ = char(0x80 | (c & 0x3f));
    return out;
}

char plain_escape(uint8_t c)
{
    switch (c)
    {
    case '"':
    case '\\':
    case '/':
        return char(c);
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

// p is behind "\u". nullptr: not a character.
const uint8_t* take_unicode(const uint8_t* p, char** out)
{
    int unit = hex4(p);
    if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff))
        return nullptr;
    p += 4;
    uint32_t c = uint32_t(unit);
    if (unit >= 0xd800 && unit <= 0xdbff)
    {
        int low = p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return nullptr;
        p += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (uint32_t(low) - 0xdc00);
    }
    *out = put_utf8(*out, c);
    return p;
}

} // namespace

int hex4(const uint8_t* p)
{
    int unit = 0;
    for (int i = 0; i < 4; i++)
    {
        uint8_t c = p[i], lower = uint8_t(c | 0x20);
        if (c >= '0' && c <= '9')
            unit = unit * 16 + (c - '0');
        else if (lower >= 'a' && lower <= 'f')
            unit = unit * 16 + (lower - 'a' + 10);
        else
            return -1;
    }
    return unit;
}

bool unescape(const uint8_t* text, size_t size, char* out, size_t* out_size)
{
    const uint8_t* p = text;
    const uint8_t* end = text + size;
    char* begin = out;
    while (p < end)
    {
        auto slash = static_cast<const uint8_t*>(memchr(p, '\\', size_t(end - p)));
        size_t run = size_t((slash ? slash : end) - p);
        memcpy(out, p, run);
        out += run;
        if (!slash)
            break;
        p = slash + 2;
        if (slash[1] == 'u')
        {
            p = take_unicode(p, &out);
            if (!p || p > end)
                return false;
        }
        else if (char c = plain_escape(slash[1]))
        {
            *out++ = c;
        }
        else
        {
            return false;
        }
    }
    *out_size = size_t(out - begin);
    return true;
}

} // namespace hk
