// Command large writes a large .nettrace or .etl file, to measure with, as such a one is too large to keep:
//
//	go run ./tests/bench/large -samples 10000000 -bytes 2000000000 -o large.nettrace
//	go run ./tests/bench/large -samples 10000000 -threads 400 -o large.etl
//
// It has samples of threads, whose call stacks are paths through a made program, and between
// them allocations, one of them for each so many samples that the file gets the size. The
// methods are listed at the end, as a rundown does. The same flags write the same bytes.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "large:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var p program
	var path string
	flags := flag.NewFlagSet("large", flag.ContinueOnError)
	flags.IntVar(&p.samples, "samples", 10_000_000, "number of samples")
	flags.IntVar(&p.stacks, "stacks", 200_000, "number of call stacks")
	flags.IntVar(&p.threads, "threads", 64, "number of threads")
	flags.Int64Var(&p.bytes, "bytes", 0, "size of the file, about; without it, that of the samples")
	flags.StringVar(&path, "o", "", "the file to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if path == "" || p.samples < 1 || p.stacks < 1 || p.threads < 1 || p.bytes < 0 {
		return errors.New("give -o, and numbers above 0")
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	write := p.write
	if filepath.Ext(path) == ".etl" {
		write = p.writeETL
	}
	return errors.Join(write(out), out.Flush(), f.Close())
}

const (
	pid     = 4242
	methods = 5000
	code    = uint64(0x7f0000000000)
	room    = 0x400 // for the code of a method
	deepest = 20

	sampleBytes = 24 // of one in the file, about
	allocBytes  = 600
	interval    = time.Millisecond // between two samples of a thread
)

// A program is the one that the trace is of.
type program struct {
	samples, stacks, threads int
	bytes                    int64
	w                        *nettrace.Writer
	clock                    etw.Clock
}

// write writes the trace.
func (p *program) write(out io.Writer) (err error) {
	p.clock = etw.Clock{Frequency: 1e9, Start: 133e15}
	p.w, err = nettrace.NewWriter(out, nettrace.Header{PointerSize: etw.Ptr64, Clock: p.clock, ProcessID: pid, Processors: 8, SamplingInterval: interval})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	paths := p.paths(random)
	sampler := nettrace.ProviderGUID("Microsoft-DotNETCore-SampleProfiler")
	sample := etw.Record{Kind: etw.KindManifest, Provider: sampler, ProviderName: "Microsoft-DotNETCore-SampleProfiler", Level: 4, PointerSize: etw.Ptr64, ProcessID: pid, Clock: &p.clock}
	alloc := clr.GCAllocationTickV4{AllocationAmount64: 104_000, ObjectSize: 96, TypeName: etw.MakeUTF16(strings.Repeat("Made.Deep.Namespace.", 12) + "Order")}
	states := [2][]byte{binary.LittleEndian.AppendUint32(nil, 1), binary.LittleEndian.AppendUint32(nil, 2)}
	allocs := max(p.bytes-int64(p.samples)*sampleBytes, 0) / allocBytes
	owed := int64(0)
	for i := range p.samples {
		round, thread := i/p.threads, i%p.threads
		sample.Timestamp = int64(round)*int64(interval) + int64(thread)*100
		sample.ThreadID = int64(pid + 1 + thread)
		stack := random.IntN(random.IntN(p.stacks) + 1) // some are more frequent than others
		sample.Stack = etw.Stack{Addresses: paths[stack], PtrSize: etw.Ptr64}
		sample.Payload = states[stack%2]
		if err := p.w.Write(&sample); err != nil {
			return err
		}
		for owed += allocs; owed >= int64(p.samples); owed -= int64(p.samples) {
			if err := p.event(sample.Timestamp+10, sample.ThreadID, paths[stack], &alloc); err != nil {
				return err
			}
		}
	}
	return errors.Join(p.rundown(sample.Timestamp+int64(time.Second)), p.w.Close())
}

// event writes an event of the runtime.
func (p *program) event(at, thread int64, stack []byte, e etw.Event) error {
	payload, err := e.(interface {
		AppendPayload([]byte, etw.PtrSize) ([]byte, error)
	}).AppendPayload(nil, etw.Ptr64)
	if err != nil {
		return err
	}
	d := e.EventDesc()
	return p.w.Write(&etw.Record{
		Kind: etw.KindManifest, Provider: d.Provider.GUID, ProviderName: d.Provider.Name, ID: d.ID, Version: d.Version, Level: d.Level, Keywords: d.Keywords, PointerSize: etw.Ptr64,
		ProcessID: pid, ThreadID: thread, Timestamp: at, Clock: &p.clock, Stack: etw.Stack{Addresses: stack, PtrSize: etw.Ptr64}, Payload: payload,
	})
}

// paths returns the call stacks, the innermost frame first. Each is the path of an earlier
// one up to some frame, and goes on from there.
func (p *program) paths(random *rand.Rand) [][]byte {
	list := make([][]byte, p.stacks)
	for i := range list {
		var outer []byte
		if i > 0 {
			outer = list[random.IntN(i)]
			outer = outer[8*random.IntN(len(outer)/8):]
		}
		var inner []byte
		for range 1 + random.IntN(4) {
			if len(inner)+len(outer) >= 8*deepest {
				break
			}
			inner = binary.LittleEndian.AppendUint64(inner, code+uint64(random.IntN(methods))*room+0x10)
		}
		list[i] = append(inner, outer...)
	}
	return list
}

// rundown lists the methods.
func (p *program) rundown(at int64) error {
	for i := range uint64(methods) {
		err := p.event(at, pid+1, nil, &rundown.MethodDCEndVerboseV2{
			MethodID: i + 1, ModuleID: 1 + i%40, MethodStartAddress: code + i*room, MethodSize: room, MethodToken: 0x06000001 + uint32(i),
			MethodNamespace: etw.MakeUTF16(fmt.Sprintf("Made.Part%d.Class%d", i%40, i%400)), MethodName: etw.MakeUTF16(fmt.Sprintf("Do%d", i)), MethodSignature: etw.MakeUTF16("void  (int32)"),
		})
		if err != nil {
			return err
		}
	}
	for i := range uint64(40) {
		if err := p.event(at, pid+1, nil, &rundown.ModuleDCEndV2{ModuleID: i + 1, ModuleILPath: etw.MakeUTF16(fmt.Sprintf("/srv/Made.Part%d.dll", i))}); err != nil {
			return err
		}
	}
	return nil
}
