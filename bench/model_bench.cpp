// Benchmarks a model on one workload: time per iteration, its fraction of the roofline limit, memory, start-up time and
// error against a reference.
//
//     model_bench --model gpt2 --synthetic --work prefill --length 128
//     model_bench --model distilbert --synthetic --work classify --length 128 --batch 8 --mode normal --budget 60
//     model_bench --model DIR --work decode --length 128 --threads 2 --json
//     model_bench --model gpt2 --work decode --beside
//     model_bench --model gpt2 --synthetic --length 512 --profile
//     model_bench --calibrate
#include "bench/model_report.hpp"
#include "examples/logit_output.hpp"
#include "examples/support.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <iostream>

namespace {

using Clock = std::chrono::steady_clock;
using bench::Workload;

struct Options {
    std::string model = "gpt2", work, mode = "cached", db, logits, lock, cache_folder, source_dir, kernel_class;
    std::optional<std::int64_t> length;
    std::size_t references = SIZE_MAX;
    std::int64_t batch = 1;
    int threads = 0;
    std::string device = "cpu", features;
    bool dependent_launches = true;
    std::optional<double> budget, tolerance;
    bench::IterationLimits turns;
    bool synthetic = false, all_logits = false, last_logits = false, beside = false, calibrate = false, profile = false,
         as_json = false;
};

[[noreturn]] void refuse(const std::string& why) { throw cairn::Error(cairn::ErrorKind::argument, "model_bench", why); }

void add_options(CLI::App& app, Options& options) {
    app.add_option(
        "--model", options.model,
        "gpt2 or distilbert: the bundled ones, or full-size ones with --synthetic; or a folder or .gguf file");
    app.add_flag("--synthetic", options.synthetic, "GPT-2 124M or DistilBERT-base with weights made from integers");
    app.add_option("--work", options.work, "by default prefill, and classify for distilbert")
        ->check(CLI::IsMember({"prefill", "decode", "classify"}));
    app.add_option("--length", options.length,
                   "tokens of a text, those before the one that decode adds; 128, or 64 for a bundled model")
        ->check(support::at_least(1));
    app.add_option("--batch", options.batch, "texts at once")->check(support::at_least(1));
    app.add_flag("--all-logits", options.all_logits, "of every position");
    app.add_flag("--last-logits", options.last_logits, "of the last position, as without it");
    app.add_option("--threads", options.threads, "threads; all usable CPUs when not given")
        ->check(support::at_least(1));
    app.add_option("--device", options.device, "cpu, cuda, cuda:1 and so on, or auto: a GPU if there is one");
    app.add_option(
        "--features", options.features,
        "instructions that kernels may need, as avx2+avx512, or baseline; all that the CPU has when not given");
    app.add_flag("!--no-dependent-launches", options.dependent_launches,
                 "kernels of a GPU begin only after those before them have ended");
    app.add_option("--mode", options.mode, "where times come from")
        ->check(CLI::IsMember({"off", "cached", "quick", "normal", "exhaustive"}));
    app.add_option("--budget", options.budget, "seconds for measuring; the mode's own when not given")
        ->check(support::seconds());
    app.add_option("--tolerance", options.tolerance,
                   "relative error that logits may have; exact when not given. The first iteration is verified")
        ->check(CLI::PositiveNumber);
    app.add_option(
           "--class", options.kernel_class,
           "of the kernels that state an error use only those of this class: i8, i16, bf16 or bf16x3 of the CPU, "
           "or a pattern of ids, as '*format=f16x3*'; with --tolerance")
        ->needs("--tolerance");
    app.add_option("--db", options.db, "file of the timing database; the user's cache folder when not given");
    app.add_option("--iterations", options.turns.iterations, "timed ones")->check(support::at_least(1));
    app.add_option("--seconds", options.turns.seconds, "further iterations until they have taken so long")
        ->check(support::seconds());
    app.add_flag(
        "--beside", options.beside,
        "also time it beside a process that keeps one CPU busy, in alternation; the iterations are those without it");
    app.add_flag("--profile", options.profile, "also profile further iterations by kernel and problem");
    app.add_flag("--calibrate", options.calibrate, "only measures the machine");
    app.add_option("--logits", options.logits, "file for the work's logits, f32 after f32");
    app.add_option("--lock", options.lock, "file for what was chosen, to be compared or replayed");
    app.add_option("--cache-dir", options.cache_folder,
                   "folder for the compiled, packed model from files, which the next start loads");
    app.add_option("--references", options.references,
                   "texts of the reference whose logits are compared, at most; all when not given, none with 0");
    app.add_option("--source-dir", options.source_dir,
                   "source tree with the bundled models and the reference outputs; the one built from when not given");
    app.add_flag("--json", options.as_json, "one JSON object");
}

Workload workload_of(const Options& options) {
    if (options.all_logits && options.last_logits) refuse("give --all-logits or --last-logits, not both");
    Workload work{.length = options.length.value_or(128), .batch = options.batch, .all_logits = options.all_logits};
    const bool bundled = !options.synthetic && (options.model == "gpt2" || options.model == "distilbert");
    if (bundled && !options.length) work.length = 64;
    const std::string name = !options.work.empty()           ? options.work
                             : options.model == "distilbert" ? "classify"
                                                             : "prefill";
    work.kind = name == "prefill"  ? Workload::Kind::prefill
                : name == "decode" ? Workload::Kind::decode
                                   : Workload::Kind::classify;
    const bool is_classifier = work.kind == Workload::Kind::classify;
    if ((options.model == "gpt2" && is_classifier) || (options.model == "distilbert" && !is_classifier))
        refuse(options.model + " has no work '" + name + "': prefill and decode are for gpt2, classify for distilbert");
    return work;
}

bench::ModelSource source_of(const Options& options, const Workload& work) {
    std::filesystem::path golden = CAIRN_GOLDEN_DIR, models = CAIRN_EXAMPLES_DIR "/models";
    if (!options.source_dir.empty()) {
        golden = std::filesystem::path(options.source_dir) / "tests" / "golden";
        models = std::filesystem::path(options.source_dir) / "examples" / "models";
    }
    const bool is_classifier = work.kind == Workload::Kind::classify;
    if (!options.lock.empty() && !options.cache_folder.empty()) refuse("give --lock or --cache-dir, not both");
    if (options.model != "gpt2" && options.model != "distilbert") {
        if (options.synthetic) refuse("--synthetic is for gpt2 and distilbert, not for a folder or a file");
        return {options.model, {}, options.cache_folder};
    }
    if (options.synthetic && !options.cache_folder.empty()) refuse("--cache-dir is for models from files");
    bench::ModelSource source;
    source.cache_folder = options.cache_folder;
    source.references = options.references;
    if (options.synthetic) source.golden = golden / "full_size_random.json";
    if (!options.synthetic) source.model = models / (is_classifier ? "sst2-distilbert" : "shakespeare-gpt2");
    if (!options.synthetic) source.golden = golden / (is_classifier ? "sst2_distilbert.json" : "shakespeare_gpt2.json");
    return source;
}

void write_floats(const std::string& path, std::span<const float> values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    if (!file.flush()) throw cairn::Error(cairn::ErrorKind::file, "output", "cannot write " + path);
}

/// The part of a kernel's id that names its family and level: `panel_i16_avx512_vnni` of
/// `cpu.panel_i16_avx512_vnni.matmul.f32@1`.
std::string family_of(const std::string& kernel) {
    const std::size_t first = kernel.find('.') + 1;
    return kernel.substr(first, kernel.find('.', first) - first);
}

/// Bans the kernels that state an error and are not of a class. Those that pack weights stay: classes share their
/// layouts.
std::vector<cairn::KernelRule> rules_of_class(const std::string& name, const cairn::KernelSet& kernels) {
    const bool is_pattern = name.find_first_of("*?") != std::string::npos;
    const cairn::KernelRule in_class{is_pattern ? name : "cpu.panel_" + name + "_*"};
    std::vector<cairn::KernelRule> rules;
    bool is_any = false;
    for (const cairn::Kernel& kernel : kernels.kernels) {
        if (kernel.error == nullptr || kernel.definition == "pack") continue;
        if (in_class.covers(kernel.id, ""))
            is_any = true;
        else
            rules.push_back({kernel.id, "*", cairn::RuleAction::ban, "--class " + name});
    }
    if (!is_any) refuse("--class: no kernel that states an error is of the class " + name);
    return rules;
}

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

void calibrate(const Options& options) {
    const cairn::Context context({.threads = options.threads > 0 ? options.threads : cairn::usable_cpus()});
    const cairn::Calibration machine = cairn::calibrate(context);
    if (options.as_json)
        std::cout << bench::json_of(machine).dump() << '\n';
    else
        std::cout << bench::line_of(machine) << '\n';
}

void run(const Options& options, Clock::time_point started) {
    if (options.calibrate) return calibrate(options);
    bench::Report report;
    report.work = workload_of(options);
    const bench::ModelSource source = source_of(options, report.work);
    std::optional<bench::BusyProcess> busy;
    if (options.beside) busy.emplace();
    support::Options of_host;
    if (options.threads > 0) of_host.threads = options.threads;
    of_host.device = options.device;
    of_host.dependent_launches = options.dependent_launches;
    if (!options.features.empty()) {
        of_host.features = cairn::parse_features(options.features);
        if (!of_host.features) refuse("--features: no instruction sets: " + options.features);
    }
    of_host.mode = options.mode;
    of_host.timing_db = options.db;
    const cairn::Context context = support::make_context(of_host);
    cairn::CompileOptions compile;
    compile.mode = support::mode_of(options.mode);
    compile.tune_seconds = options.budget;
    if (options.tolerance) compile.tolerance = cairn::Tolerance::relative(*options.tolerance);
    if (!options.kernel_class.empty()) compile.rules = rules_of_class(options.kernel_class, context.kernels());

    const Clock::time_point compiling = Clock::now();
    const auto subject = bench::make_benchmarked_model(report.work, source, context, compile);
    report.compile_seconds = nanoseconds(Clock::now() - compiling) / 1e9;
    subject->prepare();
    const std::span<const float> logits = subject->run();
    const Clock::time_point first = Clock::now();
    report.first_logits = nanoseconds(first - started);
    report.first_logits_clock = nanoseconds(first.time_since_epoch());
    logit_output::check_finite("model_bench", logits);
    if (!options.logits.empty()) write_floats(options.logits, logits);
    if (!options.lock.empty()) subject->compiled().write_lock(options.lock);

    // Calibration before and after the iterations allocates memory, so peak memory is read before it.
    report.resident_bytes = support::peak_resident_bytes();
    report.before = cairn::calibrate(context);
    if (busy) {
        report.beside = bench::time_under_load(*subject, options.turns, *busy);
        report.iterations = report.beside->alone;
        report.busy_cpu = busy->cpu();
    } else {
        report.iterations = bench::time_iterations(*subject, options.turns);
    }
    report.after = cairn::calibrate(context);
    if (options.profile) report.profile = bench::profile_of(*subject, options.turns.iterations);

    cairn::CompiledGraph& compiled = subject->compiled();
    report.model = options.synthetic ? options.model + " synthetic" : options.model;
    report.mode = options.mode;
    report.features = to_string(context.features());
    report.threads = context.threads();
    report.plan = to_string(cairn::digest(compiled.program()));
    for (const cairn::InstructionProfile& each : compiled.profile()) ++report.families[family_of(each.kernel)];
    report.memory = compiled.memory(subject->sizes());
    report.needs = subject->needs();
    for (const cairn::VerifiedError& row : compiled.verified_errors())
        if (row.verified) report.verified.push_back(row);
    report.error = subject->error();
    report.reference = source.golden.filename();
    if (options.as_json)
        std::cout << json_of(report).dump() << '\n';
    else
        std::cout << table_of(report);
}

}  // namespace

int main(int argc, char** argv) {
    const Clock::time_point started = Clock::now();
    Options options;
    CLI::App app("Times a model beside the limits of the machine");
    support::add_version_and_defaults(app);
    add_options(app, options);
    return support::guarded(app, argc, argv, [&] { run(options, started); });
}
