/* Ours, for tests. */
#pragma once
typedef ULONGLONG REGHANDLE;
typedef struct {
	USHORT Id;
	UCHAR Version, Channel, Level, Opcode;
	USHORT Task;
	ULONGLONG Keyword;
} EVENT_DESCRIPTOR;
typedef struct {
	const void *Ptr;
	ULONG Size;
} EVENT_DATA_DESCRIPTOR;
static __inline void EventDataDescCreate(EVENT_DATA_DESCRIPTOR *d, const void *data, ULONG size) {
	d->Ptr = data;
	d->Size = size;
}
