// Flat values for tests: a Value that can be written, read and compared.
#pragma once

#include "hukilau.h"

#include <ostream>
#include <stdint.h>
#include <string.h>
#include <string>
#include <utility>
#include <vector>

struct Value
{
    uint8_t tag = HK_T_NIL;
    uint8_t flags = 0; // of a table; kind of a reference
    double number = 0;
    int64_t integer = 0; // or a reference, or the id of a host function
    std::string text;
    float vector[3] = {0, 0, 0};
    std::vector<Value> array;
    std::vector<std::pair<Value, Value>> pairs;

    bool operator==(const Value& o) const
    {
        return tag == o.tag && flags == o.flags && number == o.number && integer == o.integer && text == o.text &&
               memcmp(vector, o.vector, sizeof(vector)) == 0 && array == o.array && pairs == o.pairs;
    }
};

inline Value nil()
{
    return {};
}

inline Value boolean(bool b)
{
    Value v;
    v.tag = b ? HK_T_TRUE : HK_T_FALSE;
    return v;
}

inline Value num(double n)
{
    Value v;
    v.tag = HK_T_NUMBER;
    v.number = n;
    return v;
}

inline Value integer(int64_t n)
{
    Value v;
    v.tag = HK_T_INTEGER;
    v.integer = n;
    return v;
}

inline Value text(const std::string& s, uint8_t tag = HK_T_STRING)
{
    Value v;
    v.tag = tag;
    v.text = s;
    return v;
}

inline Value vec(float x, float y, float z)
{
    Value v;
    v.tag = HK_T_VECTOR;
    v.vector[0] = x;
    v.vector[1] = y;
    v.vector[2] = z;
    return v;
}

inline Value null()
{
    Value v;
    v.tag = HK_T_NULL;
    return v;
}

inline Value table(std::vector<Value> array, std::vector<std::pair<Value, Value>> pairs = {}, uint8_t flags = 0)
{
    Value v;
    v.tag = HK_T_TABLE;
    v.flags = flags;
    v.array = std::move(array);
    v.pairs = std::move(pairs);
    return v;
}

inline Value numbers(const std::vector<double>& list)
{
    Value v;
    v.tag = HK_T_NUMBERS;
    for (double n : list)
        v.array.push_back(num(n));
    return v;
}

inline Value reference(uint8_t kind, hk_ref ref)
{
    Value v;
    v.tag = HK_T_REF;
    v.flags = kind;
    v.integer = int64_t(ref);
    return v;
}

inline Value host_function(uint32_t id, const std::string& name, uint8_t flags = 0)
{
    Value v = text(name, HK_T_HOSTFN);
    v.integer = id;
    v.flags = flags;
    return v;
}

inline void put(std::string& out, const void* p, size_t n)
{
    out.append(static_cast<const char*>(p), n);
}

inline void put_u32(std::string& out, size_t n)
{
    uint32_t v = uint32_t(n);
    put(out, &v, 4);
}

inline void write(std::string& out, const Value& v)
{
    out += char(v.tag);
    switch (v.tag)
    {
    case HK_T_NUMBER:
        return put(out, &v.number, 8);
    case HK_T_INTEGER:
        return put(out, &v.integer, 8);
    case HK_T_VECTOR:
        return put(out, v.vector, 12);
    case HK_T_STRING:
    case HK_T_BUFFER:
    case HK_T_EXACT:
    case HK_T_NATIVE:
        put_u32(out, v.text.size());
        out += v.text;
        return;
    case HK_T_HOSTFN:
        put_u32(out, size_t(v.integer));
        out += char(v.flags);
        put_u32(out, v.text.size());
        out += v.text;
        return;
    case HK_T_REF:
        out += char(v.flags);
        return put(out, &v.integer, 8);
    case HK_T_NUMBERS:
        put_u32(out, v.array.size());
        for (const Value& item : v.array)
            put(out, &item.number, 8);
        return;
    case HK_T_TABLE:
        out += char(v.flags);
        put_u32(out, v.array.size());
        put_u32(out, v.pairs.size());
        for (const Value& item : v.array)
            write(out, item);
        for (const auto& pair : v.pairs)
        {
            write(out, pair.first);
            write(out, pair.second);
        }
        return;
    case HK_T_ERROR:
        return write(out, v.array.at(0));
    }
}

inline std::string flat(const std::vector<Value>& values)
{
    std::string out;
    for (const Value& v : values)
        write(out, v);
    return out;
}

// Reads what the library wrote, which must be whole.
class Reader
{
public:
    Reader(const uint8_t* data, size_t size) : p(data), end(data + size) {}

    bool done() const
    {
        return p == end;
    }

    Value value()
    {
        Value v;
        v.tag = byte();
        switch (v.tag)
        {
        case HK_T_NUMBER:
            take(&v.number, 8);
            break;
        case HK_T_INTEGER:
            take(&v.integer, 8);
            break;
        case HK_T_VECTOR:
            take(v.vector, 12);
            break;
        case HK_T_STRING:
        case HK_T_BUFFER:
        case HK_T_EXACT:
            v.text.resize(u32());
            take(&v.text[0], v.text.size());
            break;
        case HK_T_REF:
            v.flags = byte();
            take(&v.integer, 8);
            break;
        case HK_T_NUMBERS:
            v.array.resize(u32());
            for (Value& item : v.array)
            {
                item.tag = HK_T_NUMBER;
                take(&item.number, 8);
            }
            break;
        case HK_T_TABLE:
        {
            v.flags = byte();
            size_t array = u32(), pairs = u32();
            for (size_t i = 0; i < array; i++)
                v.array.push_back(value());
            for (size_t i = 0; i < pairs; i++)
            {
                Value key = value();
                v.pairs.emplace_back(std::move(key), value());
            }
            break;
        }
        }
        return v;
    }

private:
    void take(void* out, size_t n)
    {
        if (size_t(end - p) < n)
            abort();
        if (n)
            memcpy(out, p, n);
        p += n;
    }
    uint8_t byte()
    {
        uint8_t b = 0;
        take(&b, 1);
        return b;
    }
    size_t u32()
    {
        uint32_t n = 0;
        take(&n, 4);
        return n;
    }

    const uint8_t* p;
    const uint8_t* end;
};

inline std::ostream& operator<<(std::ostream& out, const Value& v)
{
    static const char* const names[] = {
        "nil",
        "false",
        "true",
        "number",
        "integer",
        "string",
        "vector",
        "buffer",
        "table",
        "numbers",
        "ref",
        "null",
        "exact",
        "hostfn",
        "native",
        "error"};
    out << (v.tag < 16 ? names[v.tag] : "?");
    if (v.tag == HK_T_NUMBER)
        out << " " << v.number;
    if (!v.text.empty())
        out << " \"" << v.text << "\"";
    for (const Value& item : v.array)
        out << " [" << item << "]";
    for (const auto& pair : v.pairs)
        out << " {" << pair.first << " = " << pair.second << "}";
    return out;
}
