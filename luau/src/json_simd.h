// The only door to simdjson: where the tokens of a text are, and whether bytes are UTF-8.
#pragma once

#include <memory>
#include <stddef.h>
#include <stdint.h>

namespace simdjson
{
namespace internal
{
class dom_parser_implementation;
}
} // namespace simdjson

namespace hk
{

// Offsets of every token's first byte, found with the widest vector instructions this machine has. It also proves the
// text UTF-8, its strings closed and free of control characters. It does not look at the order of tokens.
class TokenIndex
{
public:
    TokenIndex();
    ~TokenIndex();

    // Host memory that an index of size bytes needs, and what is held now.
    static size_t bytes_for(size_t size);
    size_t bytes() const;

    bool reserve(size_t size); // false: no memory
    void release();

    // false: no JSON, or nothing in it. Needs reserve(size) before. size is below 4 GiB.
    bool read(const uint8_t* text, size_t size);

    // count() offsets, followed by two that are the text's size.
    const uint32_t* offsets() const;
    size_t count() const;

private:
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
    size_t room = 0;
};

bool valid_utf8(const char* text, size_t size);

} // namespace hk
