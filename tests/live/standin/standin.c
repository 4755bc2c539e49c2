// A stand-in for the part of sechost.dll that sessions of ETW need. Its sessions replay
// an .etl file: as whole buffers, as they lie in the file, or as an EVENT_RECORD for each
// record, in the order of time. It calls back as Windows does, on the thread that has
// called ProcessTrace, and with memory that is overwritten afterwards.
//
// What it makes of a file it finds out by itself, so that it is a second opinion.
#define UNICODE
#define INITGUID
#include <windows.h>
#include <wmistr.h>
#include <evntrace.h>
#include <evntcons.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __declspec(dllexport)
#define BUFFER_HEADER 72

typedef struct {
	DWORD Modes;
	PVOID EventCallback, EventContext, BufferCallback, BufferContext;
} OPEN_OPTIONS;

typedef BOOL(WINAPI *BUFFER_CALLBACK)(void *buffer, ULONG size, void *info, void *context);

// What the tests set.
static BYTE *file;          // the file to replay
static size_t fileSize;
static GUID *classes;       // of kernel events, by group and opcode
static volatile LONG rounds = 1; // how often the file is replayed; negative is for ever
static volatile LONG delivered;

typedef struct {
	WCHAR name[1024];
	EVENT_TRACE_PROPERTIES props;
	TRACEHANDLE handle;
	HANDLE stopped;
	volatile LONG running, readers;
} SESSION;

typedef struct {
	SESSION *session;
	TRACEHANDLE handle;
	volatile LONG open, closing, busy;
	PEVENT_RECORD_CALLBACK event;
	PEVENT_TRACE_BUFFER_CALLBACKW bufferRead;
	BUFFER_CALLBACK buffer;
	void *context;
} TRACE;

static SESSION sessions[64];
static TRACE traces[64];
static CRITICAL_SECTION lock;
static uint64_t lastHandle = 0x1000;

BOOL WINAPI DllMain(HINSTANCE dll, DWORD reason, void *reserved) {
	if (reason == DLL_PROCESS_ATTACH)
		InitializeCriticalSection(&lock);
	return TRUE;
}

EXPORT void WINAPI StandInReplay(BYTE *data, size_t size, GUID *table, LONG n) {
	free(file);
	file = malloc(size + 8);
	memcpy(file, data, size);
	fileSize = size;
	classes = table;
	rounds = n;
	delivered = 0;
}

// StandInLeft returns how many sessions and traces there are.
EXPORT DWORD WINAPI StandInLeft(void) {
	DWORD n = 0;
	for (int i = 0; i < 64; i++)
		n += (sessions[i].running != 0) + (traces[i].open != 0);
	return n;
}

// StandInDelivered returns how many callbacks there were.
EXPORT LONG WINAPI StandInDelivered(void) { return delivered; }

static SESSION *find(TRACEHANDLE h, LPCWSTR name) {
	for (int i = 0; i < 64; i++) {
		SESSION *s = &sessions[i];
		if (s->running && (h ? s->handle == h : name && !lstrcmpiW(s->name, name)))
			return s;
	}
	return NULL;
}

EXPORT ULONG WINAPI StartTraceW(TRACEHANDLE *h, LPCWSTR name, PEVENT_TRACE_PROPERTIES p) {
	ULONG code = ERROR_NO_SYSTEM_RESOURCES;
	if (p->Wnode.BufferSize < sizeof *p + 2 * (lstrlenW(name) + 1))
		return ERROR_BAD_LENGTH;
	EnterCriticalSection(&lock);
	if (find(0, name)) {
		code = ERROR_ALREADY_EXISTS;
	} else {
		for (int i = 0; i < 64; i++) {
			SESSION *s = &sessions[i];
			if (s->running || s->readers)
				continue;
			lstrcpynW(s->name, name, 1024);
			s->props = *p;
			s->handle = *h = ++lastHandle;
			s->props.Wnode.HistoricalContext = s->handle;
			if (!s->stopped)
				s->stopped = CreateEventW(NULL, TRUE, FALSE, NULL);
			ResetEvent(s->stopped);
			s->running = 1;
			code = ERROR_SUCCESS;
			break;
		}
	}
	LeaveCriticalSection(&lock);
	return code;
}

