// tandem look: a scan on a page, where options are tried out.

#include <csignal>
#include <iostream>
#include <thread>

#include "../look/look_session.hpp"
#include "../options/command_line.hpp"
#include "../pages/page_text.hpp"
#include "../runs/log_file.hpp"
#include "../runs/signals.hpp"

namespace tandem::apps {

namespace {

struct LookCommand {
  ReconOptions recon;
  Index port = 0;
};

/// Refuses options about what a run does with the volume, which have no meaning here.
void require_look_options(const ReconOptions& o) {
  for (const CLI::Option* option : o.command->get_options())
    if (!option->get_lnames().empty() && option->count() > 0 && option->get_lnames().front() != "port" &&
        !look_takes(option->get_lnames().front()))
      throw UsageError("--" + option->get_lnames().front() + " goes with tandem recon");
}

/// Whether the help lists an option. Options of solvers are accepted, since a recipe may have them, but have
/// no effect.
bool shows(const ReconOptions& o, const std::string& option) {
  return look_takes(option) && applies(o, "--" + option);
}

void wait_for_signal() {
  while (caught_signal() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void run_look(const LookCommand& o) {
  require_look_options(o.recon);
  const ThreadLimit limit(o.recon.common.threads);
  LookSession session(o.recon);
  const std::string nonce = random_word();
  const LocalServer server(
      {static_cast<int>(o.port), "--port"}, headers_with(nonce),
      [&](const std::string& path, const std::string&) -> std::optional<Content> {
        if (path == "/") return Content{"text/html; charset=utf-8", with_nonce(look_page_text, nonce)};
        return session.answer(path);
      },
      [&](const std::string& path, const std::string& body) { return session.obey(path, body); });
  keep_out_of_log(server.secret());
  std::cout << "look at http://127.0.0.1:" << server.port() << '/' << server.secret() << '/' << std::endl;
  if (!o.recon.common.quiet) std::cerr << "tandem: end it by Ctrl-C" << std::endl;
  wait_for_signal();
  session.end();
  if (caught_signal() != SIGINT) throw_if_interrupted();
}

}  // namespace

void add_look(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<LookCommand>();
  CLI::App& c = *program.add_subcommand("look", "A scan on a page, to try out options");
  add_recon_options(c, o->recon);
  for (CLI::Option* option : c.get_options())
    if (!option->get_lnames().empty() && !shows(o->recon, option->get_lnames().front())) option->group("");
  c.get_option("scan")->description(std::string(what_a_scan_is) +
                                    "; the first one is looked at, and a recipe may be run for the others");
  heading(c, "Page");
  c.add_option("--port", o->port, "of 127.0.0.1, where the page is served (default 0: any free one)")
      ->check(count(0, 65535))
      ->type_name("PORT");
  c.callback([o, &chosen] { chosen = [o] { run_look(*o); }; });
  c.footer(
      "Examples:\n"
      "  tandem look scan.h5\n"
      "  tandem look monday/*.h5\n"
      "  tandem look folder --flats flats.tif --darks darks.tif --arc 180 --port 8080");
}

}  // namespace tandem::apps
