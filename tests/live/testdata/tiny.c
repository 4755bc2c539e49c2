// A small Event Tracing for Windows, in one process, for tests under wine, which has
// functions of these names that do nothing. Programs write events and sessions read them,
// one by one, through the frames and threads that Windows would use: callbacks of
// providers come on a thread of their own. For 64 bits.
#include <windows.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tinyfile.h"

#define API __declspec(dllexport)
enum { MAXIMUM = 64 };

typedef struct { uint64_t data; uint32_t size; uint32_t kind; } piece;
typedef void(WINAPI *enable_callback)(const GUID *, ULONG, UCHAR, ULONGLONG, ULONGLONG, piece *, void *);
typedef ULONG(WINAPI *request_callback)(int, void *, ULONG *, void *);

typedef struct {
	GUID guid;
	enable_callback enable;
	request_callback request; // of a classic provider
	void *context;
} provider;

typedef struct {
	int open, stopped, closing;
	WCHAR name[1024];
	uint8_t properties[120];
	uint64_t flags;
	uint8_t level;
	logfile *log; // of a session that writes a file
} session;

typedef struct {
	GUID guid;
	uint64_t session, any, all;
	uint8_t level;
	uint32_t stacks; // the events have them
	piece filters[4];
} enablement;

// An event lies in memory as a header, the items and the payload.
typedef struct event {
	struct event *next;
	uint64_t session;
	uint8_t header[80];
	uint16_t items, payload;
	struct { uint16_t reserved, type, linkage, size; uint64_t data; } item[4];
	uint8_t *data;
} event;

static CRITICAL_SECTION lock;
static CONDITION_VARIABLE changed;
static provider providers[MAXIMUM];
static session sessions[MAXIMUM];
static enablement enabled[MAXIMUM];
static event *first, *last;

BOOL WINAPI DllMain(HINSTANCE dll, DWORD reason, void *reserved) {
	if (reason == DLL_PROCESS_ATTACH) InitializeCriticalSection(&lock);
	return TRUE;
}

static uint32_t get32(const void *p, int at) { uint32_t v; memcpy(&v, (const char *)p + at, 4); return v; }
static uint64_t get64(const void *p, int at) { uint64_t v; memcpy(&v, (const char *)p + at, 8); return v; }
static void put(void *p, int at, uint64_t v, int n) { memcpy((char *)p + at, &v, n); }

// What a thread calls back with.
typedef struct {
	provider *to;
	GUID source;
	ULONG code;
	uint8_t level;
	uint64_t any, all, session;
	piece *filter;
} call;

static DWORD WINAPI run(void *p) {
	call *c = p;
	if (c->to->enable) {
		c->to->enable(&c->source, c->code, c->level, c->any, c->all, c->filter, c->to->context);
	} else if (c->to->request && c->code < 2) {
		ULONG size = 48;
		uint8_t node[48] = {0};
		put(node, 8, c->session, 8);
		c->to->request(c->code ? 4 : 5, c->to->context, &size, node);
	}
	return 0;
}

static void callback(call *c) {
	HANDLE thread = CreateThread(NULL, 0, run, c, 0, NULL);
	WaitForSingleObject(thread, INFINITE);
	CloseHandle(thread);
}

static ULONG enroll(const GUID *guid, enable_callback enable, request_callback request, void *context, uint64_t *handle, uint64_t mark) {
	EnterCriticalSection(&lock);
	int i = 1;
	while (i < MAXIMUM && (providers[i].enable || providers[i].request)) i++;
	if (i == MAXIMUM) { LeaveCriticalSection(&lock); return 1450; }
	providers[i] = (provider){*guid, enable, request, context};
	*handle = mark + i;
	call c = {&providers[i]};
	for (int j = 0; j < MAXIMUM; j++)
		if (enabled[j].session && !memcmp(&enabled[j].guid, guid, 16)) {
			c.code = 1; c.level = enabled[j].level; c.any = enabled[j].any; c.all = enabled[j].all; c.session = enabled[j].session;
		}
	LeaveCriticalSection(&lock);
	if (c.code) callback(&c);
	return 0;
}

