#include "cairn/cairn.hpp"
#include "tests/graph/ir/random_generator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <filesystem>
#include <optional>
#include <tuple>

namespace cairn::test {
namespace {

constexpr std::int64_t width = 4, capacity = 6, max_rows = 3;

using Row = std::array<float, width>;

/// total[j] = scale[j] * the sum of column j over all rows since the last rewind; next = x + 1. `runs` counts.
Graph running_total() {
    Graph g("total");
    const Dim t = g.symbol("T", 1, max_rows), past = g.symbol("P", 0, capacity);
    State rows = g.state("rows", DType::f32, {past, width}, 0, capacity);
    const Tensor x = g.input("x", DType::f32, {t, width});
    g.output("total", sum(rows.append(x) * g.weight("scale", DType::f32, {width}), {0}));
    g.output("next", x + 1);
    State runs = g.state("runs", DType::i64, {});
    runs.assign(runs.read() + 1);
    return g;
}

/// What a progress sink throws.
struct Interruption {};

/// A CompiledGraph and a model of its documented behaviour under the same calls.
struct Subject {
    CompiledGraph graph;
    std::shared_ptr<bool> bound;           ///< one for all instances
    std::vector<Row> x;                    ///< empty: not set
    std::int64_t rows = 0;                 ///< the value of T
    std::vector<Row> history;              ///< rows of the state
    std::int64_t runs = 0;                 ///< what the state of that name holds
    bool damaged = false;                  ///< that state, by a run that was ended
    std::optional<std::vector<Row>> last;  ///< the x of the last good run, while its outputs may be read
    Row total{};                           ///< of that run
    std::vector<float>* own = nullptr;     ///< memory of the output `next`
};

class Walk {
public:
    /// Saved graphs are loaded into either Context; both have the same number of threads.
    Walk(std::uint64_t seed, const Context& context, const Context& other)
        : random_(seed),
          contexts_{context, other},
          path_(std::filesystem::path(CAIRN_BINARY_DIR) / ("random_walk_" + std::to_string(seed) + ".cairn")),
          states_(std::filesystem::path(path_).replace_extension(".safetensors")) {
        add(compile(running_total(), context, {.splits = {{"T", {1}}}}), std::make_shared<bool>(false));
    }
    ~Walk() {
        std::filesystem::remove(path_);
        std::filesystem::remove(states_);
    }

    void step() {
        Subject& pupil = pupils_[static_cast<std::size_t>(random_.below(static_cast<int>(pupils_.size())))];
        take(pupil);
        check_states(pupil);
    }
    int runs() const { return runs_; }
    int damages() const { return damages_; }
    int loads() const { return loads_; }

private:
    void take(Subject& pupil) {
        switch (random_.below(21)) {
            case 0:
            case 1: return set_input(pupil);
            case 2: return set_symbol(pupil);
            case 3: return set_output(pupil);
            case 4:
            case 5:
            case 6: return run(pupil);
            case 7: return read(pupil);
            case 8: return rewind(pupil);
            case 9: return pupils_.size() < 5 ? add_instance(pupil) : void();
            case 10: return pupils_.size() < 5 ? save_and_load(pupil) : void();
            case 11: return query(pupil);
            case 12: return bind(pupil);
            case 13: return set_state(pupil);
            case 14: return save_states(pupil);
            case 15: return load_states(pupil);
            case 16: return reset_states(pupil);
            case 17:
            case 18: return run(pupil);
            case 19: return move_over(pupil);
            default: return move(pupil);
        }
    }

    void add(CompiledGraph graph, std::shared_ptr<bool> bound) {
        pupils_.push_back(Subject{std::move(graph), std::move(bound), {}, 0, {}, 0, false, {}, {}, nullptr});
    }

    std::vector<Row> some_rows(std::int64_t count) {
        std::vector<Row> rows(static_cast<std::size_t>(count));
        for (Row& row : rows)
            for (float& value : row) value = static_cast<float>(random_.between(-8, 8)) / 4;
        return rows;
    }

    // True if `work` succeeded, false if it threw an Error; nothing else may be thrown.
    template <typename F>
    bool succeeds(F work) {
        try {
            work();
            return true;
        } catch (const Error& error) {
            EXPECT_EQ(std::string_view(error.what()).substr(0, 1), "[");
            return false;
        }
    }

