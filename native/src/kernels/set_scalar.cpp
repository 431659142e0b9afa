#include "simd_scalar.h"
//
#include "set_impl.h"

MTP_KERNEL_SET(kernel_set_scalar, "scalar")