static void describe(SESSION *s, PEVENT_TRACE_PROPERTIES p) {
	ULONG size = p->Wnode.BufferSize, nameAt = p->LoggerNameOffset, fileAt = p->LogFileNameOffset;
	*p = s->props;
	p->Wnode.BufferSize = size;
	p->LoggerNameOffset = nameAt;
	p->LogFileNameOffset = fileAt;
	if (nameAt)
		lstrcpynW((WCHAR *)((BYTE *)p + nameAt), s->name, 1024);
}

EXPORT ULONG WINAPI ControlTraceW(TRACEHANDLE h, LPCWSTR name, PEVENT_TRACE_PROPERTIES p, ULONG control) {
	ULONG code = ERROR_WMI_INSTANCE_NOT_FOUND;
	EnterCriticalSection(&lock);
	SESSION *s = find(h, name);
	if (s) {
		code = ERROR_SUCCESS;
		describe(s, p);
		if (control == EVENT_TRACE_CONTROL_STOP) {
			s->running = 0;
			SetEvent(s->stopped);
		}
	}
	LeaveCriticalSection(&lock);
	return code;
}

EXPORT ULONG WINAPI QueryAllTracesW(PEVENT_TRACE_PROPERTIES *array, ULONG size, ULONG *count) {
	ULONG n = 0;
	EnterCriticalSection(&lock);
	for (int i = 0; i < 64; i++)
		if (sessions[i].running) {
			if (n < size)
				describe(&sessions[i], array[n]);
			n++;
		}
	LeaveCriticalSection(&lock);
	*count = n;
	return n > size ? ERROR_MORE_DATA : ERROR_SUCCESS;
}

// Of what is enabled the stand-in checks the shape alone.
EXPORT ULONG WINAPI EnableTraceEx2(TRACEHANDLE h, LPCGUID provider, ULONG control, UCHAR level, ULONGLONG any, ULONGLONG all,
                                   ULONG timeout, ENABLE_TRACE_PARAMETERS *p) {
	static const GUID zero;
	if (!memcmp(provider, &zero, sizeof zero) || control > 2)
		return ERROR_INVALID_PARAMETER;
	if (p && (p->Version != 2 || p->FilterDescCount > 8))
		return ERROR_INVALID_PARAMETER;
	for (ULONG i = 0; p && i < p->FilterDescCount; i++)
		if (!p->EnableFilterDesc[i].Ptr || !p->EnableFilterDesc[i].Size || !(p->EnableFilterDesc[i].Type & 0x80000000))
			return ERROR_INVALID_PARAMETER;
	EnterCriticalSection(&lock);
	ULONG code = find(h, NULL) ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND;
	LeaveCriticalSection(&lock);
	return code;
}

EXPORT ULONG WINAPI TraceSetInformation(TRACEHANDLE h, TRACE_INFO_CLASS class, void *data, ULONG size) {
	return class == 3 && size % 24 || class == 4 && size != 32 || class == 5 && size != 8 ? ERROR_BAD_LENGTH : ERROR_SUCCESS;
}

// The header of the file, TRACE_LOGFILE_HEADER, is its first record.
static void header(TRACE_LOGFILE_HEADER *h) {
	BYTE *p = file + BUFFER_HEADER + 32;
	memset(h, 0, sizeof *h);
	if (fileSize < BUFFER_HEADER + 32 + 280)
		return;
	// The members after the two pointers lie elsewhere where pointers are narrower.
	int narrow = file[BUFFER_HEADER + 2] == 1 ? 8 : 0;
	memcpy(h, p, 56);
	memcpy(&h->TimeZone, p + 72 - narrow, sizeof h->TimeZone);
	memcpy(&h->BootTime, p + 248 - narrow, 32);
}

static TRACEHANDLE opened(SESSION *s, TRACE t) {
	for (int i = 0; s && i < 64; i++)
		if (!traces[i].open && !traces[i].busy) {
			t.session = s;
			t.open = 1;
			t.handle = ++lastHandle << 32 | i; // of more than 32 bits, to see that all come back
			traces[i] = t;
			return t.handle;
		}
	SetLastError(ERROR_WMI_INSTANCE_NOT_FOUND);
	return INVALID_PROCESSTRACE_HANDLE;
}

