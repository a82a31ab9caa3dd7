#include "look_server.hpp"

#include <algorithm>
#include <array>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../pipeline/memory/budget.hpp"
#include "../options/command_line.hpp"
#include "../options/scan_options.hpp"
#include "../pages/page_text.hpp"
#include "../runs/log_file.hpp"
#include "look_session.hpp"
#include "volume_session.hpp"

namespace tandem::apps {

namespace {

constexpr const char* of_notebooks = "http://127.0.0.1:* http://localhost:*";

/// Calls visit(option, name) for each option that was given.
template <class Visit>
void for_given(const ReconOptions& o, const Visit& visit) {
  for (const CLI::Option* option : o.command->get_options())
    if (!option->get_lnames().empty() && option->count() > 0) visit(*option, option->get_lnames().front());
}

/// Options that say what a run does with the volume have no meaning here.
void require_options_of_scan(const LookCommand& o) {
  if (!o.beside.empty())
    throw UsageError("--beside " + o.beside + ": goes with a volume; " + o.recon.scans.front() +
                     " is a scan");
  for_given(o.recon, [](const CLI::Option& option, const std::string& name) {
    if (!look_takes(option)) throw UsageError("--" + name + " goes with tandem recon");
  });
  const ReconOptions& r = o.recon;
  for (const auto& [option, given] : {std::pair{"--rotation-axis auto", r.axis_auto},
                                      {"--views", r.given("--views")},
                                      {"--time", r.given("--time")}})
    if (r.recipe.follow && given)
      throw UsageError(std::string(option) + " does not go with --follow, as not all views are there");
}

void require_options_of_volume(const LookCommand& o) {
  if (o.recon.scans.size() > 1)
    throw UsageError(o.recon.scans.front() +
                     " is a volume, of which one is looked at; give --beside for another");
  constexpr std::array known{"port", "beside", "memory", "threads", "allow-external-files", "quiet", "help"};
  for_given(o.recon, [&](const CLI::Option&, const std::string& name) {
    if (std::ranges::find(known, name) == known.end())
      throw UsageError("--" + name + " goes with a scan; " + o.recon.scans.front() + " is a volume");
  });
}

using Reader = std::unique_ptr<io::VolumeReader>;

Reader volume_at(const LookCommand& o, const std::string& path) {
  return std::make_unique<io::VolumeReader>(path, o.recon.scan.how.allow_external_files);
}

/// The volume that is named; null if it is a scan.
Reader looked_volume(const LookCommand& o) {
  ScanOptions scan = o.recon.scan;
  scan.path = o.recon.scans.front();
  if (Reader known = volume_in(scan)) return known;
  return o.beside.empty() ? nullptr : volume_at(o, scan.path);
}

LookedVolume looked_volumes(const LookCommand& o, Reader volume) {
  const double memory =
      o.recon.memory_gib ? *o.recon.memory_gib * bytes_per_gib : pipeline::spare_host_memory();
  LookedVolume looked(o.recon.scans.front(), std::move(volume), memory);
  if (!o.beside.empty()) looked.put_beside(o.beside, volume_at(o, o.beside));
  return looked;
}

}  // namespace

void add_look_options(CLI::App& c, LookCommand& o) {
  add_recon_options(c, o.recon);
  for (CLI::Option* option : c.get_options()) {  // a recipe may have options of solvers
    if (option->get_lnames().empty()) continue;
    if (!look_takes(*option) || !applies(o.recon, "--" + option->get_lnames().front())) option->group("");
  }
  c.get_option("scan")->description(std::string(what_a_scan_is) +
                                    ", or a volume; the first one is looked at, and a recipe may be run for "
                                    "the others");
  heading(c, "Page");
  c.add_option("--port", o.port, "of 127.0.0.1, where the page is served (default 0: any free one)")
      ->check(count(0, 65535))
      ->type_name("PORT")
      ->configurable(false);
  c.add_option("--beside", o.beside, "another volume, of the same grid or a part of it, to compare with")
      ->type_name("VOLUME")
      ->option_text(of_run);
}

template <class Session>
void LookServer::serve(std::shared_ptr<Session> session, const char* page, int port) {
  end_ = [session] { session->end(); };
  const std::string nonce = random_word();
  server_ = std::make_unique<LocalServer>(
      Port{port, "--port"}, headers_with(nonce, ancestors_),
      [session, page, nonce](const std::string& path, const std::string&) -> std::optional<Content> {
        if (path == "/") return Content{"text/html; charset=utf-8", with_nonce(page, nonce)};
        return session->answer(path);
      },
      [session](const std::string& path, const std::string& body) { return session->obey(path, body); });
}

void LookServer::open(const LookCommand& o) {
  const auto port = static_cast<int>(o.port);
  if (Reader volume = looked_volume(o)) {
    require_options_of_volume(o);
    return serve(std::make_shared<VolumeSession>(looked_volumes(o, std::move(volume))), look_volume_page_text,
                 port);
  }
  require_options_of_scan(o);
  serve(std::make_shared<LookSession>(o.recon), look_page_text, port);
}

LookServer::LookServer(const LookCommand& o) { open(o); }

LookServer::LookServer(const std::vector<std::string>& words) : ancestors_(of_notebooks) {
  CLI::App program("", "tandem");
  LookCommand o;
  add_look_options(*program.add_subcommand("look", ""), o);
  program.require_subcommand(1);
  prepare(program);
  std::vector<std::string> all{"tandem"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  if (!parse(program, static_cast<int>(arguments.size()), arguments.data()))
    throw UsageError("help is on the command line");
  open(o);
}

LookServer::LookServer(LookedVolume volume) : ancestors_(of_notebooks) {
  serve(std::make_shared<VolumeSession>(std::move(volume)), look_volume_page_text, 0);
}

LookServer::~LookServer() {
  if (end_) end_();
}

std::string LookServer::address() const {
  return "http://127.0.0.1:" + std::to_string(server_->port()) + '/' + server_->secret() + '/';
}

}  // namespace tandem::apps
