#include "program/lock.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sha2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace cairn::program {
namespace {

constexpr std::string_view format_words = "cairn lock ", first_line = "cairn lock 2\n", digest_word = "sha256 ";
constexpr std::size_t digest_digits = 16;

std::string sha256_of(std::string_view text) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> hex{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), hex.data());
    return hex.data();
}

/// Splits a line into words at single spaces.
class Words {
public:
    explicit Words(std::string_view line) : rest_(line) {}
    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }
    std::string_view next() {
        const std::size_t end = std::min(rest_.find(' '), rest_.size());
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return word;
    }
    template <typename T>
    std::optional<T> number() {
        const std::string_view word = next();
        T value{};
        const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (fault != std::errc() || end != word.data() + word.size()) return std::nullopt;
        return value;
    }

private:
    std::string_view rest_;
};

bool is_amount(const std::optional<double>& amount) { return amount && *amount >= 0 && *amount < 1e18; }

/// Parses a lock line by line. Each read_... returns false if the line is ill-formed.
class LockReader {
public:
    bool read(std::string_view line) {
        Words words(line);
        const std::string_view kind = words.next();
        if (kind == "graph") return read_selection_key(words);
        if (kind == "split") return read_split(words);
        if (kind == "call") return read_call(words);
        if (kind == "cover") return read_cover(words);
        if (kind == "exact") return read_exact(words);
        return kind == "step" && read_step(words);
    }
    /// True if covers and the selection key are both present or both absent.
    bool is_consistent() const { return lock_.covers.empty() == lock_.selection_key.empty(); }
    Lock take() { return std::move(lock_); }

private:
    bool read_selection_key(Words words) {
        if (!lock_.selection_key.empty()) return false;
        lock_.selection_key = words.next();
        while (!words.at_end()) {
            const std::string_view what = words.next(), value = words.next();
            if (const std::optional<Device> device = parse_device(value);
                what == "states" && device && *device != Device::cpu)
                lock_.states = *device;
            else if (what == "stored" && !value.empty())
                lock_.stored = value;
            else
                return false;
        }
        return !lock_.selection_key.empty();
    }

    bool read_split(Words words) {
        std::vector<std::int64_t>& ends = lock_.ends[std::string(words.next())];
        while (!words.at_end()) {
            const std::optional<std::int64_t> end = words.number<std::int64_t>();
            if (!end || (!ends.empty() && *end <= ends.back())) return false;
            ends.push_back(*end);
        }
        return !ends.empty();
    }

    bool read_call(Words words) {
        const std::string_view name = words.next();
        const std::optional<double> seconds = words.number<double>(), error = words.number<double>();
        const std::string kernel(words.next());
        if (!is_amount(seconds) || !is_amount(error) || kernel.empty() || words.at_end()) return false;
        if (name != problem_digest(words.rest())) return false;
        const Lock::Call call{kernel, *seconds, *error};
        lock_.calls[std::string(words.rest())].push_back(call);
        return by_digest_.try_emplace(std::pair(std::string(name), kernel), call).second;
    }

    bool read_cover(Words words) {
        Lock::Cover& cover = lock_.covers.emplace_back();
        while (!words.at_end()) {
            std::string symbol(words.next());
            const std::optional<std::int64_t> low = words.number<std::int64_t>(), high = words.number<std::int64_t>();
            if (!low || !high) return false;
            cover.ranges.push_back({std::move(symbol), *low, *high});
        }
        steps_ = &cover.steps;
        return true;
    }

    bool read_exact(const Words& words) {
        if (lock_.covers.empty() || !lock_.covers.back().exact.empty() || !words.at_end()) return false;
        steps_ = &lock_.covers.back().exact;
        return true;
    }

    bool read_step(Words words) {
        if (lock_.covers.empty()) return false;
        CoverStep step;
        step.result = words.next(), step.kernel = words.next(), step.problem = words.next();
        const auto call = by_digest_.find(std::pair(step.problem, step.kernel));
        if (call == by_digest_.end()) return false;
        step.seconds = call->second.seconds, step.error = call->second.error;
        bool is_behind = false;
        for (std::string_view word; !words.at_end();) {
            word = words.next();
            if (word == "cost" && !is_behind && step.operands.empty()) {
                const std::optional<double> seconds = words.number<double>(), error = words.number<double>(),
                                            rounding = words.number<double>();
                if (!is_amount(seconds) || !is_amount(error) || !is_amount(rounding)) return false;
                step.seconds = *seconds, step.error = *error, step.rounding = *rounding;
            } else if (word == "->") {
                if (std::exchange(is_behind, true)) return false;
            } else {
                std::string& list = is_behind ? step.results : step.operands;
                list.append(list.empty() ? "" : " ").append(word);
            }
        }
        steps_->push_back(std::move(step));
        return is_behind;
    }

