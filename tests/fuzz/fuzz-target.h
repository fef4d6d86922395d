/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* What libFuzzer calls, and fuzz-standalone.c without it: one input, any bytes. Aborts on a broken promise. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
