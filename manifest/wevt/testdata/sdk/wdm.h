/* What drivers have: neither FILETIME nor SYSTEMTIME. Ours, for tests. */
#pragma once
#include "types.h"
typedef int NTSTATUS;
#define STATUS_SUCCESS 0
#include "evntprov.h"
#ifdef __cplusplus
extern "C" {
#endif
NTSTATUS EtwRegister(const GUID *provider, void *callback, void *context, REGHANDLE *handle);
NTSTATUS EtwUnregister(REGHANDLE handle);
BOOLEAN EtwEventEnabled(REGHANDLE handle, const EVENT_DESCRIPTOR *event);
NTSTATUS EtwWrite(REGHANDLE handle, const EVENT_DESCRIPTOR *event, const GUID *activity, ULONG count, EVENT_DATA_DESCRIPTOR *data);
#ifdef __cplusplus
}
#endif
