/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-record.h"

#include <math.h>

char *
sim_format_real(char *buffer, double value)
{
    /* 15 digits print every short decimal as it was written ("100", not "1e+02"); 17 always read back. */
    static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};

    if (isnan(value)) {
        g_strlcpy(buffer, "nan", G_ASCII_DTOSTR_BUF_SIZE);
        return buffer;
    }
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_ascii_formatd(buffer, G_ASCII_DTOSTR_BUF_SIZE, formats[i], value);
        if (g_ascii_strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}
