// tandem look: a scan on a page, where options are tried out, or a volume.

#include <csignal>
#include <iostream>
#include <thread>

#include "../look/look_server.hpp"
#include "../runs/log_file.hpp"
#include "../runs/progress.hpp"
#include "../runs/signals.hpp"

namespace tandem::apps {

namespace {

void wait_for_signal() {
  while (caught_signal() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void run_look(const LookCommand& o) {
  const ThreadLimit limit(o.recon.common.threads);
  const ProgressLine notes(o.recon.common);
  expect_outputs(false);  // until a page asks for a run
  const LookServer server(o);
  keep_out_of_log(server.secret());
  std::cout << "look at " << server.address() << std::endl;
  if (!o.recon.common.quiet) std::cerr << "tandem: end it by Ctrl-C" << std::endl;
  wait_for_signal();
  if (caught_signal() != SIGINT) throw_if_interrupted();
}

void add_look(Table& c) {
  auto o = std::make_shared<LookCommand>();
  add_look_options(c, *o);
  c.work = [o] { run_look(*o); };
  c.common({"flats", "darks", "arc", "detector-rows", "rotation-axis", "follow", "config", "like", "port",
            "beside"});
  c.footer =
      "Examples:\n"
      "  tandem look scan.h5\n"
      "  tandem look monday/*.h5\n"
      "  tandem look folder --flats flats.tif --darks darks.tif --arc 180 --port 8080\n"
      "  tandem look volume.h5 --beside other.zarr";
}

}  // namespace

extern const Command look_command{"look", "A scan on a page, to try out options; or a volume", add_look,
                                  false};

}  // namespace tandem::apps
