// Log files of the small Event Tracing for Windows: a buffer with the header of the file,
// and buffers of events, in the three modes of files with a size.

enum { BUFFER = 64 << 10, BUFFER_HEADER = 72, SEQUENTIAL = 1, CIRCULAR = 2, NEW_FILE = 8, REAL_TIME = 0x100 };

typedef struct {
	HANDLE file;
	WCHAR pattern[1024], path[1024], name[1024];
	uint32_t mode, limit, number, used, events, written, lost;
	uint64_t at, sequence;
	uint8_t buffer[BUFFER];
} logfile;

static void put(void *p, int at, uint64_t v, int n);

static void write_buffer(logfile *f, uint64_t at, uint32_t used, int kind) {
	FILETIME now;
	GetSystemTimeAsFileTime(&now);
	memset(f->buffer, 0, BUFFER_HEADER);
	memset(f->buffer + used, 0xff, BUFFER - used);
	put(f->buffer, 0, BUFFER, 4);
	put(f->buffer, 4, used, 4);
	put(f->buffer, 8, used, 4);
	memcpy(f->buffer + 16, &now, 8);
	put(f->buffer, 24, f->sequence++, 8);
	put(f->buffer, 42, 1, 2);
	put(f->buffer, 44, 3, 4);
	put(f->buffer, 48, used, 4);
	put(f->buffer, 52, kind == 4, 2);
	put(f->buffer, 54, kind, 2);
	LARGE_INTEGER to;
	DWORD n;
	to.QuadPart = at;
	SetFilePointerEx(f->file, to, NULL, FILE_BEGIN);
	WriteFile(f->file, f->buffer, BUFFER, &n, NULL);
	f->written++;
}

// write_header writes the first buffer: again when the file is closed.
static void write_header(logfile *f, int closed) {
	static LARGE_INTEGER origin, frequency;
	static FILETIME start;
	uint8_t *p = f->buffer + BUFFER_HEADER, *names = p + 32 + 280;
	FILETIME now;
	GetSystemTimeAsFileTime(&now);
	if (!frequency.QuadPart) {
		QueryPerformanceFrequency(&frequency);
		QueryPerformanceCounter(&origin);
		start = now;
	}
	memset(f->buffer, 0, BUFFER);
	size_t n = 2 * (wcslen(f->name) + 1), m = 2 * (wcslen(f->path) + 1);
	memcpy(names, f->name, n);
	memcpy(names + n, f->path, m);
	put(p, 0, 0xc0020002, 4);
	put(p, 4, 312 + n + m, 2);
	memcpy(p + 16, &origin, 8);
	p += 32;
	put(p, 0, BUFFER, 4);
	put(p, 4, 0x0501000a, 4);
	put(p, 8, 19045, 4);
	put(p, 12, 1, 4);
	if (closed) memcpy(p + 16, &now, 8);
	put(p, 28, f->limit >> 20, 4);
	put(p, 32, f->mode, 4);
	put(p, 36, f->written, 4);
	put(p, 44, 8, 4);
	put(p, 48, f->lost, 4);
	memcpy(p + 248, &start, 8);
	memcpy(p + 256, &frequency, 8);
	memcpy(p + 264, &start, 8);
	put(p, 272, 1, 4);
	write_buffer(f, 0, (BUFFER_HEADER + 312 + n + m + 7) & ~7, 4);
}

static int open_file(logfile *f) {
	f->number++;
	swprintf(f->path, 1024, f->pattern, f->number);
	f->file = CreateFileW(f->path, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS, 0, NULL);
	if (f->file == INVALID_HANDLE_VALUE) return 0;
	f->written = 0;
	write_header(f, 0);
	f->at = BUFFER;
	f->used = BUFFER_HEADER;
	f->events = 0;
	return 1;
}

static void close_file(logfile *f) {
	write_header(f, 1);
	CloseHandle(f->file);
}

// flush_file writes the buffer: where, the mode says if the file has its size.
static void flush_file(logfile *f) {
	uint8_t full[BUFFER];
	if (f->limit && f->at + BUFFER > f->limit) switch (f->mode & 15) {
	case SEQUENTIAL:
		f->lost += f->events;
		f->used = BUFFER_HEADER;
		f->events = 0;
		return;
	case CIRCULAR:
		f->at = BUFFER;
		break;
	case NEW_FILE: {
		uint32_t used = f->used;
		memcpy(full, f->buffer, BUFFER);
		close_file(f);
		open_file(f);
		memcpy(f->buffer, full, BUFFER);
		f->used = used;
	}
	}
	write_buffer(f, f->at, f->used, 0);
	f->at += BUFFER;
	f->used = BUFFER_HEADER;
	f->events = 0;
}

// append_file appends an event: header, items and payload.
static void append_file(logfile *f, const uint8_t *header, int items, const void *item, const uint8_t *data, uint16_t payload) {
	const struct { uint16_t reserved, type, linkage, size; uint64_t data; } *list = item;
	uint32_t size = 80 + payload;
	for (int i = 0; i < items; i++) size += 8 + ((list[i].size + 7) & ~7);
	if (f->used + size + 8 > BUFFER) flush_file(f);
	uint8_t *p = f->buffer + f->used, *end = p + 80;
	memcpy(p, header, 80);
	put(p, 0, 0xc0130000 | size, 4);
	for (int i = 0; i < items; i++) {
		put(end, 0, list[i].type << 16, 4);
		put(end, 4, list[i].size << 16 | (i + 1 < items), 4);
		memset(end + 8, 0, (list[i].size + 7) & ~7);
		memcpy(end + 8, (void *)list[i].data, list[i].size);
		end += 8 + ((list[i].size + 7) & ~7);
	}
	memcpy(end, data, payload);
	f->used += (size + 7) & ~7;
	f->events++;
}

// begin_file opens the file of a session, if it has one.
static logfile *begin_file(const uint8_t *properties, const WCHAR *name) {
	uint32_t at, mode, limit;
	memcpy(&limit, properties + 60, 4);
	memcpy(&mode, properties + 64, 4);
	memcpy(&at, properties + 112, 4);
	if (!at || mode & REAL_TIME) return NULL;
	logfile *f = calloc(1, sizeof *f);
	wcsncpy(f->pattern, (const WCHAR *)(properties + at), 1023);
	wcsncpy(f->name, name, 1023);
	f->mode = mode;
	f->limit = limit << 20;
	if (!open_file(f)) { free(f); return NULL; }
	return f;
}

// end_file closes it, and says what was lost.
static uint32_t end_file(logfile *f) {
	if (f->events) flush_file(f);
	close_file(f);
	uint32_t lost = f->lost;
	free(f);
	return lost;
}
