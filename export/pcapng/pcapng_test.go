package pcapng_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/etwgen/etwgen/export/pcapng"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

const (
	start, end     = 0x40000000, 0x80000000
	sent, received = 0x100000000, 0x200000000
)

// A sight is a packet that a test puts into a trace, and how it must come out.
type sight struct {
	frame    []byte
	cut      int // bytes that are recorded, or 0
	name     string
	link     int
	flags    string // of the direction
	pid      int64
	original int
	at       string // seconds since 1970
}

// udp returns an Ethernet frame with n bytes of data.
func udp(random *rand.Rand, n int) []byte {
	f := make([]byte, 14+20+8+n)
	for i := range f {
		f[i] = byte(random.Uint32())
	}
	f[0] &^= 1
	binary.BigEndian.PutUint16(f[12:], 0x0800)
	copy(f[14:], []byte{0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
	binary.BigEndian.PutUint16(f[16:], uint16(28+n))
	binary.BigEndian.PutUint16(f[38:], uint16(8+n))
	return f
}

// A recording makes records of packets.
type recording struct {
	t       *testing.T
	records []*etw.Record
	clock   etw.Clock
	at      int64
}

func (c *recording) add(provider etw.GUID, id uint16, processor int32, keywords uint64, pid int64, payload []byte) {
	c.at += 1000
	c.records = append(c.records, &etw.Record{
		Kind: etw.KindManifest, Provider: provider, ID: id, Keywords: keywords, PointerSize: etw.Ptr64, Processor: processor,
		ProcessID: pid, ThreadID: pid + 1, Timestamp: c.at, Clock: &c.clock, Payload: payload,
	})
}

// ndis returns the payload of a fragment. Its size is that of the whole packet.
func ndis(lower uint32, size int, data []byte) []byte {
	p := binary.LittleEndian.AppendUint32(nil, 7)
	p = binary.LittleEndian.AppendUint32(p, lower)
	p = binary.LittleEndian.AppendUint32(p, uint32(size))
	return append(p, data...)
}

// appendText appends a text with its end.
func appendText(p []byte, text string) []byte {
	for _, unit := range utf16.Encode([]rune(text)) {
		p = binary.LittleEndian.AppendUint16(p, unit)
	}
	return append(p, 0, 0)
}

// vmswitch returns the payload of a fragment at a port of a switch.
func vmswitch(lower, port uint32, data []byte) []byte {
	p := binary.LittleEndian.AppendUint32(nil, 7)
	p = binary.LittleEndian.AppendUint32(p, lower)
	p = binary.LittleEndian.AppendUint32(p, port)
	for _, name := range []string{"port", "adapter", "kind"} {
		p = appendText(p, name)
	}
	p = binary.LittleEndian.AppendUint32(p, 2)
	p = append(p, make([]byte, 16)...)
	p = binary.LittleEndian.AppendUint32(p, uint32(len(data)))
	p = append(p, data...)
	return binary.LittleEndian.AppendUint32(p, 0) // data beside it
}

// ras returns the payload of a packet of a VPN.
func ras(domain string, data []byte) []byte {
	var p []byte
	for _, text := range []string{domain, "user"} {
		p = appendText(p, text)
	}
	p = binary.LittleEndian.AppendUint32(p, uint32(len(data)))
	return append(p, data...)
}

// packets makes a trace of each kind of packets, and the frames that must come out of it in order.
func packets(t *testing.T) (*recording, []sight) {
	random := rand.New(rand.NewPCG(1, 2))
	h := etltest.DefaultHeader()
	c := &recording{t: t, clock: h.Clock, at: h.Clock.Origin}
	var want []sight
	for i := range 40 {
		frame := udp(random, random.IntN(1400))
		direction, flags := uint64(sent), "outbound"
		if i%2 == 1 {
			direction, flags = received, "inbound"
		}
		s := sight{frame: frame, name: "eth:12", link: 1, flags: flags, pid: int64(100 + i), original: len(frame)}
		switch i % 8 {
		case 0: // a part of it on the one processor, while another one has a packet, too
			other := udp(random, 100)
			c.add(pcapng.NDISCapture, 1001, 1, start|direction, s.pid, ndis(12, len(frame), frame[:20]))
			c.add(pcapng.NDISCapture, 1001, 2, start|direction, 1, ndis(12, len(other), other[:30]))
			c.add(pcapng.NDISCapture, 1001, 1, end|direction, s.pid, ndis(12, len(frame), frame[20:]))
			c.add(pcapng.NDISCapture, 1001, 2, end|direction, 1, ndis(12, len(other), other[30:]))
			n := len(c.records)
			s.at = c.seconds(n - 4)
			want = append(want, s, sight{frame: other, name: "eth:12", link: 1, flags: flags, pid: 1, original: len(other), at: c.seconds(n - 3)})
			continue
		case 1:
			s.name = "switch:9:3"
			c.add(pcapng.NDISCapture, 1003, 0, start|end|direction, s.pid, vmswitch(9, 3, frame))
		case 2:
			s.frame, s.link, s.name, s.original = frame[14:], 101, "ras:office", len(frame)-14
			id := uint16(5001)
			if direction == received {
				id = 5002
			}
			c.add(pcapng.RasCapture, id, 0, direction, s.pid, ras("office", s.frame))
		case 3: // only the begin is recorded
			s.cut = 40
			c.add(pcapng.NDISCapture, 1001, 0, start|end|direction, s.pid, ndis(12, len(frame), frame[:40]))
		case 4:
			s.frame, s.link, s.original = frame[14:], 101, len(frame)-14
			c.add(pcapng.NDISCapture, 1001, 0, start|end|direction|0x200, s.pid, ndis(12, len(s.frame), s.frame))
		default:
			c.add(pcapng.NDISCapture, 1001, 0, start|end|direction, s.pid, ndis(12, len(frame), frame))
		}
		s.at = c.seconds(len(c.records) - 1)
		want = append(want, s)
	}
	return c, want
}

// seconds returns when record i is, in seconds since 1970.
func (c *recording) seconds(i int) string {
	at := c.records[i].Time()
	return fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond()/100*100)
}

// export writes a trace, reads it, and exports its packets.
func (c *recording) export() ([]byte, pcapng.Stats) {
	c.t.Helper()
	file := testio.Encoded(c.t, etltest.File, etltest.DefaultHeader(), c.records...)
	path := filepath.Join(c.t.TempDir(), "packets.etl")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		c.t.Fatal(err)
	}
	t := testio.Open(c.t, trace.Open, path)
	defer t.Close()
	var out bytes.Buffer
	w := pcapng.NewWriter(&out)
	capture := pcapng.NewCapture(w.Packet)
	for r, err := range t.Records() {
		if err == nil {
			err = capture.Record(r)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	capture.End()
	if err := w.Flush(); err != nil {
		c.t.Fatal(err)
	}
	return out.Bytes(), capture.Stats()
}

// TestBlocks goes through the blocks of the file: they adjoin, and their packets are those
// that were traced.
func TestBlocks(t *testing.T) {
	c, want := packets(t)
	file, _ := c.export()
	interfaces := 0
	for at, n := 0, 0; at < len(file); at += n {
		n = int(binary.LittleEndian.Uint32(file[at+4:]))
		if n < 12 || n%4 != 0 || at+n > len(file) || binary.LittleEndian.Uint32(file[at+n-4:]) != uint32(n) {
			t.Fatalf("a block of %d bytes at %d of %d", n, at, len(file))
		}
		body := file[at+8 : at+n-4]
		switch kind := binary.LittleEndian.Uint32(file[at:]); kind {
		case 0x0a0d0d0a:
		case 1:
			interfaces++
		case 6:
			if len(want) == 0 {
				t.Fatal("more packets than were traced")
			}
			s := want[0]
			want = want[1:]
			data := s.frame
			if s.cut > 0 {
				data = data[:s.cut]
			}
			size := binary.LittleEndian.Uint32(body[12:])
			if !bytes.Equal(body[20:20+size], data) || int(binary.LittleEndian.Uint32(body[16:])) != s.original || int(binary.LittleEndian.Uint32(body)) >= interfaces {
				t.Errorf("%d packets are left at a block that is not as the packet was", len(want))
			}
		default:
			t.Errorf("a block of kind %d", kind)
		}
	}
	if len(want) > 0 || interfaces != 4 {
		t.Errorf("%d packets are missing, of %d interfaces", len(want), interfaces)
	}
}

// TestTshark has Wireshark's own reader list the file: each frame is there, byte for byte,
// with its time, interface, direction and process.
func TestTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("there is no tshark")
	}
	c, want := packets(t)
	file, stats := c.export()
	if stats.Packets != int64(len(want)) || stats.Cut != 5 || stats != (pcapng.Stats{Packets: stats.Packets, Cut: 5}) {
		t.Errorf("%+v", stats)
	}
	path := filepath.Join(t.TempDir(), "x.pcapng")
	testio.Write(t, path, file)
	cmd := exec.Command(tshark, "-n", "-r", path, "-T", "fields", "-E", "separator=|", "-e", "frame.cap_len", "-e", "frame.len",
		"-e", "frame.interface_name", "-e", "frame.packet_flags_direction", "-e", "frame.comment", "-e", "frame.encap_type", "-e", "frame.time_epoch")
	fields, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(fields)), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d frames, not %d", len(lines), len(want))
	}
	raw := framesOf(t, tshark, path)
	for i, s := range want {
		direction := map[string]string{"inbound": "0x00000001", "outbound": "0x00000002"}[s.flags]
		encap := map[int]string{1: "1", 101: "7"}[s.link]
		data := s.frame
		if s.cut > 0 {
			data = data[:s.cut]
		}
		line := fmt.Sprintf("%d|%d|%s|%s|PID=%d TID=%d|%s|%s", len(data), s.original, s.name, direction, s.pid, s.pid+1, encap, s.at)
		if lines[i] != line {
			t.Errorf("frame %d: %s, not %s", i, lines[i], line)
		}
		if !bytes.Equal(raw[i], data) {
			t.Errorf("frame %d: %x, not %x", i, raw[i], data)
		}
	}
}

// framesOf returns the bytes of all frames as tshark prints them.
func framesOf(t *testing.T, tshark, path string) [][]byte {
	text, err := exec.Command(tshark, "-n", "-r", path, "-x", "--hexdump", "frames", "--hexdump", "noascii").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, part := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		var frame []byte
		for line := range strings.Lines(part) {
			_, digits, ok := strings.Cut(line, "  ")
			if !ok {
				continue
			}
			data, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(digits), " ", ""))
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			frame = append(frame, data...)
		}
		all = append(all, frame)
	}
	return all
}
