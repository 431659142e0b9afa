// Which kernel sets this build has and this CPU can run.
#include "kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
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
#if defined(MTP_HAVE_ARM)
extern const KernelSet kernel_set_neon;
#endif
#if defined(MTP_HAVE_DOTPROD)
extern const KernelSet kernel_set_dotprod;
#endif
#if defined(MTP_HAVE_I8MM)
extern const KernelSet kernel_set_i8mm;
#endif

namespace {

#if defined(MTP_HAVE_ARM)
// What the operating system says of a 64-bit Arm CPU, by its names for HWCAP bits; NEON is always there.
struct ArmFeature {
    const char* name;
    const char* sysctl;  // macOS
    int word, bit;       // Linux and Android: AT_HWCAP or AT_HWCAP2, as the kernel's interface numbers them
};
constexpr ArmFeature kDotprod = {"dotprod", "hw.optional.arm.FEAT_DotProd", 0, 20};
constexpr ArmFeature kI8mm = {"i8mm", "hw.optional.arm.FEAT_I8MM", 1, 13};
constexpr ArmFeature kSve = {"sve", "", 0, 22};
constexpr ArmFeature kSve2 = {"sve2", "", 1, 1};

bool has(const ArmFeature& feature) {
#if defined(__APPLE__)
    int value = 0;
    size_t size = sizeof(value);
    return *feature.sysctl && sysctlbyname(feature.sysctl, &value, &size, nullptr, 0) == 0 && value != 0;
#elif defined(__linux__)
    const unsigned long words[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    return (words[feature.word] >> feature.bit & 1) != 0;
#else
    return false;
#endif
}
#endif

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
#if defined(MTP_HAVE_I8MM)
    if (has(kI8mm)) found.push_back(&kernel_set_i8mm);
#endif
#if defined(MTP_HAVE_DOTPROD)
    if (has(kDotprod)) found.push_back(&kernel_set_dotprod);
#endif
#if defined(MTP_HAVE_ARM)
    found.push_back(&kernel_set_neon);
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
        "avx2",        "emulated_vnni",
#endif
#if defined(MTP_HAVE_I8MM)
        "i8mm",
#endif
#if defined(MTP_HAVE_DOTPROD)
        "dotprod",
#endif
#if defined(MTP_HAVE_ARM)
        "neon",
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
#if defined(MTP_HAVE_ARM)
    found.push_back("neon");
    for (const ArmFeature* feature : {&kDotprod, &kI8mm, &kSve, &kSve2}) {
        if (has(*feature)) found.push_back(feature->name);
    }
#endif
    return found;
}

}  // namespace mtp
