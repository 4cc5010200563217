#include "autotune/database/row_json.hpp"

#include "io/json_reader/dom_parser.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace cairn::autotune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> status_names{"ok", "failed", "censored"};

std::string hex_of(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += digits[static_cast<unsigned char>(byte) >> 4];
        text += digits[static_cast<unsigned char>(byte) & 15];
    }
    return text;
}

Json number_of(double value) { return std::isinf(value) ? Json("inf") : Json(value); }

void put_key(Json& line, const Key& key) {
    line["problem"] = key.problem;
    line["kernel"] = key.kernel;
    line["hard"] = key.hard;
    line["soft"] = key.soft;
    if (!key.policy.empty()) line["policy"] = key.policy;
}

void put_origin(Json& line, std::int64_t time, const std::string& session) {
    line["time"] = time;
    line["session"] = hex_of(session);
}

Json tree_of(const SessionRow& row) {
    Json line{{"row", "session"}, {"hard", row.hard}, {"soft", row.soft}, {"version", row.version}};
    line["program"] = row.program;
    put_origin(line, row.time, row.id);
    return line;
}

Json tree_of(const TimeRow& row) {
    const Timing& timing = row.timing;
    Json line{{"row", "time"}};
    put_key(line, row.key);
    line["status"] = status_names[static_cast<std::size_t>(timing.status)];
    line["samples"] = timing.samples;
    line["inner"] = timing.inner;
    line["least"] = timing.min;
    line["p10"] = timing.p10;
    line["median"] = timing.median;
    line["p90"] = timing.p90;
    line["mad"] = timing.mad;
    line["bound"] = timing.bound;
    line["quality"] = timing.quality;
    line["note"] = timing.note;
    put_origin(line, row.time, row.session);
    return line;
}

Json tree_of(const ErrorRow& row) {
    Json line{{"row", "error"}};
    put_key(line, row.key);
    line["class"] = row.class_text;
    line["relative"] = number_of(row.figures.relative);
    line["largest"] = number_of(row.figures.largest);
    line["promised"] = row.figures.promised;
    line["inputs"] = row.figures.inputs;
    line["compared"] = row.figures.compared;
    put_origin(line, row.time, row.session);
    return line;
}

Json tree_of(const ChoiceRow& row) {
    Json line{{"row", "choice"}, {"question", row.question}, {"answer", row.choice.answer}};
    line["hard"] = row.hard;
    line["soft"] = row.soft;
    line["policy"] = row.policy;
    line["ratio"] = row.choice.ratio;
    line["low"] = row.choice.low;
    line["high"] = row.choice.high;
    line["samples"] = row.choice.samples;
    put_origin(line, row.time, row.session);
    return line;
}

Json tree_of(const RuleRow& row) {
    Json line{{"row", "rule"}, {"kernel", row.rule.kernel}, {"problem", row.rule.problem}};
    line["verdict"] = to_string(row.rule.action);
    line["reason"] = row.rule.reason;
    line["lifted"] = row.is_lifted;
    put_origin(line, row.time, row.session);
    return line;
}

/// Typed access to the members of a JSON line.
class Line {
public:
    using Refuse = std::function<void(const std::string& what)>;
    Line(std::string_view text, const Refuse& refuse) : tree_(json_reader::parse_json(text, refuse)), refuse_(refuse) {
        if (!tree_.is_object()) refuse_("is not a JSON object");
    }

