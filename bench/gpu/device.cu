// What a visit to a GPU runs beside the prepared kernels: data made on the device, samples taken there, and ceilings.
// Every parameter is 8 bytes wide. No shared memory and no barriers: tests/cuda/emulator runs the same text.
typedef long long i64;
typedef unsigned long long u64;

#define EACH(i, n) \
  for (i64 i = (i64)blockIdx.x * 256 + threadIdx.x; i < (i64)(n); i += (i64)gridDim.x * 256)

// random_bits of tests/cuda/candidate_graph.cpp.
static __device__ __forceinline__ u64 bits_of(u64 seed, u64 i) {
  u64 z = (seed + 1) * 0xd1342543de82ef95ull + (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// Codes of types: f32 0, f64 1, i32 2, i64 3, bool 4, u8 5, i8 6. Row-major; low and high are the bits of doubles.
extern "C" __global__ void __launch_bounds__(256)
    visit_fill(char* out, i64 n, i64 seed, i64 low_bits, i64 high_bits, i64 count, i64 type) {
  const double low = __longlong_as_double(low_bits), high = __longlong_as_double(high_bits);
  EACH(i, n) {
    const u64 unit = bits_of((u64)seed, (u64)i) >> 40;
    const double value = low + (double)unit / 16777216.0 * (high - low);
    const i64 integer = type == 4 ? (unit < 8388608 ? 0 : 1) : (i64)((unit * (u64)count) >> 24);
    if (type == 0) ((float*)out)[i] = (float)value;
    if (type == 1) ((double*)out)[i] = value;
    if (type == 2) ((int*)out)[i] = (int)integer;
    if (type == 3) ((i64*)out)[i] = integer;
    if (type >= 4) out[i] = (char)integer;
  }
}

// desc: rank, blocked axis or -1, block, extents, strides (of the blocked axis: of a block).
static __device__ __forceinline__ i64 offset_of(const i64* desc, i64 i) {
  const i64 rank = desc[0];
  i64 offset = 0;
  for (i64 axis = rank - 1; axis >= 0; --axis) {
    const i64 extent = desc[3 + axis], stride = desc[3 + rank + axis], index = i % extent;
    i /= extent;
    offset += axis == desc[1] ? index / desc[2] * stride + index % desc[2] : index * stride;
  }
  return offset;
}

extern "C" __global__ void __launch_bounds__(256)
    visit_place(char* out, const char* in, i64 n, const i64* desc, i64 size) {
  EACH(i, n) {
    const i64 at = offset_of(desc, i);
    for (i64 byte = 0; byte < size; ++byte) out[at * size + byte] = in[i * size + byte];
  }
}

// The packing `columns` of 4-byte elements, n of them with the padding. desc: stride between matrices, outer terms and
// their stride, inner terms and theirs, columns and theirs, lanes of a block, of the last one.
extern "C" __global__ void __launch_bounds__(256) visit_columns(int* out, const int* in, i64 n, const i64* desc) {
  const i64 inner = desc[3], terms = desc[1] * inner, columns = desc[5], block = desc[7], tail = desc[8];
  const i64 full = columns / block, matrix = terms * (full * block + (columns % block ? tail : 0));
  EACH(e, n) {
    i64 rest = e % matrix;
    const bool last = rest >= full * terms * block;
    const i64 lanes = last ? tail : block;
    const i64 first = last ? full * block : rest / (terms * block) * block;
    rest -= first * terms;
    const i64 term = rest / lanes, column = first + rest % lanes;
    const i64 at = e / matrix * desc[0] + term / inner * desc[2] + term % inner * desc[4] + column * desc[6];
    out[e] = column < columns ? in[at] : 0;
  }
}

// The packing `winograd`: sums of weights by rows of `matrix`. desc: transformed elements, results and channels (of a
// part), channels of all parts, taps, parts, lanes of a block, of the last one.
extern "C" __global__ void __launch_bounds__(256)
    visit_winograd(float* out, const float* in, i64 n, const i64* desc, const double* matrix) {
  const i64 elements = desc[0], columns = desc[1], channels = desc[2], taps = desc[4], parts = desc[5];
  const i64 block = desc[6], full = columns / block, size = elements * channels;
  EACH(e, n) {
    const bool last = e >= full * size * block;
    const i64 lanes = last ? desc[7] : block, first = last ? full * block : e / (size * block) * block;
    const i64 rest = e - first * size;
    const i64 column = first + rest % lanes, channel = rest / lanes % channels, element = rest / lanes / channels;
    double sum = 0;
    if (column < columns)
      for (i64 a = 0; a < parts; ++a)
        for (i64 b = 0; b < parts; ++b)
          for (i64 tap = 0; tap < taps; ++tap)
            sum += matrix[(element * parts * parts + a * parts + b) * taps + tap] *
                   (double)in[((a * columns + column) * desc[3] + b * channels + channel) * taps + tap];
    out[e] = (float)sum;
  }
}

// `count` of `total` elements, one of each of `count` equal runs (sampled_element of tests/cuda/gpu/visit_jobs.cpp).
extern "C" __global__ void __launch_bounds__(256)
    visit_sample(double* out, const char* in, i64 count, i64 total, i64 seed, const i64* desc, i64 type) {
  EACH(k, count) {
    const i64 begin = k * total / count, end = (k + 1) * total / count;
    const i64 at = offset_of(desc, begin + (i64)(bits_of((u64)seed, (u64)k) % (u64)(end - begin)));
    double value = 0;
    if (type == 0) value = ((const float*)in)[at];
    if (type == 1) value = ((const double*)in)[at];
    if (type == 2) value = ((const int*)in)[at];
    if (type == 3) value = (double)((const i64*)in)[at];
    if (type == 4 || type == 5) value = ((const unsigned char*)in)[at];
    if (type == 6) value = ((const signed char*)in)[at];
    out[k] = value;
  }
}

extern "C" __global__ void __launch_bounds__(256) visit_empty() {}

extern "C" __global__ void __launch_bounds__(256) visit_copy(float4* out, const float4* in, i64 n) {
  EACH(i, n) out[i] = in[i];
}

// Reads n values, a power of two, `times` times; what small n leaves in the L2 cache comes from there.
extern "C" __global__ void __launch_bounds__(256) visit_read(float* out, const float4* in, i64 n, i64 times) {
  float sum = 0;
  for (i64 time = 0; time < times; ++time)
    EACH(i, n) {
      const float4 value = in[(i + time * 4096) & (n - 1)];
      sum += value.x + value.y + value.z + value.w;
    }
  if (sum == 1.25f) out[0] = sum;
}

// 16 multiply-adds per thread and turn, in chains that do not depend on each other.
extern "C" __global__ void __launch_bounds__(256) visit_ffma(float* out, i64 turns) {
  float x[16];
  for (int c = 0; c < 16; ++c) x[c] = (float)(threadIdx.x + c);
  const float factor = 0.999f, term = 0.001f;
  for (i64 turn = 0; turn < turns; ++turn)
    for (int c = 0; c < 16; ++c) x[c] = x[c] * factor + term;
  float sum = 0;
  for (int c = 0; c < 16; ++c) sum += x[c];
  if (sum == 1.25f) out[0] = sum;
}