    // By each overload; the last two cannot pass a wrong shape.
    void set_input(Subject& pupil) {
        const int form = random_.below(6);
        const std::int64_t count = form == 5 ? 1 : random_.between(0, max_rows + 1);
        const std::int64_t columns = form < 4 && random_.one_in(8) ? width - 1 : width;
        const bool fits = count >= 1 && count <= max_rows && columns == width;
        const std::vector<Row> rows = some_rows(count);
        std::vector<float>& flat = data_.emplace_back();
        flat.reserve(1);  // so that there is an address
        for (const Row& row : rows) flat.insert(flat.end(), row.begin(), row.end());
        const std::vector<std::int64_t> shape = {count, columns};
        const std::span<const float> part(flat.data(), static_cast<std::size_t>(count * columns));
        const bool done = succeeds([&] {
            switch (form) {
                case 0: return pupil.graph.set("x", flat.data(), shape);
                case 1: return pupil.graph.set("x", static_cast<const void*>(flat.data()), shape);
                case 2: return pupil.graph.set("x", part, {count, columns});
                case 3: return set_strided(pupil, flat, shape);
                case 4: return pupil.graph.set("x", flat);
                default: return pupil.graph.set("x", {flat[0], flat[1], flat[2], flat[3]});
            }
        });
        EXPECT_EQ(done, fits) << "form " << form << ", " << count << " x " << columns;
        if (done) pupil.x = rows, pupil.rows = count;
        pupil.last.reset();
    }

    // Strided elements, row-major or column-major: copied, and released within the call.
    void set_strided(Subject& pupil, const std::vector<float>& flat, const std::vector<std::int64_t>& shape) {
        const std::int64_t count = shape[0], columns = shape[1];
        const bool is_transposed = random_.one_in(2);
        const std::int64_t down = is_transposed ? 2 : 2 * columns + 3, along = is_transposed ? 2 * count + 3 : 2;
        std::vector<float> apart(static_cast<std::size_t>(count * down + columns * along + 1), 77);
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t j = 0; j < std::min(columns, width); ++j)
                apart[static_cast<std::size_t>(i * down + j * along)] = flat[static_cast<std::size_t>(i * width + j)];
        int released = 0;
        InputView view;
        view.data = apart.data();
        view.shape = shape;
        view.strides = {down, along};
        view.owner = &released;
        view.release = [](void* owner) { ++*static_cast<int*>(owner); };
        try {
            pupil.graph.set("x", view);
        } catch (...) {
            EXPECT_EQ(released, 1);
            throw;
        }
        EXPECT_EQ(released, 1);
    }

    // A size other than that of x contradicts it until one of them is set again. The length of a state can only be set
    // to its present value.
    void set_symbol(Subject& pupil) {
        EXPECT_FALSE(succeeds([&] { pupil.graph.set(random_.one_in(2) ? "U" : "T", std::int64_t{9}); }));
        const std::int64_t length = random_.between(0, 3);
        EXPECT_EQ(succeeds([&] { pupil.graph.set("P", length); }),
                  length == static_cast<std::int64_t>(pupil.history.size()));
        const std::int64_t rows = random_.between(1, max_rows);
        EXPECT_TRUE(succeeds([&] { pupil.graph.set("T", rows); }));
        pupil.rows = rows;
        pupil.last.reset();
    }

    void set_output(Subject& pupil) {
        pupil.last.reset();
        if (random_.one_in(3)) {
            EXPECT_TRUE(succeeds([&] { pupil.graph.set_output("next", nullptr, 0); }));
            pupil.own = nullptr;
            return;
        }
        pupil.own = &buffers_.emplace_back(static_cast<std::size_t>(random_.between(1, max_rows) * width), -99.0F);
        if (!succeeds([&] { pupil.graph.set_output("next", pupil.own->data(), pupil.own->size() * sizeof(float)); }))
            pupil.graph.set_output("next", nullptr, 0), pupil.own = nullptr;
    }

