#include "look_picture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "../../io/picture_codes.hpp"
#include "../command.hpp"
#include "look_command.hpp"

namespace tandem::apps {

int bits_in(const nlohmann::json& asked) {
  const Index bits = whole_of(asked, "bits", 32, {16, 33});
  if (bits != 16 && bits != 32) throw UsageError("bits: 16 or 32 is needed");
  return static_cast<int>(bits);
}

/// A text of any length and content. When its last user is gone, it waits for the next one, unless it is so
/// long that few pictures are.
std::shared_ptr<std::string> PictureAnswers::text() {
  constexpr std::size_t most = 2, longest = std::size_t{1} << 25;
  const std::lock_guard lock(spare_->mutex);
  auto one = std::make_unique<std::string>();
  if (!spare_->texts.empty()) {
    one = std::move(spare_->texts.back());
    spare_->texts.pop_back();
  }
  return {one.release(), [spare = spare_](std::string* used) {
            std::unique_ptr<std::string> own(used);
            const std::lock_guard back(spare->mutex);
            if (spare->texts.size() < most && own->size() <= longest) spare->texts.push_back(std::move(own));
          }};
}

Content PictureAnswers::answer(const Pictured& some, int bits) {
  const std::span<const float> grey = some.grey();
  const std::optional<io::PictureCodes> codes = bits == 16 ? io::codes_for(grey) : std::nullopt;
  nlohmann::json head = some.head;
  head["width"] = some.picture.width, head["height"] = some.picture.height;
  if (codes) head["coded"] = {codes->low, codes->step};
  std::string line = text_of(head);
  line.append(3 - line.size() % 4, ' ');
  line += '\n';
  const std::shared_ptr<std::string> all = text();
  all->resize(line.size() + grey.size() * (codes ? sizeof(std::uint16_t) : sizeof(float)));
  std::ranges::copy(line, all->begin());
  std::byte* const pixels = reinterpret_cast<std::byte*>(all->data()) + line.size();
  codes ? io::write_codes(grey, *codes, pixels) : void(std::memcpy(pixels, grey.data(), grey.size_bytes()));
  return {.type = "application/octet-stream", .body = {}, .kept = all};
}

}  // namespace tandem::apps
