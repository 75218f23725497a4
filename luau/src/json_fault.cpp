#include "json_fault.h"

#include "json_number.h"
#include "json_unescape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace hk
{

namespace
{

class Scanner
{
public:
    Scanner(const uint8_t* text, size_t size, int max_depth, Fault& fault)
        : text(text), p(text), end(text + size), max_depth(max_depth), fault(fault)
    {
    }

    bool document()
    {
        if (!value(0))
            return false;
        space();
        return p == end || unexpected("the end of the text");
    }

private:
    const uint8_t* text;
    const uint8_t* p;
    const uint8_t* end;
    int max_depth;
    Fault& fault;

    __attribute__((format(printf, 3, 4))) bool fail(const uint8_t* at, const char* format, ...)
    {
        va_list args;
        va_start(args, format);
        vsnprintf(fault.what, sizeof(fault.what), format, args);
        va_end(args);
        fault.at = size_t(at - text);
        return false;
    }

    bool unexpected(const char* wanted)
    {
        if (p == end)
            return fail(p, "unexpected end of text, expected %s", wanted);
        if (*p >= 0x20 && *p < 0x7f)
            return fail(p, "unexpected '%c', expected %s", *p, wanted);
        return fail(p, "unexpected byte 0x%02X, expected %s", *p, wanted);
    }

    void space()
    {
        while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
            p++;
    }

    bool take(char c)
    {
        if (p == end || *p != uint8_t(c))
            return false;
        p++;
        return true;
    }

    bool value(int depth)
    {
        space();
        switch (p < end ? *p : 0)
        {
        case '{':
            return object(depth + 1);
        case '[':
            return array(depth + 1);
        case '"':
            return string();
        case 't':
            return word("true");
        case 'f':
            return word("false");
        case 'n':
            return word("null");
        case '-':
        case '0':
        case '1':
        case '2':
        case '3':
        case '4':
        case '5':
        case '6':
        case '7':
        case '8':
        case '9':
            return number();
        default:
            return unexpected("a value");
        }
    }

    bool deeper(int depth)
    {
        return depth <= max_depth || fail(p, "nested deeper than %d levels", max_depth);
    }

    bool array(int depth)
    {
        if (!deeper(depth))
            return false;
        p++;
        space();
        if (take(']'))
            return true;
        for (;;)
        {
            if (!value(depth))
                return false;
            space();
            if (take(']'))
                return true;
            if (!take(','))
                return unexpected("',' or ']'");
        }
    }

    bool object(int depth)
    {
        if (!deeper(depth))
            return false;
        p++;
        space();
        if (take('}'))
            return true;
        for (;;)
        {
            space();
            if (p == end || *p != '"')
                return unexpected("a key in double quotes");
            if (!string())
                return false;
            space();
            if (!take(':'))
                return unexpected("':'");
            if (!value(depth))
                return false;
            space();
            if (take('}'))
                return true;
            if (!take(','))
                return unexpected("',' or '}'");
        }
    }

    static bool word_byte(uint8_t c)
    {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '"' ||
               c == '.' || c == '+' || c == '-' || c >= 0x80;
    }

    bool word(const char* expected)
    {
        size_t n = strlen(expected);
        if (size_t(end - p) < n || memcmp(p, expected, n) != 0 || word_byte(p[n]))
            return unexpected("a value");
        p += n;
        return true;
    }

    bool number()
    {
        Number read = read_number(p, end);
        if (read.kind == NumberKind::malformed)
            return fail(p, "malformed number");
        if (read.kind == NumberKind::too_large)
            return fail(p, "number too large");
        if (word_byte(*read.end))
            return fail(p, "malformed number");
        p = read.end;
        return true;
    }

    bool string()
    {
        const uint8_t* open = p++;
        while (p < end && *p != '"')
        {
            if (*p < 0x20)
                return fail(p, "control character 0x%02X in a string, write it as \\u%04x", *p, *p);
            if (*p == '\\' ? !escape() : !character())
                return false;
        }
        if (p == end)
            return fail(open, "string without an end");
        p++;
        return true;
    }

    bool character()
    {
        int n = utf8_length();
        if (n == 0)
            return fail(p, "invalid UTF-8");
        p += n;
        return true;
    }

    // The length of the well-formed sequence at p, or 0: overlong forms, surrogates and more than U+10FFFF are none.
    int utf8_length() const
    {
        uint8_t lead = *p;
        if (lead < 0x80)
            return 1;
        int n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (lead < 0xc2 || lead > 0xf4 || end - p < n)
            return 0;
        for (int i = 1; i < n; i++)
            if ((p[i] & 0xc0) != 0x80)
                return 0;
        bool bad = (lead == 0xe0 && p[1] < 0xa0) || (lead == 0xed && p[1] > 0x9f) || (lead == 0xf0 && p[1] < 0x90) ||
                   (lead == 0xf4 && p[1] > 0x8f);
        return bad ? 0 : n;
    }

    bool escape()
    {
        if (end - p < 2)
            return fail(end, "unexpected end of text in a string");
        uint8_t c = p[1];
        if (c == 'u')
            return unicode_escape();
        if (!strchr("\"\\/bfnrt", c) || c == 0)
        {
            if (c > 0x20 && c < 0x7f)
                return fail(p, "unknown escape \\%c", c);
            return fail(p, "unknown escape");
        }
        p += 2;
        return true;
    }

    bool unicode_escape()
    {
        int unit = hex4(p + 2);
        if (unit < 0)
            return fail(p, "\\u needs four hexadecimal digits");
        if (unit >= 0xdc00 && unit <= 0xdfff)
            return fail(p, "lone surrogate \\u%04x", unit);
        if (unit >= 0xd800 && unit <= 0xdbff)
        {
            int low = p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
            if (low < 0xdc00 || low > 0xdfff)
                return fail(p, "lone surrogate \\u%04x", unit);
            p += 6;
        }
        p += 6;
        return true;
    }
};

} // namespace

bool find_fault(const uint8_t* text, size_t size, int max_depth, Fault& fault)
{
    return !Scanner(text, size, max_depth, fault).document();
}

Place place_of(const uint8_t* text, size_t at)
{
    Place place;
    for (size_t i = 0; i < at; i++)
    {
        if (text[i] == '\n')
        {
            place.line++;
            place.column = 1;
        }
        else if ((text[i] & 0xc0) != 0x80)
        {
            place.column++;
        }
    }
    return place;
}

} // namespace hk
