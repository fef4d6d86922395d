/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-record.h"

#include <math.h>

char *
sim_format_real(char *buffer, double value)
{
    if (isnan(value)) {
        g_strlcpy(buffer, "nan", G_ASCII_DTOSTR_BUF_SIZE);
        return buffer;
    }
    /* Whole numbers, of which results are full, come out as below, sooner. */
    if (value == trunc(value) && fabs(value) < 1e15 && (value != 0 || !signbit(value))) {
        g_snprintf(buffer, G_ASCII_DTOSTR_BUF_SIZE, "%" G_GINT64_FORMAT, (gint64) value);
        return buffer;
    }
    /* %g drops zeros at the end, so 15 digits give the short text of whatever has one; 17 always read back. Starting
     * below 15 would write 100 as 1e+02. */
    for (int n_digits = 15; n_digits <= 17; n_digits++) {
        char format[8];
        g_snprintf(format, sizeof format, "%%.%dg", n_digits);
        g_ascii_formatd(buffer, G_ASCII_DTOSTR_BUF_SIZE, format, value);
        if (g_ascii_strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}
