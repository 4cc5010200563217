#include "device/cuda/cuda_compiler.hpp"

#include "cairn/error.hpp"
#include "cairn/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <tuple>
#include <utility>

namespace cairn::device::cuda {
namespace {

// A cluster of more blocks needs to be allowed for each function.
constexpr int max_portable_cluster = 8;

std::string compiler_text(NvrtcVersion version) { return fmt::format("NVRTC {}.{}", version.major, version.minor); }

/// An error's message without the part that it begins with.
std::string_view sentence_of(const Error& error) {
    std::string_view text = error.what();
    if (constexpr std::string_view part = "[cuda] "; text.starts_with(part)) text.remove_prefix(part.size());
    return text;
}

void check(const DeviceCode& code, const DeviceProperties& properties) {
    if (code.block < 1 || code.cluster < 1)
        throw InternalError("cuda", fmt::format("the kernel {} has blocks of {} threads and clusters of {} blocks",
                                                code.entry, code.block, code.cluster));
    if (code.shared_bytes > properties.opt_in_shared_bytes)
        throw Error(ErrorKind::unsupported, "cuda",
                    fmt::format("the kernel {} needs {} bytes of shared memory a block, but {} has {}", code.entry,
                                code.shared_bytes, properties.name, properties.opt_in_shared_bytes));
    if (code.cluster > 1 && properties.major < 9)
        throw Error(ErrorKind::unsupported, "cuda",
                    fmt::format("the kernel {} needs clusters, which {} does not have", code.entry, properties.name));
}

}  // namespace

CudaModule::CudaModule(std::shared_ptr<CudaDevice> device, std::shared_ptr<const KernelBinary> binary)
    : device_(std::move(device)), binary_(std::move(binary)) {
    device_->calls().call(&DriverTable::module_load, &handle_, static_cast<const void*>(binary_->image.data()));
}

CudaModule::~CudaModule() {
    release_on(*device_, [&] { device_->calls().release(&DriverTable::module_unload, handle_); });
}

CudaCompiler::CudaCompiler(std::shared_ptr<CudaDevice> device, std::shared_ptr<Nvrtc> nvrtc, std::string prelude,
                           std::shared_ptr<KernelCache> cache, bool dependent_launches)
    : device_(std::move(device)),
      nvrtc_(std::move(nvrtc)),
      prelude_(std::move(prelude)),
      cache_(std::move(cache)),
      dependent_launches_(dependent_launches),
      architecture_(device_->properties().architecture()) {
    for (const std::string& option : Nvrtc::options_of(architecture_, options_)) common_ += option + '\n';
    common_ += to_string(digest(prelude_)) + '\n';
}

std::string CudaCompiler::key_of(const DeviceCode& code) const {
    return to_string(digest(common_ + code.entry + '\n' + code.text));
}

std::vector<std::shared_ptr<const void>> CudaCompiler::compile(std::span<const DeviceCode* const> texts,
                                                               const CompileRequest& request) {
    device_->calls().throw_if_lost();
    std::vector<KeyedText> wanted;
    for (const DeviceCode* code : texts) {
        check(*code, device_->properties());
        wanted.push_back({code, key_of(*code)});
    }
    Modules modules;
    std::vector<KeyedText> rest = missing(wanted, modules);
    for (const std::shared_ptr<const KernelBinary>& binary : request.saved) load_kept(binary, rest, modules);
    if (cache_ != nullptr) load_cached(rest, modules);
    if (!rest.empty()) {
        open_nvrtc_for(rest, request.saved);
        compile_missing(rest, request, modules);
    }
    std::vector<std::shared_ptr<const void>> kernels;
    const std::scoped_lock lock(mutex_);
    const CurrentContext current(*device_);
    for (const KeyedText& text : wanted) kernels.push_back(kernel(*text.code, modules.at(text.key)));
    for (const auto& [key, module] : modules) loaded_[key] = module;
    return kernels;
}

std::vector<CudaCompiler::KeyedText> CudaCompiler::missing(Texts texts, Modules& modules) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(loaded_, [](const auto& entry) { return entry.second.expired(); });
    std::set<std::string_view> seen;
    std::vector<KeyedText> rest;
    for (const KeyedText& text : texts) {
        if (!seen.insert(text.key).second) continue;
        const auto found = loaded_.find(text.key);
        std::shared_ptr<const CudaModule> module = found == loaded_.end() ? nullptr : found->second.lock();
        if (module == nullptr)
            rest.push_back(text);
        else
            modules[text.key] = std::move(module);
    }
    // Callers give them in any order; the same kernels are the same program.
    std::sort(rest.begin(), rest.end(), [](const KeyedText& a, const KeyedText& b) {
        return std::tie(a.code->entry, a.code->text) < std::tie(b.code->entry, b.code->text);
    });
    return rest;
}

