package profile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/profile"
	"github.com/etwgen/etwgen/tests/corpus"
)

// Message appends a field of a message of Protocol Buffers: a number, a text or a message.
func field(b []byte, number int, v any) []byte {
	switch v := v.(type) {
	case int:
		return field(b, number, int64(v))
	case int64:
		return binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3), uint64(v))
	case string:
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3|2), uint64(len(v)))
		return append(b, v...)
	}
	return field(b, number, string(v.([]byte)))
}

// message returns a message of numbers of fields and their values.
func message(fields ...any) (b []byte) {
	for i := 0; i < len(fields); i += 2 {
		b = field(b, fields[i].(int), fields[i+1])
	}
	return b
}

// small is a profile of pprof: main calls work, in which inner is inlined.
func small() []byte {
	return message(
		1, message(1, 1, 2, 2), 1, message(1, 3, 2, 4),
		2, message(1, string([]byte{1, 2}), 2, string([]byte{3, 30}), 3, message(1, 5, 2, 6), 3, message(1, 7, 3, 42)),
		2, message(1, 2, 2, 1, 2, 10),
		3, message(1, 1, 5, 8),
		4, message(1, 1, 2, 1, 3, 0x10, 4, message(1, 2, 2, 20), 4, message(1, 1, 2, 10)),
		4, message(1, 2, 3, 0x20, 4, message(1, 3, 2, 5)),
		5, message(1, 1, 2, 9, 4, 10), 5, message(1, 2, 2, 11, 4, 10), 5, message(1, 3, 2, 12, 4, 10),
		6, "", 6, "samples", 6, "count", 6, "cpu", 6, "microseconds", 6, "state", 6, "running", 6, "tid", 6, "/bin/shop",
		6, "work", 6, "/src/shop.c", 6, "inner", 6, "main",
		9, int64(1_700_000_000_000_000_000), 10, 5_000_000, 11, message(1, 3, 2, 4), 12, 10,
	)
}

// text says a profile in lines: a stack from the outermost frame on, and its values.
func text(p *profile.Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v\n", p.Format, p.Types)
	for i, s := range p.Samples {
		frames := p.AppendStack(nil, s.Stack)
		slices.Reverse(frames)
		for k, f := range frames {
			name := fmt.Sprintf("%#x", p.Frames[f].Address)
			if fn := p.Frames[f].Function; fn >= 0 {
				name = p.Functions[fn].Name
			}
			if line := p.Frames[f].Line; line > 0 {
				name += fmt.Sprintf(":%d", line)
			}
			b.WriteString([]string{";", ""}[min(1, max(0, 1-k))] + name)
		}
		fmt.Fprintf(&b, " %v", p.Values(i))
		if s.Thread >= 0 {
			fmt.Fprintf(&b, " %v", p.Threads[s.Thread])
		}
		for _, l := range s.Labels {
			fmt.Fprintf(&b, " %s=%s", l.Key, l.Value)
		}
		b.WriteByte('\n')
	}
	for _, w := range p.Warnings {
		fmt.Fprintln(&b, "warning:", w)
	}
	return b.String()
}

// ofOTLP is the profile of small as OpenTelemetry has it: times, values, and both.
func ofOTLP() []byte {
	times := binary.LittleEndian.AppendUint64(nil, 1000)
	times = binary.LittleEndian.AppendUint64(times, 2000)
	value := func(n int) []byte { return message(3, n) }
	dictionary := message(
		1, message(), 1, message(4, 9),
		2, message(), 2, message(1, 1, 2, 0x10, 3, message(1, 2, 2, 20), 3, message(1, 1, 2, 10)), 2, message(1, 1, 2, 0x20, 3, message(1, 3, 2, 5)),
		3, message(), 3, message(1, 5), 3, message(1, 6), 3, message(1, 7),
		5, "", 5, "samples", 5, "count", 5, "cpu", 5, "nanoseconds", 5, "work", 5, "inner", 5, "main", 5, "thread.id", 5, "/bin/shop", 5, "state",
		6, message(), 6, message(1, 8, 2, value(42)), 6, message(1, 10, 2, message(1, "running")),
		7, message(), 7, message(1, string([]byte{1, 2})), 7, message(1, 2))
	return message(
		1, message(
			1, message(1, message(1, "process.pid", 2, value(77)), 1, message(1, "service.name", 2, message(1, "shop"))),
			2, message(
				2, message(1, message(1, 1, 2, 2), 2, message(1, 1, 2, string([]byte{1, 2}), 5, string(times)), 3, 500),
				2, message(1, message(1, 3, 2, 4), 2, message(1, 2, 4, string([]byte{7})), 2, message(1, 1, 4, string([]byte{5, 6}), 5, string(times))))),
		2, dictionary)
}

