/* What programs have. Ours, for tests. */
#pragma once
#include "types.h"
#define ERROR_SUCCESS 0u
typedef struct {
	ULONG Low, High;
} FILETIME;
typedef struct {
	USHORT Year, Month, DayOfWeek, Day, Hour, Minute, Second, Milliseconds;
} SYSTEMTIME;
#include "evntprov.h"
#ifdef __cplusplus
extern "C" {
#endif
ULONG EventRegister(const GUID *provider, void *callback, void *context, REGHANDLE *handle);
ULONG EventUnregister(REGHANDLE handle);
BOOLEAN EventEnabled(REGHANDLE handle, const EVENT_DESCRIPTOR *event);
ULONG EventWrite(REGHANDLE handle, const EVENT_DESCRIPTOR *event, ULONG count, EVENT_DATA_DESCRIPTOR *data);
#ifdef __cplusplus
}
#endif