    std::string text(const char* name) const {
        if (!member(name).is_string()) refuse_(std::string("has no text for ") + name);
        return member(name).get<std::string>();
    }
    std::int64_t integer(const char* name) const {
        if (!member(name).is_number_integer()) refuse_(std::string("has no integer for ") + name);
        return member(name).get<std::int64_t>();
    }
    int count(const char* name) const {
        const std::int64_t value = integer(name);
        if (value < 0 || value > std::numeric_limits<int>::max()) refuse_(std::string("has no count for ") + name);
        return static_cast<int>(value);
    }
    double number(const char* name) const {
        if (member(name) == "inf") return std::numeric_limits<double>::infinity();
        if (!member(name).is_number()) refuse_(std::string("has no number for ") + name);
        return member(name).get<double>();
    }
    bool flag(const char* name) const {
        if (!member(name).is_boolean()) refuse_(std::string("has neither true nor false for ") + name);
        return member(name).get<bool>();
    }
    std::string blob(const char* name) const {
        const std::string text = this->text(name);
        std::string bytes;
        for (std::size_t i = 0; i + 1 < text.size(); i += 2)
            bytes += static_cast<char>(digit(text[i], name) << 4 | digit(text[i + 1], name));
        if (text.size() % 2 != 0) refuse_(std::string("has no digest for ") + name);
        return bytes;
    }
    Key key(bool has_policy) const {
        return {text("problem"), text("kernel"), text("hard"), text("soft"),
                has_policy ? text("policy") : std::string()};
    }
    void refuse(const std::string& what) const { refuse_(what); }

private:
    const nlohmann::json& member(const char* name) const {
        const auto it = tree_.find(name);
        if (it == tree_.end()) refuse_(std::string("lacks ") + name);
        return *it;
    }
    int digit(char c, const char* name) const {
        if (c >= '0' && c <= '9') return c - '0';
        if (c < 'a' || c > 'f') refuse_(std::string("has no digest for ") + name);
        return c - 'a' + 10;
    }
    nlohmann::json tree_;
    const Refuse& refuse_;
};

Timing timing_in(const Line& line) {
    Timing timing;
    const std::string status = line.text("status");
    std::size_t at = 0;
    while (at < status_names.size() && status_names[at] != status) ++at;
    timing.status = static_cast<TimingStatus>(at);
    timing.samples = line.count("samples");
    timing.inner = line.count("inner");
    timing.min = line.number("least");
    timing.p10 = line.number("p10");
    timing.median = line.number("median");
    timing.p90 = line.number("p90");
    timing.mad = line.number("mad");
    timing.bound = line.number("bound");
    timing.quality = line.count("quality");
    timing.note = line.text("note");
    return timing;
}

Row row_in(const Line& line) {
    const std::string kind = line.text("row"), session = line.blob("session");
    const std::int64_t time = line.integer("time");
    if (kind == "session")
        return SessionRow{session, line.text("hard"), line.text("soft"), line.text("version"), line.text("program"),
                          time};
    if (kind == "time") return TimeRow{line.key(true), timing_in(line), time, session};
    if (kind == "error")
        return ErrorRow{line.key(false),
                        line.text("class"),
                        {line.number("relative"), line.number("largest"), line.number("promised"), line.text("inputs"),
                         line.text("compared")},
                        time,
                        session};
    if (kind == "choice")
        return ChoiceRow{
            line.text("question"),
            line.text("hard"),
            line.text("soft"),
            line.text("policy"),
            {line.text("answer"), line.number("ratio"), line.number("low"), line.number("high"), line.count("samples")},
            time,
            session};
    if (kind != "rule") line.refuse("is a row of an unknown kind");
    const std::string action = line.text("verdict");
    if (action != "ban" && action != "pin") line.refuse("has neither ban nor pin for verdict");
    return RuleRow{{line.text("kernel"), line.text("problem"), action == "ban" ? RuleAction::ban : RuleAction::pin,
                    line.text("reason")},
                   line.flag("lifted"),
                   time,
                   session};
}

}  // namespace

std::string to_json_line(const Row& row) {
    // JSON cannot represent bytes that are not valid UTF-8: they are replaced.
    return std::visit([](const auto& one) { return tree_of(one).dump(-1, ' ', false, Json::error_handler_t::replace); },
                      row);
}

Row parse_json_line(std::string_view text, const std::function<void(const std::string& what)>& refuse) {
    const Line line(text, refuse);
    Row row = row_in(line);
    if (const std::string fault = why_invalid(row); !fault.empty()) refuse("is not a valid row: " + fault);
    return row;
}

}  // namespace cairn::autotune
