package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

const processors = 8

// writeETL writes the trace of a machine, some 500 bytes a sample: with each come three switches of
// threads and, of one of the processes, an event of .NET. Images have no symbols.
func (p *program) writeETL(out io.Writer) error {
	p.clock = etw.Clock{Frequency: 1e7, Start: 133e15}
	w, err := etl.NewWriter(out, etl.Header{
		SessionName: "large", Processors: processors, PointerSize: etw.Ptr64, BufferSize: 64 << 10, Clock: p.clock,
		WindowsMajor: 10, WindowsBuild: 19041, TimerResolution: 15625 * time.Microsecond,
	})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	paths := p.paths(random)
	var at int64 // in ticks
	write := func(processor, pid, tid int, e etw.Event) {
		payload, fault := e.AppendPayload(nil, etw.Ptr64)
		d := e.EventDesc()
		r := etw.Record{
			Kind: d.Kind, Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, Opcode: d.Opcode, Level: d.Level, Keywords: d.Keywords, PointerSize: etw.Ptr64,
			Processor: int32(processor), ProcessID: int64(pid), ThreadID: int64(tid), Timestamp: at, Clock: &p.clock, Payload: payload,
		}
		if d.Kind == etw.KindClassic {
			r.Provider = d.Class
		}
		if err = errors.Join(err, fault); err == nil {
			err = w.Write(&r)
		}
	}
	process := func(tid int) int { return 4 * (1000 + tid/4%40) }
	for i := range 40 {
		at++
		write(0, -1, -1, &kernel.ProcessDCStartV4{UniqueProcessKey: etw.Pointer(i + 1), ProcessID: uint32(process(4 * i)), ImageFileName: etw.ANSI(fmt.Sprintf("p%d.exe", i)), CommandLine: etw.MakeUTF16("p")})
		write(0, -1, -1, &kernel.ImageDCStartV3{ImageBase: etw.Pointer(code), ImageSize: methods * etw.Pointer(room), ProcessID: uint32(process(4 * i)), FileName: etw.MakeUTF16(`\Device\HarddiskVolume1\p.dll`)})
	}
	for t := range p.threads {
		at++
		write(0, -1, -1, &kernel.ThreadDCStartV4{ProcessID: uint32(process(4 * (t + 1))), TThreadID: uint32(4 * (t + 1))})
	}
	var made []etw.Pointer
	var running [processors]int // on each processor, a thread
	alloc := clr.GCAllocationTickV4{AllocationAmount64: 104_000, ObjectSize: 96, TypeName: etw.MakeUTF16("Made.Deep.Namespace.Order")}
	for i := range p.samples {
		cpu := i % processors
		for range 3 {
			at += 37
			next := 4 * (1 + random.IntN(p.threads))
			write(cpu, -1, -1, &kernel.ThreadCSwitchV4{NewThreadID: uint32(next), OldThreadID: uint32(running[cpu]), OldThreadState: kernel.ThreadState(5), OldThreadWaitReason: 6})
			running[cpu] = next
		}
		at += 11
		tid, path := running[cpu], paths[random.IntN(random.IntN(p.stacks)+1)]
		made = made[:0]
		for a := path; len(a) > 0; a = a[8:] {
			made = append(made, etw.Pointer(binary.LittleEndian.Uint64(a)))
		}
		stack, fault := etw.MakePointers(etw.Ptr64, made...)
		err = errors.Join(err, fault)
		write(cpu, -1, -1, &kernel.PerfInfoSampleV2{InstructionPointer: etw.Pointer(binary.LittleEndian.Uint64(path)), ThreadID: uint32(tid), Count: 1})
		write(cpu, -1, -1, &kernel.StackWalkStackV2{EventTimeStamp: uint64(at), StackProcess: uint32(process(tid)), StackThread: uint32(tid), Stack: stack})
		at += 3
		write(cpu, process(tid), tid, &alloc)
	}
	return errors.Join(err, w.Close())
}
