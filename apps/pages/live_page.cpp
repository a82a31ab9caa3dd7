#include "live_page.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "../../solvers/run.hpp"
#include "../command.hpp"
#include "../runs/lines.hpp"
#include "../runs/log_file.hpp"
#include "../runs/signals.hpp"
#include "../runs/stage_words.hpp"
#include "local_server.hpp"
#include "page_text.hpp"
#include "preview.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;
using pipeline::LivePicture;
using pipeline::StationBoard;

constexpr std::size_t most_lines = 200;
constexpr double looks_s = 1.5;                  // a browser that asked this recently is still there
constexpr std::chrono::milliseconds holds{500};  // longest time that a question waits for news
constexpr double reads_s = 5;                    // longest time to read the end of a run and its pictures
constexpr int most_held = 4;  // most waiting questions, so that threads are free for others

/// The pictures and where they are served.
constexpr std::array<std::pair<const char*, const char*>, 5> places{{{"iterate", "/iterate.png"},
                                                                     {"newest", "/slice.png"},
                                                                     {"z", "/plane-z.png"},
                                                                     {"y", "/plane-y.png"},
                                                                     {"x", "/plane-x.png"}}};

struct Shown {
  std::shared_ptr<const LivePicture> picture;
  GreyWindow window;
  int number = 0;     ///< counts the pictures at this place
  int asked_for = 0;  ///< the newest that a browser has asked for
  int encoded_number = 0;
  std::string png;  ///< the encoded picture, with that number
};

json json_of(const pipeline::StationState& station) {
  const bool updates = station.done.updates > 0;
  return {{"name", station.name},
          {"slices", station.done.slices},
          {"seconds", station.seconds},
          {"unit", updates ? "updates" : "bytes"},
          {"amount", updates ? station.done.updates : station.done.bytes},
          {"rate", told_rate(station.rate, updates)},
          {"best", told_rate(station.best, updates)},
          {"working", station.working},
          {"waiting", station.waiting < 0 ? json(nullptr) : json(station.waiting)}};
}

}  // namespace

struct LivePage::Impl {
  explicit Impl(int port)
      : nonce(random_word()),
        server({port, "--serve"}, headers_with(nonce),
               [this](const auto& path, const auto& query) { return answer(path, query); }) {}

  std::optional<Content> answer(const std::string& path, const std::string& query);
  void wait_for_news(const std::string& query);
  void tell_news();
  std::string state();
  std::string png(const char* name);
  void show(std::vector<LivePicture> pictures);
  json pictures() const;
  bool all_asked_for() const;
  void wait_until_seen();

  const double start = seconds_now();
  std::mutex mutex;
  std::condition_variable seen, told;
  int news = 0;  ///< counts what the page should show at once
  int held = 0;  ///< questions that wait for news
  json plan = nullptr, forecast = nullptr;
  pipeline::Stage stage;
  json lines = json::array();
  std::string ended;
  bool end_asked_for = false;
  double since = start;     ///< when the reconstruction began, by `seconds_now`
  double asked = -looks_s;  ///< when a browser asked for the state, by `seconds_now`
  std::map<std::string, Shown> shown;
  StationBoard board;
  const std::string nonce;  // only a script with it may run on the page
  LocalServer server;       // the last member, since its thread uses the others
};

std::optional<Content> LivePage::Impl::answer(const std::string& path, const std::string& query) {
  if (path == "/") return Content{"text/html; charset=utf-8", with_nonce(live_page_text, nonce)};
  if (path == "/state.json") {
    wait_for_news(query);
    return Content{"application/json", state()};
  }
  for (const auto& [name, place] : places)
    if (path == place)
      if (std::string bytes = png(name); !bytes.empty()) return Content{"image/png", std::move(bytes)};
  return {};
}

/// Lets a question with "after=NEWS" wait until there is more news, or for a while.
void LivePage::Impl::wait_for_news(const std::string& query) {
  const std::string mark = "after=";
  if (!query.starts_with(mark)) return;
  std::unique_lock lock(mutex);
  const bool knows_all = query.substr(mark.size()) == std::to_string(news);
  if (!knows_all || !ended.empty() || held >= most_held) return;
  ++held;
  told.wait_for(lock, holds, [&, before = news] { return news != before; });
  --held;
}

/// Notes that there is news. @pre the mutex is held
void LivePage::Impl::tell_news() {
  ++news;
  told.notify_all();
}

std::string LivePage::Impl::state() {
  const StationBoard::Snapshot now = board.snapshot();
  json stations = json::array(), curves = json::array();
  for (const auto& station : now.stations) stations.push_back(json_of(station));
  for (const auto& curve : now.curves)
    curves.push_back({{"slices", {curve.slices.first, curve.slices.last}},
                      {"iterations", curve.iterations},
                      {"residuals", curve.residuals}});
  const std::lock_guard lock(mutex);
  asked = seconds_now();
  end_asked_for = !ended.empty();
  seen.notify_all();
  return text_of(
      {{"news", news},
       {"parts", stage_words()},
       {"plan", plan},
       {"forecast", forecast},
       {"seconds", asked - start},
       {"ended", ended},
       {"stage",
        {{"name", stage.name}, {"done", stage.done}, {"total", stage.total}, {"detail", stage.detail}}},
       {"slices", now.slices},
       {"since", since - start},
       {"stations", stations},
       {"curves", curves},
       {"pictures", pictures()},
       {"log", lines}});
}