EXPORT TRACEHANDLE WINAPI OpenTraceW(PEVENT_TRACE_LOGFILEW l) {
	TRACE t = {0};
	t.event = l->EventRecordCallback;
	t.bufferRead = l->BufferCallback;
	t.context = l->Context;
	EnterCriticalSection(&lock);
	TRACEHANDLE h = opened(find(0, l->LoggerName), t);
	LeaveCriticalSection(&lock);
	header(&l->LogfileHeader);
	return h;
}

EXPORT TRACEHANDLE WINAPI OpenTraceFromRealTimeLogger(LPCWSTR name, OPEN_OPTIONS *o, TRACE_LOGFILE_HEADER *h) {
	TRACE t = {0};
	t.buffer = (BUFFER_CALLBACK)o->BufferCallback;
	t.context = o->BufferContext;
	EnterCriticalSection(&lock);
	TRACEHANDLE handle = opened(find(0, name), t);
	LeaveCriticalSection(&lock);
	header(h);
	return handle;
}

static TRACE *traceOf(TRACEHANDLE h) {
	TRACE *t = &traces[h & 63];
	return t->open && t->handle == h ? t : NULL;
}

EXPORT ULONG WINAPI CloseTrace(TRACEHANDLE h) {
	EnterCriticalSection(&lock);
	TRACE *t = traceOf(h);
	if (t) {
		t->closing = 1;
		t->open = 0;
	}
	LeaveCriticalSection(&lock);
	return t ? 7007 : ERROR_INVALID_HANDLE; // ERROR_CTX_CLOSE_PENDING
}

// A RECORD is where one lies, and what orders it.
typedef struct {
	int64_t time, sequence;
	uint32_t at, size;
	uint16_t processor;
} RECORD;

static int compare(const void *x, const void *y) {
	const RECORD *a = x, *b = y;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->processor != b->processor)
		return a->processor < b->processor ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

#define U16(p) (*(const uint16_t *)(p))
#define U32(p) (*(const uint32_t *)(p))
#define U64(p) (*(const uint64_t *)(p))

// messageParts finds the parts of a WPP message: its time, and where what follows begins.
static size_t messageParts(const BYTE *p, int64_t *time, const BYTE **id) {
	uint16_t options = U16(p + 6);
	size_t at = 8;
	if (options & 1)
		at += 4;
	*id = p + at;
	if (options & 2)
		at += 16;
	else if (options & 4)
		at += 4;
	if (options & 0x18) {
		*time = U64(p + at);
		at += 8;
	}
	return at;
}

// records finds the records of the file, of which no buffer may be compressed.
static RECORD *records(size_t *count) {
	size_t n = 0, room = 1024;
	RECORD *all = malloc(room * sizeof *all);
	for (size_t pos = 0; pos + BUFFER_HEADER <= fileSize;) {
		BYTE *b = file + pos;
		uint32_t size = U32(b), filled = U32(b + 48);
		int64_t time = 0;
		for (size_t at = BUFFER_HEADER; at + 8 <= filled;) {
			BYTE *p = b + at;
			uint32_t length;
			const BYTE *id;
			if (p[3] == 0x90) {
				length = U16(p);
				messageParts(p, &time, &id);
			} else if (p[3] == 0xc0) {
				BYTE kind = p[2];
				int late = kind == 0x10 || kind == 0x11;
				int sizeAt4 = kind <= 4 || late;
				length = U16(sizeAt4 ? p + 4 : p);
				time = U64(p + (late ? 8 : 16));
			} else {
				break;
			}
			if (n == room)
				all = realloc(all, (room *= 2) * sizeof *all);
			RECORD r = {time, U64(b + 24), pos + at, length, (U16(b + 52) & 0x20) ? U16(b + 40) & 0x7ff : b[40]};
			all[n++] = r;
			at += (length + 7) & ~7;
		}
		pos += size;
	}
	qsort(all, n, sizeof *all, compare);
	*count = n;
	return all;
}

// An EVENT is one as a callback gets it, with room for its items and their data.
typedef struct {
	EVENT_RECORD r;
	EVENT_HEADER_EXTENDED_DATA_ITEM items[64];
	BYTE data[1 << 17];
} EVENT;

