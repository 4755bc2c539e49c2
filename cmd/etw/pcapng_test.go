package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/export/pcapng"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestPcapng exports the packets of a trace, and of one process, and says where there are
// none.
func TestPcapng(t *testing.T) {
	h := etltest.DefaultHeader()
	var records []*etw.Record
	for pid := range int64(3) {
		payload := binary.LittleEndian.AppendUint32(make([]byte, 8), 60)
		records = append(records, &etw.Record{
			Kind: etw.KindManifest, Provider: pcapng.NDISCapture, ID: 1001, Keywords: 0x1c0000001, PointerSize: etw.Ptr64,
			ProcessID: 100 + pid, ThreadID: 1, Timestamp: h.Clock.Origin + pid*1000, Clock: &h.Clock, Payload: append(payload, make([]byte, 60)...),
		})
	}
	file := testio.Encoded(t, etltest.File, h, records...)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "net.etl"), filepath.Join(dir, "net.pcapng")
	testio.Write(t, in, file)
	if code, stdout, stderr := runTool("export", "-o", out, in); code != 0 || stdout != "" || stderr != "3 packets\n" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	all, err := os.ReadFile(out)
	if err != nil || bytes.Count(all, []byte("PID=")) != 3 {
		t.Errorf("%v; %q", err, all)
	}
	if code, stdout, stderr := runTool("export", "--format", "pcapng", "-o", "-", "--process", "101", in); code != 0 || strings.Count(stdout, "PID=101") != 1 || stderr != "1 packet\n" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	if code, _, stderr := runTool("export", "-o", out, "../../tests/recorded/gc.nettrace"); code != 5 || !strings.Contains(stderr, "there are no network packets in it: netsh trace start capture=yes") {
		t.Errorf("%d %q", code, stderr)
	}
	if after, err := os.ReadFile(out); err != nil || !bytes.Equal(after, all) {
		t.Errorf("the file is another one, of a trace without packets: %v", err)
	}
	if code, _, stderr := runTool("export", "--format", "pcapng", in); code != 2 || !strings.Contains(stderr, "--output says the file") {
		t.Errorf("%d %q", code, stderr)
	}
}
