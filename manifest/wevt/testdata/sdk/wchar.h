/* Ours, for tests: characters have 2 bytes, as in Windows. */
#pragma once
#include <stddef.h>
static __inline size_t wcslen_(const wchar_t *s) {
	size_t n = 0;
	while (s[n]) n++;
	return n;
}
#define wcslen wcslen_
