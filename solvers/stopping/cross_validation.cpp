#include "cross_validation.hpp"

#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/vector.hpp"
#include "past_the_least.hpp"

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

StopRule cross_validation(std::function<std::vector<double>()> freedom, std::vector<Index> data,
                          double factor) {
  return past_the_least("gcv", [freedom = std::move(freedom), data = std::move(data),
                                factor](const Progress& now) {
    std::vector<double> measure = freedom();
    require<SpaceError>(measure.size() == data.size() && data.size() == now.residuals.size(),
                        "cross_validation: ", measure.size(), " degrees of freedom and ", data.size(),
                        " counts of data for ", now.residuals.size(), " blocks; give one of each per block");
    for (std::size_t k = 0; k < data.size(); ++k) {
      const double rest = data[k] - factor * measure[k];
      measure[k] = rest > 0 ? std::pow(now.residuals[k] / rest, 2) : INFINITY;
    }
    return measure;
  });
}

}  // namespace tandem