    // With or without options; `interrupted` if the caller interrupts the run.
    void run(Subject& pupil) {
        const bool room = pupil.own == nullptr || pupil.own->size() >= pupil.x.size() * width;
        const bool whole = !pupil.x.empty() && pupil.rows == static_cast<std::int64_t>(pupil.x.size());
        const bool can =
            *pupil.bound && whole && room && !pupil.damaged && pupil.history.size() + pupil.x.size() <= capacity;
        const auto how = random_.below(8);
        const std::int64_t at = random_.between(1, 6);
        std::stop_source stop;
        std::int64_t done = 0;
        bool interrupted = how == 1;
        if (interrupted) stop.request_stop();
        RunOptions options;
        options.profile = how == 0;
        if (how == 1 || how == 2) options.stop = stop.get_token();
        if (how == 2 || how == 3)
            options.progress = [&](const Progress& progress) {
                EXPECT_EQ(progress.phase, "run");
                EXPECT_EQ(progress.done, ++done);
                EXPECT_LE(done, progress.total);
                if (done != at || (how == 2 && done == progress.total)) return;
                interrupted = true;
                stop.request_stop();
                if (how == 3) throw Interruption();
            };
        bool ran = false;
        try {
            ran = succeeds([&] { pupil.graph.run(options); });
        } catch (const Interruption&) { EXPECT_EQ(how, 3); }
        // An instruction that has begun is finished; if it is the last one, the run succeeds.
        if (how == 2 && interrupted)
            EXPECT_LE(done, at + 1);
        else
            EXPECT_EQ(ran, can && !interrupted)
                << *pupil.bound << pupil.x.size() << room << pupil.history.size() << how;
        pupil.last.reset();
        if (!ran && done > 0) note_damage(pupil);
        if (!ran) return;
        if (options.profile) check_profile(pupil);
        ++runs_;
        ++pupil.runs;
        pupil.history.insert(pupil.history.end(), pupil.x.begin(), pupil.x.end());
        pupil.total = {};
        for (const Row& row : pupil.history)
            for (std::size_t j = 0; j < row.size(); ++j) pupil.total[j] += row[j] * static_cast<float>(j + 1);
        pupil.last = pupil.x;
        read(pupil);
    }

    void note_damage(Subject& pupil) {
        pupil.damaged = !succeeds([&] { (void)pupil.graph.state("runs"); });
        if (pupil.damaged) ++damages_;
    }

    void check_profile(const Subject& pupil) {
        const std::vector<InstructionProfile> rows = pupil.graph.profile();
        EXPECT_FALSE(rows.empty());
        double seconds = 0;
        for (const InstructionProfile& row : rows) {
            EXPECT_NE(pupil.graph.program().find(row.kernel), std::string::npos);
            EXPECT_FALSE(row.problem.empty());
            EXPECT_GE(row.seconds, 0);
            seconds += row.seconds;
        }
        EXPECT_GT(seconds, 0);
    }

    void read(Subject& pupil) {
        std::vector<float> total, next;
        const auto copy = [&](const char* name) {
            const auto values = pupil.graph.output(name).as<float>();
            return std::vector<float>(values.begin(), values.end());
        };
        const bool has_outputs = succeeds([&] { total = copy("total"), next = copy("next"); });
        EXPECT_FALSE(succeeds([&] { copy("absent"); }));
        if (pupil.last) { EXPECT_TRUE(has_outputs); }
        if (!has_outputs || !pupil.last) return;
        EXPECT_EQ(total, std::vector<float>(pupil.total.begin(), pupil.total.end()));
        std::vector<float> expected;
        for (const Row& row : *pupil.last)
            for (const float value : row) expected.push_back(value + 1);
        EXPECT_EQ(next, expected);
        if (pupil.own != nullptr) {
            EXPECT_TRUE(std::equal(expected.begin(), expected.end(), pupil.own->begin()));
            for (std::size_t i = expected.size(); i < pupil.own->size(); ++i) EXPECT_LE((*pupil.own)[i], 3.0F);
        }
    }

    void rewind(Subject& pupil) {
        const std::int64_t length = random_.between(-1, capacity + 1);
        const bool fits = length >= 0 && length <= static_cast<std::int64_t>(pupil.history.size());
        EXPECT_EQ(succeeds([&] { pupil.graph.rewind("P", length); }), fits);
        EXPECT_FALSE(succeeds([&] { pupil.graph.rewind("T", 0); }));
        if (fits) pupil.history.resize(static_cast<std::size_t>(length));
        pupil.last.reset();
    }

    void add_instance(Subject& pupil) {
        std::optional<CompiledGraph> graph;
        if (succeeds([&] { graph.emplace(pupil.graph.instance()); })) add(std::move(*graph), pupil.bound);
    }

