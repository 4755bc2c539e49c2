package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/fetch"
	"github.com/etwgen/etwgen/internal/msf"
	"github.com/etwgen/etwgen/internal/perfmap"
	"github.com/etwgen/etwgen/internal/tracepoint"
	"github.com/etwgen/etwgen/manifest/wpp"
	"github.com/etwgen/etwgen/runtime/etw"
)

// formatText is how the kernel of Linux describes one of its events.
const formatText = "name: sched_switch\nID: 316\nformat:\n" +
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" +
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n" +
	"\tfield:u64 times[2];\toffset:32;\tsize:16;\tsigned:0;\n\nprint fmt: \"%s\", REC->prev_comm\n"

// readFormat describes an event, and decodes the text by it.
func readFormat(data []byte) (int, error) {
	d, err := tracepoint.Parse("sched", data)
	if err != nil {
		return 0, err
	}
	rec := &etw.Record{Provider: d.Provider.GUID, ProviderName: d.Provider.Name, ID: d.ID, Schema: d, PointerSize: etw.Ptr64, Payload: data[:min(len(data), 256)]}
	if v, _ := etw.NewDecoder().Decode(rec); v != nil {
		if text := etw.AppendText(nil, v); len(text) > 1<<20 {
			return 0, fmt.Errorf("%w: a text of %d bytes", errPromise, len(text))
		}
	}
	return len(d.Fields), nil
}

// jitDump is a jitdump of perf: its head, code that is loaded, and the same moved.
func jitDump() []byte {
	b := []byte("DTiJ")
	for _, n := range []uint32{1, 40, 62, 0, 42, 0, 0, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	record := func(kind uint32, text string, words ...uint64) {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, kind), uint32(16+8*len(words)+len(text)))
		for _, w := range append([]uint64{1}, words...) {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		b = append(b, text...)
	}
	record(0, "void [Shop] Oven::Bake()[Tier0]\x00code", 42, 0x7f00, 0x7f00, 4, 1)
	record(1, "", 42, 0x8f00, 0x7f00, 0x8f00, 4, 1)
	return b
}

func readJITDump(data []byte) (n int, err error) {
	err = perfmap.ReadDump(bytes.NewReader(data), func(uint64, uint64, string) { n++ })
	if n > len(data)/16 {
		return 0, fmt.Errorf("%w: %d functions in %d bytes", errPromise, n, len(data))
	}
	return n, err
}

// packed makes an MSFZ file of a PDB: half of the bytes as they are, and half in chunks.
func packed(pdb []byte) ([]byte, error) {
	m, err := msf.Open(bytes.NewReader(pdb), int64(len(pdb)))
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	file, chunks, directory := make([]byte, 80), []byte(nil), []byte(nil)
	copy(file, "Microsoft MSFZ Container\r\n\x1aALD\x00\x00")
	streams := uint32(0)
	for ; ; streams++ {
		s, err := m.Stream(int(streams))
		if err != nil {
			break
		}
		for i, part := range [][]byte{s[:len(s)/2], s[len(s)/2:]} {
			if len(part) == 0 {
				continue
			}
			at := uint64(len(file))
			if i == 0 {
				at = 1<<63 | uint64(len(chunks))
				chunks = append(chunks, part...)
			} else {
				file = append(file, part...)
			}
			directory = le.AppendUint64(le.AppendUint32(directory, uint32(len(part))), at)
		}
		directory = le.AppendUint32(directory, 0)
	}
	table := le.AppendUint64(nil, uint64(len(file)))
	for _, n := range []int{0, len(chunks), len(chunks)} {
		table = le.AppendUint32(table, uint32(n))
	}
	file = append(file, chunks...)
	le.PutUint64(file[40:], uint64(len(file)))
	le.PutUint64(file[48:], uint64(len(file)+len(directory)))
	for i, n := range []uint32{streams, 0, uint32(len(directory)), uint32(len(directory)), 1, uint32(len(table))} {
		le.PutUint32(file[56+4*i:], n)
	}
	return append(append(file, directory...), table...), nil
}

// A served is a server of symbols that has one file, and the key that it is asked by.
type served struct {
	server *httptest.Server
	dir    string
	key    fetch.Key
	body   []byte // of any file whose address ends as suffix says
	suffix string
}

// servePDB returns the server of a PDB, which is asked for it by its identity, and may have it packed.
func servePDB(id symbols.PDB, suffix, dir string) *served {
	s := &served{dir: dir, suffix: suffix, key: fetch.Keys(&symbols.Native{PDB: id})[0]}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, s.suffix) {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(s.body)
	}))
	return s
}

// read gets the file: the store has it then as it is asked for, or nothing at all.
func (s *served) read(data []byte) (int, error) {
	s.body = data
	store, err := os.MkdirTemp(s.dir, "store")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(store)
	path, err := fetch.ParsePath(s.server.URL, store)
	if err != nil {
		return 0, err
	}
	said := errors.New("no word of why there is no file")
	found := fetch.New(path, fetch.Limits{File: 16 << 20}, func(e fetch.Event) { said = e.Err }).Find(context.Background(), s.key)
	if found == "" {
		var left []string
		err := filepath.WalkDir(store, func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				left = append(left, name)
			}
			return err
		})
		if err != nil || said == nil || slices.ContainsFunc(left, func(name string) bool { return strings.HasSuffix(name, s.key.Name) }) {
			return 0, fmt.Errorf("%w: %v; the store has %q, %v", errPromise, said, left, err)
		}
		return 0, said
	}
	got, err := os.ReadFile(found)
	if err != nil || !strings.HasPrefix(found, store) || len(got) > 16<<20 {
		return 0, fmt.Errorf("%w: %s, %d bytes: %v", errPromise, found, len(got), err)
	}
	return len(got), nil
}

// symbolFiles adds the files that tell names of code and formats of events beside traces.
func (x *forms) symbolFiles(corpus, dir string) error {
	x.files = append(x.files,
		formFile{name: "format of a tracepoint", data: []byte(formatText), read: readFormat},
		formFile{name: "jitdump", data: jitDump(), read: readJITDump},
	)
	if pdb, err := os.ReadFile(filepath.Join(corpus, "wpp", "Bakery.pdb")); err == nil {
		data, err := packed(pdb)
		if err != nil {
			return err
		}
		if all, err := wpp.ReadPDB(bytes.NewReader(data), int64(len(data))); err != nil || len(all) == 0 {
			return fmt.Errorf("a PDB that is packed has %d providers: %w", len(all), err)
		}
		x.files = append(x.files, formFile{name: "MSFZ", data: data, read: readAnnotations, ends: true})
	}
	id := symbols.PDB{GUID: etw.MustParseGUID("a6259241-8d78-0749-4c4c-44205044422e"), Age: 1, Path: `D:\b\ShowSSEConfig.pdb`}
	for name, suffix := range map[string]string{"ShowSSEConfig.pdb": ".pdb", "ShowSSEConfig.pd_": ".pd_"} {
		if data, err := os.ReadFile(filepath.Join(corpus, "symsrv", name)); err == nil {
			s := servePDB(id, suffix, dir)
			x.closers = append(x.closers, s.server.Close)
			x.files = append(x.files, formFile{name: "server of symbols, " + suffix, data: data, read: s.read, ends: suffix != ".pdb"})
		}
	}
	return nil
}
