#pragma once

// The two kinds of real lines: elements on one side, frequencies on the other. An object of a thread is a
// line of two slices. Frequencies that it loads go into shared memory; it multiplies them when they have
// arrived.

#include "../common/ampere.cuh"
#include "lines.hpp"

namespace tandem::kernels::cuda {

/// Neighbours 2 n and 2 n + 1 of a line, in one transaction where that is possible.
template <class T>
struct PairedLine {
  T* data;  ///< null if there is no such slice
  int count;
  bool aligned;  ///< pairs lie at even places
  __device__ float2 load(int first) const {
    if (!data) return {};
    if (aligned && first >= 0 && first + 1 < count)
      return __ldg(reinterpret_cast<const float2*>(data + first));
    return {first >= 0 && first < count ? data[first] : 0.0f,
            first + 1 >= 0 && first + 1 < count ? data[first + 1] : 0.0f};
  }
  __device__ void store(int first, float2 value, const Update& update) const {
    if (!data) return;
    if (aligned && first >= 0 && first + 1 < count)
      return update(*reinterpret_cast<float2*>(data + first), value);
    if (first >= 0 && first < count) update(data[first], value.x);
    if (first + 1 >= 0 && first + 1 < count) update(data[first + 1], value.y);
  }
};

/// Lines of an image that begin at even places or not.
template <class T>
struct PairedLines {
  Image<T> image;
  int count;
  bool aligned;
  __device__ PairedLine<T> operator()(Index i0, Index i1, bool there) const {
    return {there ? &element(image, i0, i1, 0) : nullptr, count, aligned};
  }
};

/// Conjugates if wanted: changes the sign bits of imaginary parts.
__device__ inline Two conjugate_if(bool wanted, Two a) {
  const int sign = wanted ? static_cast<int>(0x80000000u) : 0;
  const auto changed = [&](float value) { return __int_as_float(__float_as_int(value) ^ sign); };
  return {{a.first.x, changed(a.first.y)}, {a.second.x, changed(a.second.y)}};
}

/// The rows of views: bins, and samples of their rays.
template <class T>
struct BinRows {
  DevicePlan plan;
  FourierSlices at;
  FourierWeights weights;
  PairedLines<T> rows;
  float2* samples;
  Update update;
  int blocks = 0;  ///< blocks of threads, if there were one for each line

  struct Line {
    const BinRows& all;
    int view, slice, apart;
    float weight;
    bool turned;
    PairedLine<T> first, second;
    Two* samples;

    __device__ Line(const BinRows& a, int v, int s)
        : all(a),
          view(v),
          slice(s),
          apart(a.at.lanes / 2),
          weight(__ldg(a.weights.of_view + v)),
          turned(a.plan.turned[v]),
          first(a.rows(v, a.at.first + s, s < a.at.count)),
          second(a.rows(v, a.at.first + s + 1, s + 1 < a.at.count)),
          samples(reinterpret_cast<Two*>(a.samples + Index{v} * a.plan.samples * a.at.lanes + s)) {}
    __device__ Two load(int n) const { return {first.load(2 * n), second.load(2 * n)}; }
    __device__ void store(int n, Two value) const {
      first.store(2 * n, value.first, all.update);
      second.store(2 * n, value.second, all.update);
    }
    __device__ void begin_frequency(int k, Two* to) const {
      const bool there = k < all.plan.samples;
      begin_copy(to, samples + (there ? k * apart : 0), there);
    }
    /// Frequency u + j sixteenth. The first and the last have half the weight, since samples k and -k meet
    /// there.
    __device__ Two frequency(int u, int j, Two sample) const {
      const int k = u + j * all.plan.phases.sixteenth;
      if (k >= all.plan.samples) return {};
      const float twice = k == 0 || 2 * k == all.plan.length ? 2.0f : 1.0f;
      const Two value = conjugate(twice * factor(u, j, k)) * conjugate_if(turned, sample);
      return all.weights.moves.table ? moved(value, u, j, true) : value;
    }
    __device__ void put_frequency(int u, int j, Two value) const {
      const int k = u + j * all.plan.phases.sixteenth;
      if (k >= all.plan.samples) return;
      const Two sample = (0.5f * factor(u, j, k)) * value;
      samples[k * apart] =
          conjugate_if(turned, all.weights.moves.table ? moved(sample, u, j, false) : sample);
    }

