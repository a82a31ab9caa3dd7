#include "solver.hpp"

#include "../core/error.hpp"
#include "../operators/vector.hpp"

namespace tandem {

std::pair<Sums, Sums> Sums::leader_and_follower() {
  Sums leader, follower;
  leader.passed_ = follower.passed_ = std::make_shared<std::deque<std::vector<double>>>();
  follower.follows_ = true;
  return {std::move(leader), std::move(follower)};
}

std::vector<double> Sums::passed(std::vector<double> (*sums)(ConstVectorView, ConstVectorView, Stream&),
                                 ConstVectorView a, ConstVectorView b, Stream& stream) {
  if (!follows_) {
    std::vector<double> all = sums(a, b, stream);
    if (passed_) passed_->push_back(all);
    return all;
  }
  require<SpaceError>(!passed_->empty(), "Sums: a follower is ahead of its leader");
  std::vector<double> all = std::move(passed_->front());
  passed_->pop_front();
  return all;
}

std::vector<double> Sums::dot(ConstVectorView a, ConstVectorView b, Stream& stream) {
  return passed(tandem::dot, a, b, stream);
}

std::vector<double> Sums::norm(ConstVectorView a, Stream& stream) {
  const auto length = [](ConstVectorView x, ConstVectorView, Stream& s) { return tandem::norm(x, s); };
  return passed(length, a, a, stream);
}

std::vector<double> degrees_of_freedom(const Array& signs, const Array& left) {
  Stream& stream = default_stream(signs.space().device());
  std::vector<double> freedom = dot(signs, signs, stream);
  const std::vector<double> rest = dot(signs, left, stream);
  for (std::size_t k = 0; k < freedom.size(); ++k) freedom[k] -= rest[k];
  return freedom;
}

}  // namespace tandem
