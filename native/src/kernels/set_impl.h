// The table of one kernel set; included once per instruction set, after its `Simd`.
#pragma once

#include "attention_impl.h"
#if defined(MTP_ARM_SIMD)
#include "arm_matmul_impl.h"
#else
#include "matmul_impl.h"
#endif
#include "ops_impl.h"
#include "screen_impl.h"

#define MTP_KERNEL_SET(variable, set_name)                                                                   \
    namespace mtp {                                                                                          \
    extern const KernelSet variable;                                                                         \
    const KernelSet variable = {set_name, Simd::kOrder, matmul,      screen,       quantize,                 \
                                rms_norm, glu,          add,         scale,        to_f16,                   \
                                argmax,   attend_part,  attend_join, attend_finish};                         \
    }