    void save_and_load(Subject& pupil) {
        const Context& context = contexts_[random_.one_in(2) ? 1 : 0];
        pupil.graph.save(path_);
        add(CompiledGraph::load(path_, context), std::make_shared<bool>(false));
        EXPECT_FALSE(succeeds([&] { CompiledGraph::load(path_.parent_path() / "absent.cairn", context); }));
        EXPECT_FALSE(succeeds([&] { CompiledGraph::load(path_, Context({.threads = 3})); }));
    }

    void query(Subject& pupil) {
        const std::pair<std::string_view, std::int64_t> sizes[] = {{"T", random_.between(1, max_rows)}};
        EXPECT_GE(pupil.graph.memory().states, capacity * width * 4);
        EXPECT_GE(pupil.graph.memory({{"T", sizes[0].second}}).states, width * 4);
        const bool room = static_cast<std::int64_t>(pupil.history.size()) + sizes[0].second <= capacity;
        EXPECT_EQ(succeeds([&] { pupil.graph.reserve(sizes); }), room);
        if (room) pupil.last.reset();
        EXPECT_FALSE(succeeds([&] { pupil.graph.memory({{"T", 99}}); }));
        EXPECT_FALSE(pupil.graph.program().empty());
        EXPECT_FALSE(pupil.graph.explain().buckets.empty());
        for (const InstructionProfile& row : pupil.graph.profile()) EXPECT_FALSE(row.kernel.empty());
    }

    void bind(Subject& pupil) {
        const bool wrong = random_.one_in(3), before = *pupil.bound;
        const bool ok = succeeds([&] {
            pupil.graph.bind([&](std::string_view) {
                InputView view;
                view.data = scale_.data();
                view.shape = {wrong ? width - 1 : width};
                return view;
            });
        });
        EXPECT_EQ(ok, !before && !wrong);
        *pupil.bound = before || ok;
        pupil.last.reset();
    }

