#include "driver/stage_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace cairn::driver {

bool StageDriver::enabled(std::string_view stage) const {
    return std::find(options_->disable.begin(), options_->disable.end(), stage) == options_->disable.end();
}

void StageDriver::check_cancelled() const {
    if (options_->stop.stop_requested()) throw Cancelled("compile");
}

void StageDriver::begin(std::string_view stage) {
    check_cancelled();
    if (options_->progress) options_->progress({stage, number_, 8, bucket_, 0});
    ++number_;
}

void StageDriver::dump(std::string_view stage, std::string text) {
    if (text == last_) return;
    const std::string name = fmt::format("{}{}{:02}_{}.txt", bucket_, bucket_.empty() ? "" : "_", number_, stage);
    std::error_code failure;
    std::filesystem::create_directories(options_->dump_stages, failure);
    std::ofstream file(options_->dump_stages / name, std::ios::binary);
    if (!(file << text).flush())
        throw Error(ErrorKind::file, "compile", "cannot write " + (options_->dump_stages / name).string());
    last_ = std::move(text);
}

CompileOptions without_diagnostics(CompileOptions options) {
    options.dump_stages.clear();
    options.verify = false;
    options.progress = nullptr;
    return options;
}

}  // namespace cairn::driver