json LivePage::Impl::pictures() const {
  json list = json::array();
  for (const auto& [name, place] : places) {
    const auto found = shown.find(name);
    if (found == shown.end()) continue;
    const Shown& at = found->second;
    list.push_back({{"name", name},
                    {"file", place + 1},  // beside the page, whose address has the secret
                    {"number", at.number},
                    {"index", at.picture->index},
                    {"count", at.picture->count},
                    {"detail", at.picture->detail},
                    {"width", at.picture->grey.width},
                    {"height", at.picture->grey.height},
                    {"black", at.window.black},
                    {"white", at.window.white}});
  }
  return list;
}

/// The PNG of a picture. It is encoded without the lock, so that the work does not wait.
std::string LivePage::Impl::png(const char* name) {
  std::unique_lock lock(mutex);
  const auto found = shown.find(name);
  if (found == shown.end()) return {};
  Shown& at = found->second;
  if (at.encoded_number != at.number) {
    const Shown now = at;
    lock.unlock();
    std::string bytes = io::png_of(now.picture->grey, now.window.black, now.window.white);
    lock.lock();
    at.png = std::move(bytes), at.encoded_number = now.number;
  }
  at.asked_for = at.encoded_number;
  seen.notify_all();
  return at.png;
}

void LivePage::Impl::show(std::vector<LivePicture> pictures) {
  std::erase_if(pictures, [](const LivePicture& p) { return p.grey.height < fewest_slices; });
  constexpr std::size_t enough = 1 << 16;
  std::vector<std::span<const float>> greys;
  for (const LivePicture& picture : pictures) greys.emplace_back(picture.grey.grey);
  const GreyWindow window = joint_window(greys, enough);
  const std::lock_guard lock(mutex);
  for (LivePicture& picture : pictures) {
    Shown& at = shown[picture.name];
    at.picture = std::make_shared<const LivePicture>(std::move(picture));
    at.window = window;
    ++at.number;
  }
  tell_news();
}

bool LivePage::Impl::all_asked_for() const {
  return end_asked_for && std::all_of(shown.begin(), shown.end(), [](const auto& one) {
           return one.second.asked_for == one.second.number;
         });
}

/// Waits until a browser that watches has all that it has not seen, as `end` says. It asks for a picture when
/// it has the one before.
void LivePage::Impl::wait_until_seen() {
  const double latest = seconds_now() + reads_s;
  std::unique_lock lock(mutex);
  bool watched = seconds_now() - asked <= looks_s, all = false;
  do {
    all = seen.wait_for(lock, std::chrono::seconds(watched ? 1 : 0), [this] { return all_asked_for(); });
    lock.unlock();
    const std::chrono::duration<double> left(latest - seconds_now());
    watched = caught_signal() == 0 && server.wait_for_answers(left);
    lock.lock();
  } while (watched && !all);
}

LivePage::LivePage(int port) : impl_(std::make_unique<Impl>(port)) {}
LivePage::~LivePage() = default;

std::string LivePage::address() const {
  return "http://127.0.0.1:" + std::to_string(impl_->server.port()) + "/" + impl_->server.secret() + "/";
}

const std::string& LivePage::secret() const { return impl_->server.secret(); }

void LivePage::tell_plan(const json& planned, const std::string& output) {
  log("from " + planned.value("input", "") + " to " + output);
  const std::lock_guard lock(impl_->mutex);
  impl_->plan = planned;
  impl_->plan["output"] = output;
  impl_->tell_news();
}

void LivePage::tell_stage(const pipeline::Stage& stage) {
  const std::lock_guard lock(impl_->mutex);
  impl_->stage = stage;
}

void LivePage::log(const std::string& line) {
  const std::lock_guard lock(impl_->mutex);
  impl_->lines.push_back({{"seconds", seconds_now() - impl_->start}, {"text", line}});
  if (impl_->lines.size() > most_lines) impl_->lines.erase(0);
  impl_->tell_news();
}

void LivePage::watch(pipeline::Options& options, const json& forecast) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->forecast = forecast;
    impl_->since = seconds_now();
  }
  options.board = &impl_->board;
  options.show = [this](std::vector<LivePicture> pictures) { impl_->show(std::move(pictures)); };
}

void LivePage::end(const std::string& how) {
  log(how);
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->ended = how;
    if (how == "done")  // the middle planes remain
      for (const char* passing : {"iterate", "newest"}) impl_->shown.erase(passing);
    impl_->tell_news();
  }
  impl_->wait_until_seen();
}

void with_page(const std::optional<Index>& port, const std::function<void(LivePage*)>& work) {
  if (!port) return work(nullptr);
  LivePage page(static_cast<int>(*port));
  keep_out_of_log(page.secret());
  std::cerr << "tandem: this run can be watched at " << page.address() << std::endl;
  try {
    work(&page);
  } catch (const std::exception& e) {
    page.end(one_line("error: ", e.what()));
    throw;
  }
  page.end("done");
}

}  // namespace tandem::apps