    // Any number of rows, too many of which are refused, and a count; each also with invalid arguments.
    void set_state(Subject& pupil) {
        const std::vector<Row> rows =
            some_rows(random_.one_in(4) ? random_.between(3, capacity + 1) : random_.between(0, 2));
        std::vector<float> elements;
        for (const Row& row : rows) elements.insert(elements.end(), row.begin(), row.end());
        const auto count = static_cast<std::int64_t>(rows.size());
        const std::int64_t columns = random_.one_in(8) ? width - 1 : width;
        const bool by_shape = random_.one_in(2), fits = count <= capacity && (columns == width || !by_shape);
        const bool done = succeeds([&] {
            if (by_shape)
                pupil.graph.set_state("rows", elements.data(), {count, columns});
            else
                pupil.graph.set_state("rows", elements);
        });
        EXPECT_EQ(done, fits) << count << " x " << columns;
        if (done) pupil.history = rows, pupil.last.reset();
        elements.push_back(0);
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("rows", elements); })) << "a part of a row";
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("rows", std::vector<double>(width)); }));
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("absent", elements); }));
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("rows", nullptr, {1, width}); }));
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("runs", std::vector<std::int64_t>(2)); }));
        EXPECT_FALSE(succeeds([&] { pupil.graph.set_state("runs", elements.data(), {1}); }));
        if (random_.one_in(2)) return;
        pupil.runs = random_.between(-1000, 1000);
        EXPECT_TRUE(succeeds([&] { pupil.graph.set_state("runs", std::array{pupil.runs}); }));
        pupil.damaged = false;
        pupil.last.reset();
    }

    // Sets the states to those shown by any pupil, itself included.
    void move_over(Subject& pupil) {
        const Subject& from = pupils_[static_cast<std::size_t>(random_.below(static_cast<int>(pupils_.size())))];
        if (from.damaged) return;
        const auto shown = from.graph.state("rows").as<float>();
        const std::vector<float> rows(shown.begin(), shown.end());
        const std::int64_t runs = from.graph.state("runs").as<std::int64_t>()[0];
        EXPECT_TRUE(succeeds([&] { pupil.graph.set_state("rows", rows); }));
        EXPECT_TRUE(succeeds([&] { pupil.graph.set_state("runs", &runs, {}); }));
        pupil.history = from.history;
        pupil.runs = from.runs;
        pupil.damaged = false;
        pupil.last.reset();
    }

    void save_states(Subject& pupil) {
        if (saved_ && !random_.one_in(4)) return;  // writing is slow
        EXPECT_FALSE(succeeds([&] { pupil.graph.save_states(states_ / "below" / "a file"); }));
        EXPECT_EQ(succeeds([&] { pupil.graph.save_states(states_); }), !pupil.damaged);
        if (pupil.damaged) return;
        saved_ = {{pupil.history, pupil.runs}};
    }

    // Files of other states are refused as a whole.
    void load_wrong_states(Subject& pupil) {
        const std::filesystem::path wrong = std::filesystem::path(states_) += ".wrong";
        const std::vector<float> rows((capacity + 1) * width);
        const std::int64_t runs = 77;
        NamedTensor good{"runs", {.data = &runs, .dtype = DType::i64}};
        NamedTensor bad{"rows", {.data = rows.data(), .shape = {1, width}}};
        switch (random_.below(4)) {
            case 0: bad.name = "columns"; break;
            case 1: bad.view.shape = {1, width + 1}; break;
            case 2: bad.view.shape = {capacity + 1, width}; break;
            default: bad.view.dtype = DType::i32;
        }
        write_safetensors(wrong, {good, bad});
        EXPECT_FALSE(succeeds([&] { pupil.graph.load_states(wrong); }));
        std::filesystem::remove(wrong);
        EXPECT_FALSE(succeeds([&] { pupil.graph.load_states(wrong); }));
    }

    // Loads what any pupil saved, if anything.
    void load_states(Subject& pupil) {
        if (random_.one_in(4)) load_wrong_states(pupil);
        EXPECT_EQ(succeeds([&] { pupil.graph.load_states(states_); }), saved_.has_value());
        if (!saved_) return;
        ++loads_;
        std::tie(pupil.history, pupil.runs) = *saved_;
        pupil.damaged = false;
        pupil.last.reset();
    }

    void reset_states(Subject& pupil) {
        EXPECT_TRUE(succeeds([&] { pupil.graph.reset_states(); }));
        pupil.history.clear();
        pupil.runs = 0;
        pupil.damaged = false;
        pupil.last.reset();
    }

    // After each call, successful or refused.
    void check_states(const Subject& pupil) {
        const OutputView rows = pupil.graph.state("rows");
        EXPECT_EQ((std::vector<std::int64_t>(rows.shape.begin(), rows.shape.end())),
                  (std::vector<std::int64_t>{static_cast<std::int64_t>(pupil.history.size()), width}));
        std::vector<float> expected;
        for (const Row& row : pupil.history) expected.insert(expected.end(), row.begin(), row.end());
        const auto held = rows.as<float>();
        EXPECT_EQ(std::vector<float>(held.begin(), held.end()), expected);
        if (pupil.damaged) {
            EXPECT_FALSE(succeeds([&] { (void)pupil.graph.state("runs"); }));
            return;
        }
        EXPECT_EQ(pupil.graph.state("runs").as<std::int64_t>()[0], pupil.runs);
        EXPECT_FALSE(succeeds([&] { (void)pupil.graph.state("runs").as<double>(); }));
        EXPECT_FALSE(succeeds([&] { (void)pupil.graph.state("absent"); }));
    }

    void move(Subject& pupil) {
        CompiledGraph elsewhere = std::move(pupil.graph);
        pupil.graph = std::move(elsewhere);
    }

    RandomGenerator random_;
    const std::array<Context, 2> contexts_;
    std::filesystem::path path_, states_;
    std::deque<Subject> pupils_;
    std::optional<std::pair<std::vector<Row>, std::int64_t>> saved_;  ///< in the file of states
    std::deque<std::vector<float>> data_;
    std::deque<std::vector<float>> buffers_;
    const Row scale_ = {1, 2, 3, 4};
    int runs_ = 0, loads_ = 0, damages_ = 0;
};

// Calls in random order: each does what is documented or throws an Error, and results, if any, are right.
TEST(RandomWalk, CallsThrowOnlyErrorAndResultsAreRight) {
    const Context one, again, two({.threads = 2}), two_again({.threads = 2});
    int runs = 0, loads = 0, damages = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Walk walk(seed, seed % 4 == 0 ? two : one, seed % 4 == 0 ? two_again : again);
        for (int i = 0; i < 300; ++i) walk.step();
        runs += walk.runs();
        loads += walk.loads();
        damages += walk.damages();
        if (HasFailure()) return;
    }
    EXPECT_GT(runs, 500) << "most walks must get somewhere";
    EXPECT_GT(loads, 100);
    EXPECT_GT(damages, 20) << "some runs must end on the way";
}

}  // namespace
}  // namespace cairn::test