static ULONG dismiss(uint64_t handle) {
	provider *p = &providers[handle % MAXIMUM];
	if (!p->enable && !p->request) return 6;
	EnterCriticalSection(&lock);
	memset(p, 0, sizeof *p);
	LeaveCriticalSection(&lock);
	return 0;
}

API ULONG WINAPI EventRegister(const GUID *guid, enable_callback f, void *context, uint64_t *handle) { return enroll(guid, f, NULL, context, handle, 0x10000); }
API ULONG WINAPI EventUnregister(uint64_t handle) { return dismiss(handle); }
API ULONG WINAPI EventSetInformation(uint64_t handle, int class, void *data, ULONG size) { return class == 2 && *(uint16_t *)data == size ? 0 : 87; }
API ULONG WINAPI RegisterTraceGuidsW(request_callback f, void *context, const GUID *guid, ULONG n, void *classes, const WCHAR *image, const WCHAR *resource, uint64_t *handle) { return enroll(guid, NULL, f, context, handle, 0x20000); }
API ULONG WINAPI UnregisterTraceGuids(uint64_t handle) { return dismiss(handle); }
API uint64_t WINAPI GetTraceLoggerHandle(void *buffer) { return get64(buffer, 8); }
API UCHAR WINAPI GetTraceEnableLevel(uint64_t s) { return sessions[s % MAXIMUM].level; }
API ULONG WINAPI GetTraceEnableFlags(uint64_t s) { return (ULONG)sessions[s % MAXIMUM].flags; }

enum { BY_PROCESS = 0x80000004, BY_PROGRAM = 0x80000008, BY_ID = 0x80000200, STACKS_BY_ID = 0x80001000, FRAMES = 16 };

// keep_filters copies those of an enablement, without the one that is for the provider itself.
static piece *keep_filters(enablement *e, piece *list, ULONG n) {
	piece *own = NULL;
	for (ULONG i = 0, at = 0; i < n; i++) {
		if (list[i].kind == 0x80000000) { own = &list[i]; continue; }
		if (at == 4) break;
		void *copy = calloc(1, list[i].size + 2);
		memcpy(copy, (void *)list[i].data, list[i].size);
		e->filters[at++] = (piece){(uint64_t)copy, list[i].size, list[i].kind};
	}
	return own;
}

// chosen says whether a filter of ids takes one: the flag, the number of ids, and they.
static int chosen(const piece *f, uint16_t id) {
	const uint16_t *p = (const uint16_t *)f->data;
	for (int i = 0; i < p[1]; i++)
		if (p[2 + i] == id) return (uint8_t)p[0];
	return !(uint8_t)p[0];
}

// passes says whether the filters take an event, and whether with its stack.
static int passes(const enablement *e, uint16_t id, int *stack) {
	*stack = e->stacks;
	for (int i = 0; i < 4; i++) {
		const piece *f = &e->filters[i];
		int found = 0;
		WCHAR path[1024], *name;
		switch (f->kind) {
		case BY_PROCESS:
			for (uint32_t at = 0; at + 4 <= f->size; at += 4) found |= get32((void *)f->data, at) == GetCurrentProcessId();
			if (!found) return 0;
			break;
		case BY_PROGRAM:
			GetModuleFileNameW(NULL, path, 1024);
			name = wcsrchr(path, L'\\');
			if (_wcsicmp(name ? name + 1 : path, (WCHAR *)f->data)) return 0;
			break;
		case BY_ID:
			if (!chosen(f, id)) return 0;
			break;
		case STACKS_BY_ID:
			*stack = *stack && chosen(f, id);
		}
	}
	return 1;
}