static void addItem(EVENT *e, USHORT type, const BYTE *data, USHORT size) {
	EVENT_HEADER_EXTENDED_DATA_ITEM *i = &e->items[e->r.ExtendedDataCount++];
	memset(i, 0, sizeof *i);
	i->ExtType = type;
	i->DataSize = size;
	i->DataPtr = (ULONGLONG)(ULONG_PTR)data;
	e->r.ExtendedData = e->items;
	e->r.EventHeader.Flags |= EVENT_HEADER_FLAG_EXTENDED_INFO;
}

// fill makes an EVENT_RECORD of a record.
static void fill(EVENT *e, const RECORD *at) {
	memset(&e->r, 0, sizeof e->r);
	memcpy(e->data, file + at->at, at->size);
	BYTE *p = e->data, *end = p + at->size, kind = p[2];
	EVENT_HEADER *h = &e->r.EventHeader;
	if (at->processor > 255) {
		h->Flags |= 0x200;
		*(uint16_t *)&e->r.BufferContext = at->processor;
	} else {
		e->r.BufferContext.ProcessorNumber = (UCHAR)at->processor;
	}
	h->TimeStamp.QuadPart = at->time;
	h->ThreadId = h->ProcessId = ~0u;
	if (p[3] == 0x90) {
		int64_t time;
		const BYTE *id;
		size_t n = messageParts(p, &time, &id);
		uint16_t options = U16(p + 6);
		h->Flags |= EVENT_HEADER_FLAG_TRACE_MESSAGE | (options & 0x40 ? EVENT_HEADER_FLAG_32_BIT_HEADER : options & 0x80 ? EVENT_HEADER_FLAG_64_BIT_HEADER : 0);
		h->EventDescriptor.Id = U16(p + 4);
		if (options & 2)
			memcpy(&h->ProviderId, id, 16);
		else if (options & 4)
			memcpy(&h->ProviderId, id, 4);
		if (options & 0x20) {
			h->ThreadId = U32(p + n);
			h->ProcessId = U32(p + n + 4);
			n += 8;
		}
		e->r.UserData = p + n;
	} else if (kind == 0x12 || kind == 0x13) {
		USHORT index = h->Flags;
		memcpy(h, p, 80);
		h->Flags |= index | (kind == 0x13 ? EVENT_HEADER_FLAG_64_BIT_HEADER : EVENT_HEADER_FLAG_32_BIT_HEADER);
		h->TimeStamp.QuadPart = at->time;
		BYTE *q = p + 80;
		if (p[4] & 1)
			while (q + 8 <= end) {
				USHORT type = U16(q + 2), size = U16(q + 6);
				int linked = q[4] & 1;
				addItem(e, type, q + 8, size);
				q += (8 + size + 7) & ~7;
				if (!linked)
					break;
			}
		e->r.UserData = q < end ? q : end;
	} else {
		int wide = kind == 2 || kind == 4 || kind == 0x11 || kind == 0x14 || kind == 0x15;
		h->Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER | (wide ? EVENT_HEADER_FLAG_64_BIT_HEADER : EVENT_HEADER_FLAG_32_BIT_HEADER);
		if (kind == 0x0a || kind == 0x14 || kind == 0x0b || kind == 0x15) {
			h->EventDescriptor.Opcode = p[4];
			h->EventDescriptor.Level = p[5];
			h->EventDescriptor.Version = p[6];
			h->ThreadId = U32(p + 8);
			h->ProcessId = U32(p + 12);
			memcpy(&h->ProviderId, p + 24, 16);
			e->r.UserData = p + 48;
			if (kind == 0x0b || kind == 0x15) {
				addItem(e, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, p + 48, 24);
				e->r.UserData = p + 72;
			}
		} else { // of the kernel
			uint16_t version = U16(p);
			BYTE *q = p + (kind <= 2 ? 32 : kind <= 4 ? 24 : 16);
			if (kind <= 4) {
				h->ThreadId = U32(p + 8);
				h->ProcessId = U32(p + 12);
			}
			h->EventDescriptor.Version = (UCHAR)version;
			h->EventDescriptor.Opcode = p[6];
			h->ProviderId = classes[p[7] << 8 | p[6]];
			if (version & 0x8000) {
				addItem(e, EVENT_HEADER_EXT_TYPE_PEBS_INDEX, q, 8);
				q += 8;
			}
			if (version & 0x700) {
				addItem(e, EVENT_HEADER_EXT_TYPE_PMC_COUNTERS, q, (version & 0x700) >> 8 << 3);
				q += (version & 0x700) >> 8 << 3;
			}
			e->r.UserData = q;
		}
	}
	e->r.UserDataLength = (USHORT)(end - (BYTE *)e->r.UserData);
}

