#include "io/json_reader/sax_parser.hpp"

#include <gtest/gtest.h>

namespace cairn::json_reader {
namespace {

/// Records the events as text.
class EventRecorder final : public SaxHandler {
public:
    void begin_object() override { text += "{"; }
    void end_object() override { text += "}"; }
    void begin_array() override { text += "["; }
    void end_array() override { text += "]"; }
    void key(std::string name) override { text += name + ":"; }
    void value(JsonValue value) override { text += "nbuidsX"[value.index()]; }
    [[noreturn]] void fault(const std::string& what) override { throw what; }

    std::string text;
};

TEST(SaxParser, ReportsEventsInOrder) {
    EventRecorder notes;
    parse_json_events(R"({"a": [null, true, 1, -1, 1.0, "", 18446744073709551615, 18446744073709551616], "a": {}})",
                      notes);
    EXPECT_EQ(notes.text, "{a:[nbuidsud]a:{}}");
}

TEST(SaxParser, StopsAtTheFault) {
    EventRecorder notes;
    try {
        parse_json_events(R"([1, "a", ?, 2])", notes);
        FAIL();
    } catch (const std::string& what) { EXPECT_EQ(what, "is not valid JSON at byte 10"); }
    EXPECT_EQ(notes.text, "[us");
}

}  // namespace
}  // namespace cairn::json_reader