// log_event appends an event of parts to a session.
static ULONG log_event(uint64_t s, uint8_t *header, const GUID *related, ULONG n, piece *parts, int stack) {
	size_t size = 96 + 8 * (FRAMES + 1), payload = 0;
	for (ULONG i = 0; i < n; i++) {
		size += parts[i].size;
		if (!(parts[i].kind & 0xff)) payload += parts[i].size;
	}
	if (payload > 0xffff - 80) return 534;
	event *e = calloc(1, sizeof *e);
	e->data = calloc(1, size);
	e->session = s;
	uint8_t *end = e->data + payload;
	if (related) {
		memcpy(end, related, 16);
		e->item[e->items].type = 1; e->item[e->items].size = 16; e->item[e->items++].data = (uint64_t)end;
		end += 16;
	}
	for (ULONG i = 0; i < n; i++) {
		uint8_t kind = parts[i].kind;
		if (!kind) {
			memcpy(e->data + e->payload, (void *)parts[i].data, parts[i].size);
			e->payload += parts[i].size;
			continue;
		}
		memcpy(end, (void *)parts[i].data, parts[i].size);
		e->item[e->items].type = kind == 1 ? 0xb : 0xc; e->item[e->items].size = parts[i].size; e->item[e->items++].data = (uint64_t)end;
		end += parts[i].size;
	}
	if (stack) {
		uint64_t *frames = (uint64_t *)(((uintptr_t)end + 7) & ~7);
		frames[0] = 0; // no other half follows
		int count = CaptureStackBackTrace(0, FRAMES - 1, (void **)frames + 1, NULL);
		e->item[e->items].type = 6; e->item[e->items].size = 8 + 8 * count; e->item[e->items++].data = (uint64_t)frames;
		header[4] |= 1;
	}
	LARGE_INTEGER now;
	QueryPerformanceCounter(&now);
	memcpy(e->header, header, 80);
	put(e->header, 8, GetCurrentThreadId(), 4);
	put(e->header, 12, GetCurrentProcessId(), 4);
	EnterCriticalSection(&lock);
	QueryPerformanceCounter(&now);
	put(e->header, 16, now.QuadPart, 8);
	logfile *log = sessions[s % MAXIMUM].log;
	if (log) {
		if (sessions[s % MAXIMUM].open) append_file(log, e->header, e->items, e->item, e->data, e->payload);
		LeaveCriticalSection(&lock);
		free(e->data);
		free(e);
		return 0;
	}
	if (last) last->next = e; else first = e;
	last = e;
	LeaveCriticalSection(&lock);
	WakeAllConditionVariable(&changed);
	return 0;
}

API ULONG WINAPI EventWriteTransfer(uint64_t handle, const uint8_t *descriptor, const GUID *activity, const GUID *related, ULONG n, piece *parts) {
	provider *p = &providers[handle % MAXIMUM];
	if (!p->enable) return 6;
	uint8_t header[80] = {0};
	put(header, 4, (related || (n && (parts[0].kind & 0xff))) | 0x40, 2);
	memcpy(header + 24, &p->guid, 16);
	memcpy(header + 40, descriptor, 16);
	if (activity) memcpy(header + 64, activity, 16);
	uint64_t keyword = get64(descriptor, 8);
	for (int j = 0; j < MAXIMUM; j++) {
		enablement *e = &enabled[j];
		if (!e->session || memcmp(&e->guid, &p->guid, 16)) continue;
		if (e->level && descriptor[4] > e->level) continue;
		if (keyword && e->any && !((keyword & e->any) && (keyword & e->all) == e->all)) continue;
		int stack;
		if (!passes(e, *(const uint16_t *)descriptor, &stack)) continue;
		ULONG code = log_event(e->session, header, related, n, parts, stack);
		if (code) return code;
	}
	return 0;
}

API ULONG WINAPI TraceEvent(uint64_t s, uint8_t *trace) {
	uint16_t size = *(uint16_t *)trace;
	if (!sessions[s % MAXIMUM].open) return 4201;
	if (size < 48 || (size - 48) % 16 || get32(trace, 44) != 0x120000) return 87;
	uint8_t header[80] = {0};
	put(header, 4, 0x140, 2);
	memcpy(header + 24, trace + 24, 16);
	header[42] = trace[6];
	header[44] = trace[5];
	header[45] = trace[4];
	return log_event(s, header, NULL, (size - 48) / 16, (piece *)(trace + 48), 0);
}

static int find(uint64_t handle, const WCHAR *name) {
	if (handle) return sessions[handle % MAXIMUM].open ? handle % MAXIMUM : 0;
	for (int i = 1; name && i < MAXIMUM; i++)
		if (sessions[i].open && !_wcsicmp(sessions[i].name, name)) return i;
	return 0;
}

