#include "look_picture.hpp"

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

std::string bytes_of(const Pictured& some, int bits) {
  const std::vector<float>& grey = some.picture.grey;
  const std::optional<io::PictureCodes> codes = bits == 16 ? io::codes_for(grey) : std::nullopt;
  nlohmann::json head = some.head;
  head["width"] = some.picture.width, head["height"] = some.picture.height;
  if (codes) head["coded"] = {codes->low, codes->step};
  std::string text = text_of(head);
  text.append(3 - text.size() % 4, ' ');
  text += '\n';
  const std::size_t begin = text.size(),
                    bytes = grey.size() * (codes ? sizeof(std::uint16_t) : sizeof(float));
  text.resize(begin + bytes);
  std::byte* const pixels = reinterpret_cast<std::byte*>(text.data()) + begin;
  codes ? io::write_codes(grey, *codes, pixels) : void(std::memcpy(pixels, grey.data(), bytes));
  return text;
}

}  // namespace tandem::apps