   private:
    __device__ float2 factor(int u, int j, int k) const {
      const float2 phase = all.plan.phases.at(view, u) * all.plan.phases.turn(view, j);
      return (weight * __ldg(all.weights.of_frequency + k)) * phase;
    }
    /// Moves each slice's row by its own shift, or back.
    __device__ Two moved(Two value, int u, int j, bool back) const {
      const auto move = [&](int s) {
        if (s >= all.at.count) return float2{1, 0};
        const Phases& moves = all.weights.moves;
        const float2 m = moves.at(all.at.first + s, u) * moves.turn(all.at.first + s, j);
        return back ? conjugate(m) : m;
      };
      return {value.first * move(slice), value.second * move(slice + 1)};
    }
  };
};

/// The same for rows that go on beyond their ends.
struct ContinuedRows : BinRows<const float> {
  const float2* ends;  ///< values: (view, slice)

  struct Line : BinRows<const float>::Line {
    float4 ends;  ///< low and high of one slice, then of the other
    __device__ Line(const ContinuedRows& a, int v, int s)
        : BinRows<const float>::Line(a, v, s),
          ends(__ldg(reinterpret_cast<const float4*>(a.ends + Index{v} * a.at.lanes + s))) {}
    __device__ Two load(int n) const {
      const Beyond& beyond = all.weights.beyond;
      const float2 before = __ldg(reinterpret_cast<const float2*>(beyond.before) + n),
                   after = __ldg(reinterpret_cast<const float2*>(beyond.after) + n);
      return BinRows<const float>::Line::load(n) +
             Two{ends.x * before + ends.y * after, ends.z * before + ends.w * after};
    }
  };
};

/// The pixel at a cell, where the middle one is at 0; not in [0, pixels) if there is none.
__device__ inline int pixel_at(int cell, int pixels, int cells) {
  const int before = pixels / 2;
  return cell < cells - before ? cell + before : cell + before - cells;
}

/// Rows of pixels, and rows of cells that are transformed along y.
template <class T>
struct PixelRows {
  DevicePlan plan;
  FourierSlices at;
  PairedLines<T> volume;
  float2* grid;
  float scale;
  Update update;
  int blocks = 0;

  struct Line {
    const PixelRows& all;
    float gain;
    PairedLine<T> first, second;
    Two* cells;
    int apart;

    __device__ Line(const PixelRows& a, int y, int s)
        : all(a),
          gain(a.scale * __ldg(a.plan.gain_y + y)),
          first(a.volume(a.at.first + s, y, s < a.at.count)),
          second(a.volume(a.at.first + s + 1, y, s + 1 < a.at.count)),
          apart(a.plan.cells_y * (a.at.lanes / 2)) {
      const int before = a.plan.ny / 2, cell = y < before ? y - before + a.plan.cells_y : y - before;
      cells = reinterpret_cast<Two*>(a.grid + Index{cell} * a.at.lanes + s);
    }
    __device__ Two load(int n) const {
      const int x = first_pixel(n);
      if (!meets(x)) return {};
      const float2 gains{gain * gain_at(x), gain * gain_at(x + 1)}, a = first.load(x), b = second.load(x);
      return {{gains.x * a.x, gains.y * a.y}, {gains.x * b.x, gains.y * b.y}};
    }
    __device__ void store(int n, Two value) const {
      const int x = first_pixel(n);
      if (!meets(x)) return;
      const float2 gains{gain * gain_at(x), gain * gain_at(x + 1)};
      first.store(x, {gains.x * value.first.x, gains.y * value.first.y}, all.update);
      second.store(x, {gains.x * value.second.x, gains.y * value.second.y}, all.update);
    }
    __device__ void begin_frequency(int k, Two* to) const { begin_copy(to, cells + Index{k} * apart, true); }
    __device__ Two frequency(int, int, Two value) const { return value; }
    __device__ void put_frequency(int u, int j, Two value) const { cells[column(u, j)] = value; }

   private:
    __device__ Index column(int u, int j) const { return Index{u + j * (all.plan.cells_x / 16)} * apart; }
    /// The first pixel of cells 2 n and 2 n + 1; -1 if only the second one has a pixel.
    __device__ int first_pixel(int n) const {
      const int before = all.plan.nx / 2, cell = 2 * n;
      return cell < all.plan.nx - before ? cell + before : cell + before - all.plan.cells_x;
    }
    __device__ bool meets(int x) const { return x >= -1 && x < all.plan.nx; }
    __device__ float gain_at(int x) const {
      return x >= 0 && x < all.plan.nx ? __ldg(all.plan.gain_x + x) : 0.0f;
    }
  };
};

}  // namespace tandem::kernels::cuda
