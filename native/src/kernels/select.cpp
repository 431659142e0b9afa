// Which kernel sets this build has and this CPU can run.
#include "kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mtp {

extern const KernelSet kernel_set_scalar;
#if defined(MTP_HAVE_X86)
extern const KernelSet kernel_set_avx2;
extern const KernelSet kernel_set_emulated_vnni;
#endif
#if defined(MTP_HAVE_AVX_VNNI)
extern const KernelSet kernel_set_avx_vnni;
#endif
#if defined(MTP_HAVE_AVX512_VNNI)
extern const KernelSet kernel_set_avx512_vnni;
#endif

namespace {

#if defined(MTP_HAVE_X86)
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

// leaf 7, sub-leaf 1, EAX bit 4; it needs no more of the operating system than AVX2 does
bool has_avx_vnni() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 4)) != 0;
}

bool has_avx512_vnni() {
    return has_avx2() && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}
#endif

}  // namespace

std::vector<const KernelSet*> kernel_sets_usable() {
    std::vector<const KernelSet*> found;
#if defined(MTP_HAVE_AVX512_VNNI)
    if (has_avx512_vnni()) found.push_back(&kernel_set_avx512_vnni);
#endif
#if defined(MTP_HAVE_AVX_VNNI)
    if (has_avx_vnni()) found.push_back(&kernel_set_avx_vnni);
#endif
#if defined(MTP_HAVE_X86)
    if (has_avx2()) {
        found.push_back(&kernel_set_avx2);
        found.push_back(&kernel_set_emulated_vnni);
    }
#endif
    found.push_back(&kernel_set_scalar);
    return found;
}

std::vector<std::string> kernel_sets_compiled() {
    return {
#if defined(MTP_HAVE_AVX512_VNNI)
        "avx512_vnni",
#endif
#if defined(MTP_HAVE_AVX_VNNI)
        "avx_vnni",
#endif
#if defined(MTP_HAVE_X86)
        "avx2", "emulated_vnni",
#endif
        "scalar"};
}

std::vector<std::string> cpu_features() {
    std::vector<std::string> found;
#if defined(MTP_HAVE_X86)
    if (__builtin_cpu_supports("avx2")) found.push_back("avx2");
    if (__builtin_cpu_supports("fma")) found.push_back("fma");
    if (__builtin_cpu_supports("f16c")) found.push_back("f16c");
    if (has_avx_vnni()) found.push_back("avx_vnni");
    if (__builtin_cpu_supports("avx512f")) found.push_back("avx512f");
    if (__builtin_cpu_supports("avx512vl")) found.push_back("avx512vl");
    if (has_avx512_vnni()) found.push_back("avx512_vnni");
#endif
    return found;
}

}  // namespace mtp