void CudaCompiler::load_kept(const std::shared_ptr<const KernelBinary>& binary, std::vector<KeyedText>& missing,
                             Modules& modules) {
    const auto has = [&](const KeyedText& text) { return binary->has(text.key); };
    if (std::none_of(missing.begin(), missing.end(), has)) return;
    try {
        const CurrentContext current(*device_);
        const auto module = std::make_shared<CudaModule>(device_, binary);
        Modules found;
        for (const KeyedText& text : missing) {
            if (!has(text)) continue;
            FunctionHandle function = nullptr;
            device_->calls().call(&DriverTable::module_function, &function, module->handle(), text.code->entry.c_str());
            // A driver that loads functions when they are first used may refuse one as late as here.
            device_->calls().call(&DriverTable::function_load, function);
            found[text.key] = module;
        }
        modules.merge(found);
        std::erase_if(missing, has);
    } catch (const Error& error) {
        // Code that is compiled anew would not help.
        if (error.kind() == ErrorKind::memory || device_->calls().is_lost()) throw;
    }
}

void CudaCompiler::load_cached(std::vector<KeyedText>& missing, Modules& modules) {
    for (const KeyedText& text : std::vector<KeyedText>(missing)) {
        const std::shared_ptr<const KernelBinary> binary = cache_->find(text.key);
        if (binary == nullptr) continue;
        // An NVRTC that nothing has opened need not be opened to learn its version.
        const std::optional<NvrtcVersion> version = nvrtc_->version_if_open();
        if (!version || binary->compiler == compiler_text(*version)) load_kept(binary, missing, modules);
    }
}

void CudaCompiler::open_nvrtc_for(Texts texts, KernelBinaries saved) {
    try {
        nvrtc_->version();
    } catch (const Error& error) {
        if (saved.empty() || error.kind() != ErrorKind::unsupported) throw;
        std::set<std::string> devices;
        bool is_for_others = true;
        for (const std::shared_ptr<const KernelBinary>& binary : saved) {
            devices.insert(fmt::format("{} ({})", binary->device, binary->architecture));
            if (binary->architecture == architecture_) is_for_others = false;
        }
        throw Error(
            ErrorKind::unsupported, "cuda",
            fmt::format("{} of the kernels have no machine code for {} ({}): the program was saved with code for "
                        "{}{}; {}",
                        texts.size(), device_->properties().name, architecture_, fmt::join(devices, ", "),
                        is_for_others ? "" : " of other kernel texts", sentence_of(error)));
    }
}

std::vector<std::vector<CudaCompiler::KeyedText>> CudaCompiler::programs_of(Texts texts, int threads) const {
    std::size_t count = cache_ != nullptr ? texts.size() : std::min<std::size_t>(threads, texts.size());
    std::map<std::string_view, std::size_t> texts_of_entry;
    for (const KeyedText& text : texts) count = std::max(count, ++texts_of_entry[text.code->entry]);
    // Entries begin with the family: neighbours take about as long as one another, and go to different programs.
    std::vector<std::vector<KeyedText>> programs(count);
    for (std::size_t i = 0; i < texts.size(); ++i) programs[i % count].push_back(texts[i]);
    return programs;
}