// goesOn reports whether to deliver more. A session that was stopped delivers what it
// had, unless that has no end.
static int goesOn(TRACE *t) {
	return !t->closing && (rounds >= 0 || t->session->running);
}

static ULONG replayEvents(TRACE *t) {
	size_t n;
	RECORD *all = records(&n);
	EVENT *e = malloc(sizeof *e);
	EVENT_TRACE_LOGFILEW l;
	memset(&l, 0, sizeof l);
	l.Context = t->context;
	ULONG code = ERROR_SUCCESS;
	for (LONG round = 0; code == ERROR_SUCCESS && goesOn(t) && (rounds < 0 || round < rounds); round++)
		for (size_t i = 0; i < n && goesOn(t); i++) {
			fill(e, &all[i]);
			e->r.UserContext = t->context;
			t->event(&e->r);
			InterlockedIncrement(&delivered);
			memset(e->data, 0xdd, all[i].size);
			if (i % 512 == 511 && !t->bufferRead(&l)) {
				code = ERROR_CANCELLED;
				break;
			}
		}
	free(e);
	free(all);
	return code;
}

static ULONG replayBuffers(TRACE *t) {
	BYTE *copy = malloc(1 << 25);
	ULONG code = ERROR_SUCCESS;
	for (LONG round = 0; code == ERROR_SUCCESS && goesOn(t) && (rounds < 0 || round < rounds); round++)
		for (size_t pos = 0; pos + BUFFER_HEADER <= fileSize && goesOn(t);) {
			ULONG size = U32(file + pos);
			if (size > fileSize - pos)
				size = fileSize - pos;
			memcpy(copy, file + pos, size);
			InterlockedIncrement(&delivered);
			if (!t->buffer(copy, size, NULL, t->context)) {
				code = ERROR_CANCELLED;
				break;
			}
			memset(copy, 0xdd, size);
			pos += size;
		}
	free(copy);
	return code;
}

EXPORT ULONG WINAPI ProcessTrace(TRACEHANDLE *h, ULONG count, LPFILETIME start, LPFILETIME end) {
	EnterCriticalSection(&lock);
	TRACE *t = count == 1 ? traceOf(*h) : NULL;
	if (t) {
		t->busy = 1;
		t->session->readers++;
	}
	LeaveCriticalSection(&lock);
	if (!t)
		return ERROR_INVALID_HANDLE;
	ULONG code = t->buffer ? replayBuffers(t) : replayEvents(t);
	// A live session waits for more, until it is stopped or closed.
	while (code == ERROR_SUCCESS && !t->closing && WaitForSingleObject(t->session->stopped, 5) == WAIT_TIMEOUT)
		;
	EnterCriticalSection(&lock);
	t->session->readers--;
	t->busy = 0;
	LeaveCriticalSection(&lock);
	return code;
}

static void WINAPI nothing(PEVENT_RECORD r) {}
static ULONG WINAPI nothingOfFile(PEVENT_TRACE_LOGFILEW l) { return TRUE; }
static BOOL WINAPI nothingOfBuffer(void *b, ULONG n, void *i, void *c) { return TRUE; }

// StandInAlone replays with callbacks that do nothing, to know what that alone takes.
EXPORT void WINAPI StandInAlone(BOOL buffers) {
	SESSION s = {0};
	TRACE t = {0};
	s.running = 1;
	t.session = &s;
	t.event = nothing;
	t.bufferRead = nothingOfFile;
	t.buffer = nothingOfBuffer;
	if (buffers)
		replayBuffers(&t);
	else
		replayEvents(&t);
}