API ULONG WINAPI StartTraceW(uint64_t *handle, const WCHAR *name, uint8_t *properties) {
	if (find(0, name)) return 183;
	if (get32(properties, 0) < 120 + 2 * (wcslen(name) + 1)) return 24;
	for (int i = 1; i < MAXIMUM; i++)
		if (!sessions[i].open) {
			memset(&sessions[i], 0, sizeof sessions[i]);
			sessions[i].open = 1;
			wcsncpy(sessions[i].name, name, 1023);
			memcpy(sessions[i].properties, properties, 120);
			sessions[i].log = begin_file(properties, name);
			*handle = i;
			put(properties, 8, i, 8);
			return 0;
		}
	return 1450;
}

static ULONG tell(int i, uint8_t *p) {
	uint32_t size = get32(p, 0), file = get32(p, 112), name = get32(p, 116);
	memcpy(p + 4, sessions[i].properties + 4, 108);
	put(p, 8, i, 8);
	if (file && file + 2 <= size) put(p, file, 0, 2);
	size_t n = 2 * (wcslen(sessions[i].name) + 1);
	if (name && name + n > size) return 234;
	if (name) memcpy(p + name, sessions[i].name, n);
	return 0;
}

API ULONG WINAPI ControlTraceW(uint64_t handle, const WCHAR *name, uint8_t *properties, ULONG code) {
	EnterCriticalSection(&lock);
	int i = find(handle, name);
	if (i && code == 1 && sessions[i].log) {
		put(sessions[i].properties, 88, end_file(sessions[i].log), 4);
		sessions[i].log = NULL;
	}
	ULONG result = i ? tell(i, properties) : 4201;
	if (i && code == 1) {
		sessions[i].open = 0;
		sessions[i].stopped = 1;
	}
	LeaveCriticalSection(&lock);
	for (int j = 0; i && code == 1 && j < MAXIMUM; j++)
		if (enabled[j].session == (uint64_t)i) {
			GUID guid = enabled[j].guid;
			enabled[j].session = 0;
			for (int k = 0; k < MAXIMUM; k++)
				if ((providers[k].enable || providers[k].request) && !memcmp(&providers[k].guid, &guid, 16)) {
					call c = {&providers[k]};
					callback(&c);
				}
		}
	WakeAllConditionVariable(&changed);
	return result;
}

API ULONG WINAPI QueryAllTracesW(uint8_t **list, ULONG n, ULONG *count) {
	*count = 0;
	for (int i = 1; i < MAXIMUM; i++)
		if (sessions[i].open && (*count)++ < n) tell(i, list[*count - 1]);
	return *count > n ? 234 : 0;
}

API ULONG WINAPI TraceSetInformation(uint64_t handle, int class, void *data, ULONG size) { return !handle || find(handle, NULL) ? 0 : 4201; }

API ULONG WINAPI EnableTraceEx2(uint64_t handle, const GUID *guid, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all, ULONG timeout, uint8_t *parameters) {
	int i = find(handle, NULL);
	if (!i) return 4201;
	call c = {NULL, {0}, code, level, any, all, i, NULL};
	enablement kept = {*guid, i, any, all, level};
	if (parameters) {
		memcpy(&c.source, parameters + 12, 16);
		kept.stacks = get32(parameters, 4) & 4;
		c.filter = keep_filters(&kept, (piece *)get64(parameters, 32), get32(parameters, 40));
	}
	EnterCriticalSection(&lock);
	int at = -1;
	for (int j = MAXIMUM - 1; j >= 0; j--)
		if (!enabled[j].session && at < 0) at = j;
	for (int j = 0; j < MAXIMUM; j++)
		if (enabled[j].session == (uint64_t)i && !memcmp(&enabled[j].guid, guid, 16)) at = j;
	if (code == 1) {
		enabled[at] = kept;
		sessions[i].flags = any;
		sessions[i].level = level;
	} else if (code == 0) {
		enabled[at].session = 0;
	}
	LeaveCriticalSection(&lock);
	for (int k = 0; k < MAXIMUM; k++)
		if ((providers[k].enable || providers[k].request) && !memcmp(&providers[k].guid, guid, 16)) {
			c.to = &providers[k];
			callback(&c);
		}
	return 0;
}

