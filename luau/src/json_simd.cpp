#include "json_simd.h"

#include "simdjson.h"

namespace hk
{

namespace
{

const size_t kLeastRoom = 1 << 12;

size_t room_for(size_t size)
{
    return size < kLeastRoom ? kLeastRoom : size;
}

} // namespace

TokenIndex::TokenIndex() = default;
TokenIndex::~TokenIndex() = default;

size_t TokenIndex::bytes_for(size_t size)
{
    return room_for(size) * sizeof(uint32_t) + 512;
}

size_t TokenIndex::bytes() const
{
    return room ? bytes_for(room) : 0;
}

bool TokenIndex::reserve(size_t size)
{
    if (parser && size <= room)
        return true;
    size_t wanted = room_for(size);
    release();
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(wanted, 1, parser) != simdjson::SUCCESS)
    {
        release();
        return false;
    }
    room = wanted;
    return true;
}

void TokenIndex::release()
{
    parser.reset();
    room = 0;
}

bool TokenIndex::read(const uint8_t* text, size_t size)
{
    return parser->stage1(text, size, simdjson::stage1_mode::regular) == simdjson::SUCCESS;
}

const uint32_t* TokenIndex::offsets() const
{
    return parser->structural_indexes.get();
}

size_t TokenIndex::count() const
{
    return parser->n_structural_indexes;
}

bool valid_utf8(const char* text, size_t size)
{
    return simdjson::validate_utf8(text, size);
}

} // namespace hk
