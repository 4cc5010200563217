#include "apps/compare/command.hpp"

#include "apps/compare/stopwatch.hpp"
#include "cairn/error.hpp"
#include "io/json_reader/dom_parser.hpp"
#include "io/json_reader/quoted_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::compare {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_reply(const std::string& what) { throw Error(ErrorKind::file, "command", what); }

/// A member that is a number of at least 0; nothing if it is absent or null.
std::optional<double> seconds_in(const json& reply, const char* key) {
    const auto found = reply.find(key);
    if (found == reply.end() || found->is_null()) return {};
    if (!found->is_number() || found->get<double>() < 0) refuse_reply(fmt::format("{} is no number of seconds", key));
    return found->get<double>();
}

std::vector<double> values_in(const json& answer, bool is_needed) {
    const auto found = answer.find("values");
    if (found == answer.end() && !is_needed) return {};
    if (found == answer.end() || !found->is_array() || (is_needed && found->empty()) ||
        !std::ranges::all_of(*found, [](const json& each) { return each.is_number(); }))
        refuse_reply("an answer has no list of numbers \"values\"");
    return found->get<std::vector<double>>();
}

Answer answer_of(const json& given, Task task) {
    if (!given.is_object()) refuse_reply("an answer is no JSON object");
    Answer answer;
    const auto label = given.find("label");
    if (label != given.end() && label->is_string()) answer.label = label->get<std::string>();
    if (task == Task::classify && answer.label.empty()) refuse_reply("an answer has no text \"label\"");
    answer.values = values_in(given, task == Task::embed || task == Task::run);
    if (task != Task::generate) return answer;
    const auto tokens = given.find("tokens");
    if (tokens == given.end() || !tokens->is_array() ||
        !std::ranges::all_of(*tokens, [](const json& each) { return each.is_number_integer(); }))
        refuse_reply("an answer has no list of integers \"tokens\"");
    answer.tokens = tokens->get<std::vector<std::int64_t>>();
    return answer;
}

}  // namespace

Command::Command(const ImplementationSettings& implementation, const Settings& settings)
    : implementation_(implementation), settings_(settings) {}

json Command::ask(json request, double& seconds, const std::stop_token& stop) {
    const std::int64_t id = next_id_++;
    request["id"] = id;
    const std::string line = request.dump(-1, ' ', false, json::error_handler_t::replace);
    const Stopwatch watch;
    const std::string answer = process_->exchange(line, settings_.measure.timeout, stop);
    seconds = watch.seconds();
    json reply = json_reader::parse_json(answer, [&](const std::string& what) {
        refuse_reply(fmt::format("it printed {}, which {}", json_reader::quoted_name(answer), what));
    });
    if (!reply.is_object())
        refuse_reply("it printed " + json_reader::quoted_name(answer) + ", which is no JSON object");
    if (const auto error = reply.find("error"); error != reply.end() && error->is_string())
        refuse_reply(error->get<std::string>());
    if (!reply.contains("id") || reply["id"] != json(id))
        refuse_reply(fmt::format("it answered request {} instead of {}", reply.value("id", json()).dump(), id));
    return reply;
}

Loaded Command::load(const std::stop_token& stop) {
    process_ = std::make_unique<ChildProcess>(implementation_.command, settings_.folder);
    const MeasureSettings& measure = settings_.measure;
    double seconds = 0;
    const json reply = ask({{"op", "load"},
                            {"task", to_string(settings_.task)},
                            {"threads", measure.threads},
                            {"batch_sizes", measure.batch_sizes},
                            {"max_length", measure.max_length},
                            {"tokens", measure.tokens}},
                           seconds, stop);
    Loaded loaded{seconds, seconds_in(reply, "compile_seconds"), {}};
    if (const auto stated = seconds_in(reply, "load_seconds")) loaded.load_seconds = *stated;
    if (const auto versions = reply.find("versions"); versions != reply.end())
        for (const auto& [name, version] : versions->items()) {
            if (!version.is_string()) refuse_reply("a version is no text");
            loaded.versions[name] = version.get<std::string>();
        }
    return loaded;
}

Reply Command::answer(std::span<const DataRow> rows, const std::stop_token& stop) {
    json request{{"op", "answer"}, {"rows", json::array()}};
    for (const DataRow& row : rows)
        request["rows"].push_back(settings_.task == Task::run ? row.inputs : json(row.text));
    double seconds = 0;
    const json reply = ask(std::move(request), seconds, stop);
    Reply result;
    result.own_seconds = seconds_in(reply, "seconds");
    if (result.own_seconds && *result.own_seconds > seconds)
        refuse_reply(fmt::format("it states {} s for a request that took {} s", *result.own_seconds, seconds));
    const auto answers = reply.find("answers");
    if (answers == reply.end() || !answers->is_array()) refuse_reply("there is no list \"answers\"");
    if (answers->size() != rows.size())
        refuse_reply(fmt::format("it gave {} answers to {} rows", answers->size(), rows.size()));
    for (const json& each : *answers) result.answers.push_back(answer_of(each, settings_.task));
    return result;
}

std::optional<double> Command::peak_bytes() {
    if (process_ != nullptr) peak_ = std::max(peak_, process_->peak_bytes().value_or(0));
    return peak_ > 0 ? std::optional(peak_) : std::nullopt;
}

}  // namespace cairn::compare