// EnumerateTraceGuidsEx lists the providers (0), or says who has one and who wants it (1).
API ULONG WINAPI EnumerateTraceGuidsEx(int class, const GUID *in, ULONG in_size, uint8_t *out, ULONG size, ULONG *n) {
	uint8_t answer[16 * MAXIMUM + 64 * MAXIMUM] = {0}, *end = answer;
	ULONG count = 0;
	if (class == 1) end += 8;
	for (int i = 0; i < MAXIMUM; i++) {
		if (!providers[i].enable && !providers[i].request) continue;
		if (class == 0) {
			memcpy(end, &providers[i].guid, 16);
			end += 16;
		} else if (!memcmp(&providers[i].guid, in, 16)) {
			uint8_t *begin = end;
			uint32_t wanted = 0;
			count++;
			end += 16;
			for (int j = 0; j < MAXIMUM; j++)
				if (enabled[j].session && !memcmp(&enabled[j].guid, in, 16)) {
					put(end, 0, 1, 4);
					put(end, 4, enabled[j].level, 1);
					put(end, 6, enabled[j].session, 2);
					put(end, 16, enabled[j].any, 8);
					put(end, 24, enabled[j].all, 8);
					end += 32;
					wanted++;
				}
			put(begin, 0, end - begin, 4);
			put(begin, 4, wanted, 4);
			put(begin, 8, GetCurrentProcessId(), 4);
			put(begin, 12, providers[i].request ? 1 : 0, 4);
		}
	}
	if (class == 1) put(answer, 0, count, 4);
	*n = end - answer;
	if (class == 1 && !count) return 4200;
	if (*n > size) return 122;
	memcpy(out, answer, *n);
	return 0;
}

// What OpenTraceW has opened, by session.
static struct { void(WINAPI *call)(void *); void *context; } readers[MAXIMUM];

API uint64_t WINAPI OpenTraceW(uint8_t *logfile) {
	int i = find(0, (WCHAR *)get64(logfile, 8));
	if (!i) { SetLastError(4201); return ~0ull; }
	readers[i].call = (void(WINAPI *)(void *))get64(logfile, 424);
	readers[i].context = (void *)get64(logfile, 440);
	LARGE_INTEGER frequency;
	FILETIME now;
	QueryPerformanceFrequency(&frequency);
	GetSystemTimeAsFileTime(&now);
	put(logfile, 120 + 12, 1, 4);
	put(logfile, 120 + 44, 8, 4);
	put(logfile, 120 + 256, frequency.QuadPart, 8);
	memcpy(logfile + 120 + 264, &now, 8);
	put(logfile, 120 + 272, 1, 4);
	return i;
}

API ULONG WINAPI CloseTrace(uint64_t handle) {
	EnterCriticalSection(&lock);
	sessions[handle % MAXIMUM].closing = 1;
	LeaveCriticalSection(&lock);
	WakeAllConditionVariable(&changed);
	return 7007;
}

// take returns the oldest event of a session, or none when it has ended.
static event *take(uint64_t s) {
	EnterCriticalSection(&lock);
	event *e = NULL;
	for (;;) {
		event **at = &first, *before = NULL;
		while (*at && (*at)->session != s) before = *at, at = &(*at)->next;
		if ((e = *at) && !sessions[s].closing) {
			*at = e->next;
			if (last == e) last = before;
			break;
		}
		e = NULL;
		if (sessions[s].stopped || sessions[s].closing) break;
		SleepConditionVariableCS(&changed, &lock, INFINITE);
	}
	LeaveCriticalSection(&lock);
	return e;
}

API ULONG WINAPI ProcessTrace(uint64_t *handles, ULONG n, void *from, void *to) {
	event *e;
	uint64_t s = handles[0] % MAXIMUM;
	while ((e = take(s))) {
		uint8_t record[112] = {0};
		memcpy(record, e->header, 80);
		put(record, 84, e->items, 2);
		put(record, 86, e->payload, 2);
		put(record, 88, (uint64_t)e->item, 8);
		put(record, 96, (uint64_t)e->data, 8);
		put(record, 104, (uint64_t)readers[s].context, 8);
		readers[s].call(record);
		memset(e->data, 0xdd, e->payload); // whoever keeps it sees that
		free(e->data);
		free(e);
	}
	return 0;
}