void CudaCompiler::compile_missing(Texts texts, const CompileRequest& request, Modules& modules) {
    const std::vector<std::vector<KeyedText>> programs =
        programs_of(texts, request.threads != nullptr ? request.threads->size() : 1);
    std::vector<CompiledProgram> compiled(programs.size());
    // Threads take the programs in order. The fault of the first text is thrown, whatever the number of threads and
    // whichever is faster: a program whose texts are all behind one that has failed is left out.
    std::atomic<std::size_t> next = 0, first_failed = texts.size();
    auto work = [&] {
        for (std::size_t i = next++; i < programs.size() && i < first_failed; i = next++) {
            try {
                compile_program(programs[i], request.stop, compiled[i]);
            } catch (...) {
                compiled[i].fault = std::current_exception();
                compiled[i].failed = i + programs.size() * static_cast<std::size_t>(compiled[i].last - &programs[i][0]);
                std::size_t first = first_failed;
                while (compiled[i].failed < first && !first_failed.compare_exchange_weak(first, compiled[i].failed)) {}
            }
        }
    };
    if (programs.size() > 1 && request.threads != nullptr)
        request.threads->run([](void* body, int, int) { (*static_cast<decltype(work)*>(body))(); }, &work);
    else
        work();
    for (const CompiledProgram& program : compiled)
        for (const std::shared_ptr<const KernelBinary>& binary : program.binaries) {
            if (first_failed == texts.size()) load_compiled(binary, modules);
            if (cache_ != nullptr) cache_->store(*binary);
        }
    for (const CompiledProgram& program : compiled)
        if (program.fault && program.failed == first_failed) std::rethrow_exception(program.fault);
}

void CudaCompiler::compile_program(Texts texts, const std::stop_token& stop, CompiledProgram& compiled) const {
    compiled.last = texts.data();
    if (stop.stop_requested()) throw Cancelled("compile");
    std::string program = prelude_;
    for (const KeyedText& text : texts)
        program += fmt::format("#line 1 \"{}\"\n{}\n", text.code->entry, text.code->text);
    const DeviceCode& first = *texts[0].code;
    const std::string name = texts.size() == 1 ? first.entry : fmt::format("{} kernels", texts.size());
    CompiledText code;
    try {
        code = nvrtc_->compile(program, name, architecture_, options_);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported || (texts.size() == 1 && first.label.empty())) throw;
        if (texts.size() == 1)
            throw Error(error.kind(), "cuda", fmt::format("{}: {}", first.label, sentence_of(error)));
        // One of them does not compile: its own error names it. Texts that only fail together, by names that they
        // share, become programs of their own.
        compile_program(texts.first(texts.size() / 2), stop, compiled);
        return compile_program(texts.subspan(texts.size() / 2), stop, compiled);
    }
    KernelBinary made;
    for (const KeyedText& text : texts) made.keys.push_back(text.key);
    made.architecture = architecture_;
    made.device = device_->properties().name;
    made.compiler = compiler_text(nvrtc_->version());
    made.image = std::move(code.cubin);
    compiled.binaries.push_back(std::make_shared<const KernelBinary>(std::move(made)));
}

void CudaCompiler::load_compiled(const std::shared_ptr<const KernelBinary>& binary, Modules& modules) {
    const CurrentContext current(*device_);
    const auto module = std::make_shared<CudaModule>(device_, binary);
    for (const std::string& key : binary->keys) modules[key] = module;
}

std::shared_ptr<const CudaKernel> CudaCompiler::kernel(const DeviceCode& code,
                                                       std::shared_ptr<const CudaModule> module) {
    DriverCalls& calls = device_->calls();
    auto kernel = std::make_shared<CudaKernel>();
    calls.call(&DriverTable::module_function, &kernel->function, module->handle(), code.entry.c_str());
    kernel->module = std::move(module);
    kernel->device = device_.get();
    kernel->block = static_cast<unsigned>(code.block);
    kernel->cluster = static_cast<unsigned>(code.cluster);
    kernel->shared_bytes = static_cast<unsigned>(code.shared_bytes);
    kernel->is_dependent = code.waits_for_dependencies && dependent_launches_;
    // By default the limit is what static shared memory leaves of 48 KB. It is of the function, which other codes of
    // this text may use with more bytes, so it is never lowered.
    if (code.shared_bytes > 0) {
        int limit = 0;
        calls.call(&DriverTable::function_attribute, &limit, FunctionAttribute::max_dynamic_shared_bytes,
                   kernel->function);
        if (code.shared_bytes > static_cast<std::size_t>(limit))
            calls.call(&DriverTable::function_set_attribute, kernel->function,
                       FunctionAttribute::max_dynamic_shared_bytes, static_cast<int>(code.shared_bytes));
    }
    if (code.cluster > max_portable_cluster)
        calls.call(&DriverTable::function_set_attribute, kernel->function,
                   FunctionAttribute::non_portable_cluster_size_allowed, 1);
    // Otherwise the first launch would load it, in a run.
    calls.call(&DriverTable::function_load, kernel->function);
    return kernel;
}

}  // namespace cairn::device::cuda
