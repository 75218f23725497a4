// Where scripts spend processor time: stacks that were seen at safe points, each with its time.
#pragma once

#include "hukilau.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct lua_State;
struct lua_Debug;

namespace hk
{

// A tree of frames, from the outermost one inwards, with the time of the samples that end in each. Its
// memory is no script's: it is bounded here, and what finds no room counts for a frame that says so.
class Profile
{
public:
    Profile();

    // A script runs on this OS thread from here on, until pause.
    void resume();
    void pause();
    // Counts the time since the last sample for the stack of all threads that run.
    void sample(hk_vm* vm, bool collecting) noexcept;
    // Counts what came after the last sample, and shows everything.
    void finish(hk_profile* out) noexcept;

private:
    // A stack deeper than this loses its middle.
    static constexpr int kMostDepth = 200;
    static constexpr int kOuter = 100;
    static constexpr size_t kMostNodes = size_t(1) << 17;
    static constexpr size_t kMoreForNotes = kMostNodes / 4;
    static constexpr size_t kMostFrames = size_t(1) << 16;
    static constexpr size_t kMostText = size_t(4) << 20;
    static constexpr size_t kTextCost = 128; // of each beside its bytes
    static constexpr size_t kMostName = 512;

    struct Key
    {
        uint32_t name, chunk;
        int32_t defined, line;
        uint32_t kind;
        bool operator==(const Key& o) const
        {
            return name == o.name && chunk == o.chunk && defined == o.defined && line == o.line && kind == o.kind;
        }
    };
    struct KeyHash
    {
        size_t operator()(const Key& key) const;
    };
    // The path being walked; 0 is outside of everything.
    struct Place
    {
        uint32_t node;
        bool lost;
    };

    void enter_stack(hk_vm* vm, Place& place);
    void enter_frame(lua_State* L, int level, Place& place);
    void enter_note(const char* text, Place& place);
    uint32_t note(const char* text);
    uint32_t rest_of(Place place) noexcept;
    void enter(const Key& key, Place& place);
    void count(uint32_t node, uint64_t time);
    uint32_t frame_of(const Key& key);
    uint32_t text_of(const char* text, bool& lost);
    uint32_t intern(std::string_view text);

    bool running = false;
    uint64_t since = 0;   // by the clock of the OS thread that runs
    uint64_t pending = 0; // time that no sample has counted yet
    hk_profile totals = {};
    uint32_t noRoom, unsampled; // the stacks of time that belongs to no other

    std::deque<std::string> texts;
    size_t textBytes = 0;
    std::unordered_map<std::string_view, uint32_t> textIds;
    std::vector<hk_frame> frames;
    std::unordered_map<Key, uint32_t, KeyHash> frameIds;
    std::vector<hk_stack> nodes;
    std::unordered_map<uint64_t, uint32_t> nodeIds; // by parent and frame
};

} // namespace hk
