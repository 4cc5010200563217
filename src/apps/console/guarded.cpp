#include "apps/console/guarded.hpp"

#include "apps/console/interrupt.hpp"
#include "apps/console/standard_streams.hpp"
#include "cairn/error.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <new>
#include <string>

namespace cairn::console {

int guarded(CLI::App& app, const std::function<int()>& work) {
    try {
        return work();
    } catch (const CLI::Success& success) { return app.exit(success); } catch (const CLI::Error& error) {
        print_to_stderr(std::string("[command line] ") + error.what());
    } catch (const BrokenPipe&) { return 0; } catch (const Cancelled&) {
        print_to_stderr("[" + app.get_name() + "] stopped");
        return interrupted;
    } catch (const std::bad_alloc&) {
        print_to_stderr("[memory] there is not enough memory");
    } catch (const std::exception& error) { print_to_stderr(error.what()); }
    return fault;
}

}  // namespace cairn::console
