// Package kernel has the classic events of the Windows kernel as Go types: all versions of
// all of them, from Windows 2000 to Windows 11. Nearly all of any trace of Windows is these:
// processes, threads, images, samples, context switches, disks, files, memory, network, call
// stacks, and facts about the machine. Use it for everything about a machine with Windows
// that package system of analysis does not answer.
//
// # Finding an event
//
// Types are named after the class, the opcode and the version of an event: ProcessStartV4 is
// version 4 of opcode 1 of class Process. [AnyProcessStart] is all versions of it, and the
// best choice for most programs: a trace has only one of them, but which depends on the
// system. Classes have the names of MOF, opcodes those of PerfView where it has one. Where
// to begin:
//
//	processes there are, and come and go   AnyProcessDCStart, AnyProcessStart, ...Stop, ...DCStop
//	threads                                AnyThreadDCStart, AnyThreadStart, ...Stop, ...DCStop
//	names of threads                       AnyThreadSetName, ThreadName of AnyThreadStart
//	images and where they lie              AnyImageDCStart, AnyImageLoad, ...Unload, ...DCStop
//	their symbols                          AnyImageIDDbgIDRSDS
//	what each processor did                AnyPerfInfoSample
//	which thread runs, and why not         AnyThreadCSwitch, AnyThreadReadyThread
//	interrupts and deferred calls          AnyPerfInfoISR, AnyPerfInfoDPC
//	call stacks                            AnyStackWalkStack, ...StackKeyKernel, ...StackKeyUser, ...KeyRundown
//	disks                                  AnyDiskIoRead, AnyDiskIoWrite, ...ReadInit, ...WriteInit
//	names of files                         AnyFileIoName, AnyFileIoFileRundown, AnyFileIoFileCreate
//	operations on files                    AnyFileIoCreate, AnyFileIoRead, ..., AnyFileIoOperationEnd
//	page faults that read from disk        AnyPageFaultHardFault
//	virtual memory                         AnyPageFaultVirtualAlloc, AnyPageFaultVirtualFree
//	network                                AnyTCPIPSend, AnyTCPIPSendIPV6, ..., AnyUDPIPSend
//	registry                               AnyRegistryOpen, AnyRegistryQueryValue, ...
//	the machine                            AnySystemConfigCPU, ...PhyDisk, ...LogDisk, ...NIC, ...Services
//	the trace itself                       AnyEventTraceHeader, AnyEventTraceExtension
//
// Each type says when the event is logged, which flag turns it on, and the meanings of its
// fields. Many versions, above all old ones, are known from descriptions alone; their types
// say so.
//
// # Who an event is about
//
// The header of a kernel event often names no process and thread, or not those that it is
// about: that of Process/Start is the parent's. The subject of the event is in its fields,
// such as ProcessId. [etl.Open] sets the header of records to these unless it is told not
// to.
//
// # Versions
//
// A layout may also have grown without a new version. Fields that only some payloads have
// come with another one that says so, such as ThreadName and HasThreadName of
// [ThreadStartV3]. A version that this package does not know is decoded by the newest one
// that it does; the rest stays unread.
//
// # Flags
//
// A kernel session is started with [Flags], which [ParseFlags] reads in the spellings of
// Windows, xperf and PerfView. They stand in for keywords: [etw.Mux.Enablement] tells which
// ones given handlers need. [Group] has those groups of events for which there is no flag,
// and [GroupMasks] the groups that a session logged. On Windows 11, [SystemProviders] turn
// the same events on in any session. [StackWalkEvent] has the events for which stacks can be
// logged.
//
// # Allocation and aliasing
//
// Decoding allocates nothing. Strings and arrays of a decoded event are views of
// the payload, valid until the transport delivers the next record. Package etw
// says how to keep them.
//
// # Where it comes from
//
// The package is generated from kernel.man, whose texts are ours; tests hold it against
// tables of facts. docs/kernel has the reference of all events, and
// docs/kernel/errata.md lists where MOF, Microsoft's documentation and PerfView are
// wrong by the bytes of traces.
package kernel

//go:generate go tool etwgen gen --tests -o . kernel.man
//go:generate go tool etwgen doc -o ../../docs/kernel kernel.man