const cpuProfile = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":"","lineNumber":-1},"children":[2]},
	{"id":2,"callFrame":{"functionName":"main","url":"a.js","lineNumber":4},"children":[3]},
	{"id":3,"callFrame":{"functionName":"","url":"a.js","lineNumber":9}}],
	"startTime":100,"endTime":200,"samples":[3,2,3],"timeDeltas":[10,20,-5]}`

const firefox = `{"meta":{"product":"x","preprocessedProfileVersion":66,"startTime":1000,"interval":1},
	"shared":{"stringArray":["main","work","a.js"],"stackTable":{"frame":[0,1],"prefixOffset":[0,1]},"frameTable":{"func":[0,1],"line":[null,7]},
	"funcTable":{"name":[0,1],"resource":[-1,-1],"source":[null,0]},"sources":{"filename":[2]}},
	"threads":[{"name":"GUI","pid":"5","tid":6,"processName":"app","samples":{"stack":[1,null,0],"timeDeltas":[1,2,3],"weight":[1.5,0.25,2],"weightType":"tracing-ms"}},
	{"name":"old","pid":5,"tid":7,"stringArray":["f"],"stackTable":{"frame":[0],"prefix":[null]},"frameTable":{"func":[0],"line":[null]},"funcTable":{"name":[0]},"samples":{"stack":[0],"time":[1]}}]}`

// ofGperftools is a profile of words: two samples of one stack and one of another.
func ofGperftools(order binary.AppendByteOrder) (b []byte) {
	for _, w := range []uint32{0, 3, 0, 10_000, 0, 2, 2, 0x1010, 0x2020, 1, 1, 0x3000, 0, 1, 0} {
		b = order.AppendUint32(b, w)
	}
	return append(b, "00001000-00003000 r-xp 00000000 08:01 1 /bin/shop\n00003000-00004000 rw-p 0 0 0 [heap]\n"...)
}

// perfText is what perf script prints: with and without stacks, processes and processors.
const perfText = "# ========\n# captured on    : Mon\n\n" +
	"my prog 1  2143  1951.599325:    1001001 cpu-clock:ppp: \n\tffffffff816d1439 work+0x1c9 ([kernel.kallsyms])\n\t           401 main (/bin/x)\n\n" +
	"shop     7/7     [001] 1952.000000001:  5 cpu-clock:ppp: \r\n          33 [unknown] (/lib/libc.so.6)\r\nnonsense\n\t           401 main (/bin/x)\n\n" +
	"a/b     7/9     [001] 1953.0: sched:sched_switch: prev_comm=a/b prev_pid=9 ==> next_comm=x\n\n\t\n" +
	"         swapper     0/0     [012] 1953.5:          1 sched:sched_switch: 57622160 + 8 [0] ffffffff8bee2b4c blk start+0x3 ([kernel.kallsyms])\n" +
	"also nonsense\n"

const speedscopeHead = `{"$schema":"x","shared":{"frames":[{"name":"a","file":"a.js","line":3},{"name":"b"}]},"profiles":[`

func TestRead(t *testing.T) {
	utf16le := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune("a;b 3\n")) {
		utf16le = binary.LittleEndian.AppendUint16(utf16le, u)
	}
	for _, x := range []struct{ name, data, want string }{
		{"pprof", string(small()), "pprof [{samples count} {cpu nanoseconds}]\n" +
			"main:5;work:10;inner:20 [3 30000] {0 42  } state=running\nmain:5 [1 10000]\n"},
		{"folded", "# made by hand\na;b;c 12\r\n\na;b 3\n x 1.5\nx 1.5\n", "folded stacks [{weight }]\na;b;c [12]\na;b [3]\nx [2]\nx [1]\n"},
		{"folded with bad lines", "a;b 12\nnonsense\na 3\n", "folded stacks [{weight }]\na;b [12]\na [3]\nwarning: 1 lines have no frames and weight, and are left out; the first is line 2\n"},
		{"folded in UTF-16", string(utf16le), "folded stacks [{weight }]\na;b [3]\n"},
		{"sampled", speedscopeHead + `{"type":"sampled","name":"one","unit":"milliseconds","startValue":0,"endValue":4,"samples":[[0,1],[],[0]],"weights":[1.25,0.5,2]}]}`,
			"speedscope [{time nanoseconds}]\na:3;b [1250000] {0 0  one}\n [500000] {0 0  one}\na:3 [2000000] {0 0  one}\n"},
		{"evented", speedscopeHead + `{"type":"evented","name":"one","unit":"none","startValue":0,"endValue":9,"events":[{"type":"O","at":1,"frame":0},{"type":"O","at":3,"frame":1},{"type":"C","at":4,"frame":1},{"type":"C","at":6,"frame":0}]}]}`,
			"speedscope [{weight }]\na:3 [2] {0 0  one}\na:3;b [1] {0 0  one}\na:3 [2] {0 0  one}\n"},
		{"nested wrongly", speedscopeHead + `{"type":"evented","name":"one","unit":"bytes","startValue":0,"endValue":9,"events":[{"type":"O","at":0,"frame":0},{"type":"O","at":1,"frame":1},{"type":"C","at":2,"frame":0},{"type":"C","at":3,"frame":1},{"type":"O","at":4,"frame":0}]}]}`,
			"speedscope [{space bytes}]\na:3 [1] {0 0  one}\na:3;b [1] {0 0  one}\na:3 [5] {0 0  one}\n" +
				"warning: 2 frames were closed out of their order or not at all, and end with their callers\nwarning: 1 frames were closed that were not open\n"},
		{"OTLP", string(ofOTLP()), "OTLP [{samples count} {cpu nanoseconds}]\nmain:5;work:10;inner:20 [1 0] {77 42 shop } state=running\n" +
			"main:5;work:10;inner:20 [1 0] {77 42 shop } state=running\nmain:5 [0 7] {77 0 shop }\nmain:5;work:10;inner:20 [0 5] {77 0 shop }\nmain:5;work:10;inner:20 [0 6] {77 0 shop }\n"},
		{"cpuprofile", cpuProfile, "cpuprofile [{samples count} {time nanoseconds}]\nmain:5;(anonymous):10 [1 15000]\nmain:5;(anonymous):10 [1 5000]\nmain:5 [1 70000]\n"},
		{"Firefox", firefox, "Firefox Profiler 66 [{samples count} {time nanoseconds}]\nmain;work:7 [1 1500000] {5 6 app GUI}\n [1 250000] {5 6 app GUI}\nmain [1 2000000] {5 6 app GUI}\nf [1 0] {5 7  old}\n"},
		{"perf script", perfText, "perf script [{samples count} {cpu-clock:ppp nanoseconds} {sched:sched_switch count}]\n" +
			"main;work [1 1001001 0] {0 2143  my prog 1}\nmain;0x33 [1 5 0] {7 7 shop shop}\n [0 0 1] {7 9  a/b}\nblk start [0 0 1] {0 0  swapper}\n" +
			"warning: 2 lines belong to no sample, or to one of more than 32 events, and are left out; the first is line 10\n"},
		{"perf script without periods", "a 1 2.5: cycles:u:  deadbeef01 f(int)+0x1 (/x (deleted))\nb 2 2.75: cycles:u: ", "perf script [{cycles:u count}]\nf(int) [1] {0 1  a}\n [1] {0 2  b}\n" +
			"warning: the text ends within line 2\n"},
		{"gperftools", string(ofGperftools(binary.LittleEndian)), "gperftools [{samples count} {cpu nanoseconds}]\n0x201f;0x1010 [2 20000000]\n0x3000 [1 10000000]\n"},
		{"gperftools of the other order", string(ofGperftools(binary.BigEndian)), "gperftools [{samples count} {cpu nanoseconds}]\n0x201f;0x1010 [2 20000000]\n0x3000 [1 10000000]\n"},
	} {
		if !profile.Recognizes([]byte(x.data)[:min(512, len(x.data))]) {
			t.Errorf("%s is not recognized", x.name)
		}
		p, err := profile.Read([]byte(x.data))
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
		} else if got := text(p); got != x.want {
			t.Errorf("%s: got\n%s\nwant\n%s", x.name, got, x.want)
		}
	}
}

// Faults are reported, with the place.
func TestReadWrong(t *testing.T) {
	good := small()
	chain := func(n int) []byte { // each line of a location is a frame
		lines := message(1, 1)
		for range n {
			lines = append(lines, message(4, message(2, 1))...)
		}
		b := message(1, message(1, 1, 2, 1), 6, "", 6, "x", 4, lines)
		for range 100 {
			b = append(b, message(2, message(1, string(bytes.Repeat([]byte{1}, 100)), 2, 1))...)
		}
		return b
	}
	for _, x := range []struct{ data, want string }{
		{"", "not a profile"},
		{"\x00\x01\x02\x03", "not a profile"},
		{"Hello 12\nthis\nis\nno\nprofile\n", "line 2: neither frames"},
		{string(good[:30]), "pprof: offset"},
		{string(message(1, message(1, 1), 6, "", 6, "x", 2, message(2, 1, 2, 2))), "sample: it has 2 values, where 1 types are declared"},
		{string(message(1, message(1, 1), 6, "", 6, "x", 2, message(2, -5))), "sample 0 weighs -5: a profile of differences"},
		{string(message(1, message(1, 1), 4, message(1, 7), 4, message(1, 7))), "location: two have the number 7"},
		{string(chain(1000)), "sample 0: its stack has 100000 frames, more than 65536"},
		{string(chain(600)), "stacks have more than"},
		{`{"shared":{},"profiles":[]}`, "no type of values is declared"},
		{string(message(6, "", 6, "x", 2, message())), "no type of values is declared"},
		{"# ========\n# captured on: Mon\n", "no sample is in it"},
		{`{"a":1}`, "it is JSON, but no profile of speedscope, the Firefox Profiler or V8"},
		{`{"a":`, "offset 5"},
		{string(ofGperftools(binary.LittleEndian)[:44]), "gperftools: offset 36: sample"},
		{string(ofOTLP()[:len(ofOTLP())-9]), "OTLP: offset"},
		{strings.Replace(cpuProfile, "[3,2,3]", "[3,2,9]", 1), "samples[2]: no node has the id 9"},
		{strings.Replace(cpuProfile, `"children":[2]`, `"parent":3,"children":[2]`, 1), "is one of its own"},
		{strings.Replace(cpuProfile, "[10,20,-5]", "[10]", 1), "timeDeltas: there are 1, and 3 samples"},
		{`{"nodes":[{}]}`, "nodes[0]: it has no callFrame"},
		{`{"meta":{},"threads":[]}`, "not processed"},
		{strings.Replace(firefox, `"prefixOffset":[0,1]`, `"prefixOffset":[0,-1]`, 1), "shared.stackTable[1]: its caller is 2, and must come before it"},
		{strings.Replace(firefox, `"frame":[0,1]`, `"frame":[0,2]`, 1), "shared.stackTable.frame[1]: frame 2 is not one of the 2"},
		{strings.Replace(firefox, `"stack":[1,null,0]`, `"stack":[1,null,2]`, 1), "threads[0].samples.stack[2]: stack 2 is not one of the 2"},
		{strings.Replace(firefox, `0.25`, `-1`, 1), "threads[0].samples.weight[1]: it weighs -1"},
		{`[]`, "it is a list in JSON"},
		{`{"traceEvents":[]}`, "it is a trace of Chrome"},
		{speedscopeHead + `{"type":"sampled","samples":[[0],[2]],"weights":[1,1]}]}`, "profiles[0].samples[1]: frame 2 is not one of the 2"},
		{speedscopeHead + `{"type":"sampled","samples":[[0]],"weights":[]}]}`, "profiles[0].samples[0]: there are 0 weights"},
		{speedscopeHead + `{"type":"sampled","samples":[[0]],"weights":[-1]}]}`, "profiles[0].samples[0]: it weighs -1"},
		{speedscopeHead + `{"type":"sampled","samples":{},"weights":[]}]}`, "profiles[0].samples: it is no array"},
		{speedscopeHead + `{"type":"evented","events":[{"type":"X","at":0,"frame":0}]}]}`, `profiles[0].events[0]: type: "X" is neither O nor C`},
		{speedscopeHead + `{"type":"evented","events":[{}]}]}`, "profiles[0].events[0]: it has no frame"},
		{speedscopeHead + `{"type":7}]}`, "profiles[0].type: number is not of the kind that belongs there"},
		{`{"shared":{"frames":[{}]},"profiles":[]}`, "shared.frames[0]: it has no name"},
	} {
		_, err := profile.Read([]byte(x.data))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%.60q: %v, want %s", x.data, err, x.want)
		}
	}
	var damage *etw.Damage
	if _, err := profile.Read(good[:30]); !errors.As(err, &damage) || damage.Offset <= 0 || damage.Offset > 30 {
		t.Errorf("%v", err)
	}
}

// Weights that are cut add up to no less than one of them.
func TestSaturates(t *testing.T) {
	p, err := profile.Read(message(1, message(1, 1, 2, 2), 6, "", 6, "t", 6, "seconds", 2, message(2, int64(1)<<62)))
	if err != nil || p.Values(0)[0] != 9223372036*1_000_000_000 || len(p.Warnings) != 1 {
		t.Errorf("%v, %+v", err, p)
	}
}

// The corpus has files of the tools themselves.
func TestCorpus(t *testing.T) {
	for pattern, total := range map[string]int64{
		"recordings/speedscope/simple*.speedscope.json": 14, "recordings/speedscope/two-sampled.speedscope.json": 28e9,
		"recordings/pprof/cppbench.cpu": 7120e6, "recordings/pprof/go.crc32.cpu": 2110e6, // as go tool pprof has it
		"recordings/firefox-cpu-v66.json": 1265695775, "recordings/otlp/profile.otlp": 9450e6, // 189 samples, 50 ms apart
	} {
		for _, path := range corpus.Glob(t, pattern) {
			data := testio.Read(t, path)
			p, err := profile.Read(data)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			sum := int64(0)
			for i := range p.Samples {
				sum += p.Values(i)[p.Default]
			}
			want := total
			if p.Types[0].Unit == "nanoseconds" && want < 1e9 {
				want *= 1e9
			}
			if sum != want {
				t.Errorf("%s: %d, want %d", path, sum, want)
			}
		}
	}
}

// FuzzRead reads anything: whatever it is, stacks stay within bounds, and each value and
// frame that there is can be asked for.
func FuzzRead(f *testing.F) {
	f.Add(small())
	f.Add([]byte("a;b;c 12\na;b 3\n"))
	f.Add([]byte(perfText))
	f.Add([]byte(speedscopeHead + `{"type":"sampled","unit":"ms","samples":[[0,1],[0]],"weights":[1.25,2]}]}`))
	f.Add([]byte(speedscopeHead + `{"type":"evented","events":[{"type":"O","at":1,"frame":0},{"type":"C","at":6,"frame":0}],"endValue":9}]}`))
	f.Add(ofOTLP())
	f.Add([]byte(cpuProfile))
	f.Add([]byte(firefox))
	f.Add(ofGperftools(binary.LittleEndian))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Read(data)
		if err != nil {
			return
		}
		if len(p.Types) == 0 || p.Default < 0 || p.Default >= len(p.Types) {
			t.Fatalf("%d types, the usual one is %d", len(p.Types), p.Default)
		}
		frames := make([]int32, 0, 64)
		for i, s := range p.Samples {
			for _, v := range p.Values(i) {
				if v < 0 {
					t.Fatalf("sample %d weighs %d", i, v)
				}
			}
			frames = p.AppendStack(frames[:0], s.Stack)
			for _, f := range frames {
				if fn := p.Frames[f].Function; fn >= 0 {
					_ = p.Functions[fn]
				}
			}
			if s.Thread >= 0 {
				_ = p.Threads[s.Thread]
			}
		}
	})
}
