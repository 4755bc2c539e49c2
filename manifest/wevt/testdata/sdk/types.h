/* As much of Windows' types as headers of etwgen refer to. Ours, for tests. */
#pragma once
#include <stddef.h>
typedef unsigned char UCHAR;
typedef unsigned char BOOLEAN;
typedef unsigned short USHORT;
typedef unsigned int ULONG; /* as wide as in Windows on every system */
typedef unsigned __int64 ULONGLONG;
typedef wchar_t WCHAR;
typedef const WCHAR *PCWSTR;
typedef const char *PCSTR;
typedef struct {
	ULONG Data1;
	USHORT Data2, Data3;
	UCHAR Data4[8];
} GUID;