    Lock lock_;
    CoverSteps* steps_ = nullptr;                                          // of the latest `cover` or `exact`
    std::map<std::pair<std::string, std::string>, Lock::Call> by_digest_;  // keyed by problem digest and kernel
};

}  // namespace

const Lock::Call* Lock::find(std::string_view problem, std::string_view kernel) const {
    const auto it = calls.find(problem);
    if (it == calls.end()) return nullptr;
    for (const Call& call : it->second)
        if (call.kernel == kernel) return &call;
    return nullptr;
}

void Lock::add(const Program& program) {
    for (const auto* section : {&program.bind, &program.run})
        for (const Instruction& instruction : *section) {
            const Problem& chosen_for =
                instruction.chosen_for != nullptr ? *instruction.chosen_for : *instruction.problem;
            const std::string problem = cairn::to_string(chosen_for);
            if (find(problem, instruction.kernel) == nullptr)
                calls[problem].push_back({instruction.kernel, instruction.seconds, instruction.error});
        }
}

void Lock::add_calls(CoverSteps& steps) {
    std::map<const Problem*, std::string> texts;
    for (CoverStep& step : steps) {
        std::string& text = texts[step.chosen_for.get()];
        if (text.empty()) text = cairn::to_string(*step.chosen_for);
        step.problem = problem_digest(text);
        if (find(text, step.kernel) == nullptr) calls[text].push_back({step.kernel, step.seconds, step.error});
    }
}

std::string problem_digest(std::string_view problem) {
    return cairn::to_string(digest(problem)).substr(0, digest_digits);
}

std::string to_string(const Lock& lock) {
    std::string text(first_line);
    if (!lock.selection_key.empty()) {
        text += "graph " + lock.selection_key;
        if (lock.states != Device::cpu) text += fmt::format(" states {}", cairn::to_string(lock.states));
        if (!lock.stored.empty()) text += " stored " + lock.stored;
        text += '\n';
    }
    for (const auto& [symbol, ends] : lock.ends) text += fmt::format("split {} {}\n", symbol, fmt::join(ends, " "));
    std::map<std::pair<std::string_view, std::string_view>, const Lock::Call*> named;
    std::deque<std::string> names;
    for (const auto& [problem, calls] : lock.calls) {
        const std::string& name = names.emplace_back(problem_digest(problem));
        for (const Lock::Call& call : calls) {
            named[{name, call.kernel}] = &call;
            text += fmt::format("call {} {} {} {} {}\n", name, call.seconds, call.error, call.kernel, problem);
        }
    }
    const auto add_steps = [&](const CoverSteps& steps) {
        for (const CoverStep& step : steps) {
            text += fmt::format("step {} {} {}", step.result, step.kernel, step.problem);
            const Lock::Call& call = *named.at({step.problem, step.kernel});
            if (step.seconds != call.seconds || step.error != call.error || step.rounding != 0)
                text += fmt::format(" cost {} {} {}", step.seconds, step.error, step.rounding);
            for (const std::string* list : {&step.operands, &step.results}) {
                if (list == &step.results) text += " ->";
                if (!list->empty()) text += ' ' + *list;
            }
            text += '\n';
        }
    };
    for (const Lock::Cover& cover : lock.covers) {
        text += "cover";
        for (const auto& [symbol, low, high] : cover.ranges) text += fmt::format(" {} {} {}", symbol, low, high);
        text += '\n';
        add_steps(cover.steps);
        if (!cover.exact.empty()) text += "exact\n";
        add_steps(cover.exact);
    }
    return text + std::string(digest_word) + sha256_of(text) + '\n';
}

Lock parse_lock(std::string_view text) {
    const auto fail = [](std::string why) -> Error { return {ErrorKind::argument, "lock", std::move(why)}; };
    if (text.starts_with(format_words) && !text.starts_with(first_line))
        throw fail(fmt::format("it has the format \"{}\", expected \"{}\": write it again",
                               text.substr(0, std::min(text.find('\n'), first_line.size())),
                               first_line.substr(0, first_line.size() - 1)));
    if (!text.starts_with(first_line)) throw fail("it is not a lock: the first line is missing");
    const std::size_t last = text.rfind(digest_word);
    if (last == text.npos || text[last - 1] != '\n' ||
        text.substr(last) != std::string(digest_word) + sha256_of(text.substr(0, last)) + '\n')
        throw fail(
            "it was changed, or its end is missing: the digest in its last line is not that of the lines before");
    LockReader reader;
    int number = 1;
    for (std::size_t from = first_line.size(); from < last; ++number) {
        const std::string_view line = text.substr(from, text.find('\n', from) - from);
        from += line.size() + 1;
        if (!reader.read(line)) throw fail(fmt::format("line {} is ill-formed: {}", number + 1, line));
    }
    if (!reader.is_consistent()) throw fail("it has covers and does not name their graph, or the reverse");
    return reader.take();
}

}  // namespace cairn::program
