#include "look_server.hpp"

#include <algorithm>
#include <array>

#include "../../core/error.hpp"
#include "../../core/process_memory.hpp"
#include "../../core/units.hpp"
#include "../options/command_line.hpp"
#include "../options/scan_options.hpp"
#include "../pages/page_text.hpp"
#include "../runs/log_file.hpp"
#include "look_session.hpp"
#include "volume_session.hpp"

namespace tandem::apps {

namespace {

constexpr const char* of_notebooks = "http://127.0.0.1:* http://localhost:*";

/// Calls visit(option) for each option that a person gave.
template <class Visit>
void for_given(const ReconOptions& o, const Visit& visit) {
  for (const Option& row : o.command->rows())
    if (!row.is_argument && row.is_typed()) visit(row);
}

/// Options that say what a run does with the volume have no meaning here.
void require_options_of_scan(const LookCommand& o) {
  if (!o.beside.empty())
    throw UsageError("--beside " + o.beside + ": goes with a volume; " + o.recon.scans.front() +
                     " is a scan");
  for_given(o.recon, [](const Option& row) {
    if (!look_takes(row)) throw UsageError(row.spelled() + " goes with tandem recon");
  });
  const ReconOptions& r = o.recon;
  for (const auto& [option, given] : {std::pair{"--rotation-axis auto", r.recipe.find_axis},
                                      {"--views", r.given("--views")},
                                      {"--time", r.given("--time")}})
    if (r.recipe.follow && given)
      throw UsageError(std::string(option) + " does not go with --follow, as not all views are there");
}

void require_options_of_volume(const LookCommand& o) {
  if (o.recon.scans.size() > 1)
    throw UsageError(o.recon.scans.front() +
                     " is a volume, of which one is looked at; give --beside for another");
  constexpr std::array known{"config", "like", "port", "beside", "memory", "threads", "allow-external-files",
                             "quiet",  "help"};
  for_given(o.recon, [&](const Option& row) {
    if (std::ranges::find(known, row.name) == known.end())
      throw UsageError(row.spelled() + " goes with a scan; " + o.recon.scans.front() + " is a volume");
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
  const double memory = o.recon.memory_gib ? *o.recon.memory_gib * bytes_per_gib : spare_host_memory();
  LookedVolume looked(o.recon.scans.front(), std::move(volume), memory);
  if (!o.beside.empty()) looked.put_beside(o.beside, volume_at(o, o.beside));
  return looked;
}

}  // namespace

void add_look_options(Table& c, LookCommand& o) {
  add_recon_options(c, o.recon);
  for (Option& row : c.rows()) {  // a recipe may have options of solvers
    const bool is_help = row.name == "help" || row.name == "help-all";
    if (!row.is_argument && !is_help && !(look_takes(row) && applies(o.recon, row.spelled())))
      row.is_hidden = true;
  }
  c.applies = [&o](const Option& row) { return look_takes(row) && applies(o.recon, row.spelled()); };
  c.at("scan").help = std::string(what_a_scan_is) +
                      ", or a volume; the first one is looked at, and a recipe may be run for the others";
  c.heading("Page");
  c.add("--port", On::files, o.port, "of 127.0.0.1, where the page is served (default 0: any free one)")
      .check(count(0, 65535))
      .of_kind("PORT");
  c.add("--beside", On::run, o.beside, "another volume, of the same grid or a part of it, to compare with")
      .of_kind("VOLUME");
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
  LookCommand o;
  Table table("look", "");
  add_look_options(table, o);
  give(table, {words.begin() + 1, words.end()});
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
