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
    /* 17 significant digits always read back; most values need fewer. */
    for (int n_digits = 1; n_digits <= 17; n_digits++) {
        char format[8];
        g_snprintf(format, sizeof format, "%%.%dg", n_digits);
        g_ascii_formatd(buffer, G_ASCII_DTOSTR_BUF_SIZE, format, value);
        if (g_ascii_strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}
