package classic

import "github.com/etwgen/etwgen/runtime/etw"

// A class is a kind of classic events.
type class struct {
	name    string
	guid    etw.GUID
	opcodes []string // by their numbers
}

// Image/Load is the one kernel event of which the group is not that of its class:
// it is in the group of processes.
const (
	imageGroup     = 0x14
	imageLoadGroup = 0x03
)

// The groups of which some events tell whom others are about.
const (
	threadGroup    = 0x05
	stackWalkGroup = 0x18
)

// KernelClass returns the class of the events that the kernel writes with a group
// and an opcode, and its name. They are zero for a group that is not known.
func KernelClass(group uint8, opcode etw.Opcode) (guid etw.GUID, name string) {
	if group == imageLoadGroup && opcode == opImageLoad {
		group = imageGroup
	}
	if int(group) >= len(kernelClasses) {
		return etw.GUID{}, ""
	}
	c := &kernelClasses[group]
	return c.guid, c.name
}

// KernelGroup returns the group that the kernel writes for events of a class, and
// false if it writes none: it is the inverse of [KernelClass].
func KernelGroup(class etw.GUID, opcode etw.Opcode) (group uint8, ok bool) {
	if class == imageClass && opcode == opImageLoad {
		return imageLoadGroup, true
	}
	for i := range kernelClasses {
		if kernelClasses[i].guid == class {
			return uint8(i), true
		}
	}
	return 0, false
}

// ClassName returns the name of a class of the kernel or of the tools that merge
// traces, such as "Process", or "" if the class is another.
func ClassName(class etw.GUID) string {
	if c := classesByGUID[class]; c != nil {
		return c.name
	}
	return ""
}

// OpcodeName returns the name of an opcode of such a class, such as "DCStart",
// or "" if it has none.
func OpcodeName(class etw.GUID, opcode etw.Opcode) string {
	if c := classesByGUID[class]; c != nil && int(opcode) < len(c.opcodes) {
		return c.opcodes[opcode]
	}
	return ""
}

// Names returns the names of the class and the opcode of r, each "" if it is not
// known. It fits [etw.Decoder.Names].
func Names(r *etw.Record) (task, opcode string) {
	if r.Kind != etw.KindClassic {
		return "", ""
	}
	return ClassName(r.Provider), OpcodeName(r.Provider, r.Opcode)
}

var classesByGUID = func() map[etw.GUID]*class {
	m := make(map[etw.GUID]*class)
	for _, list := range [][]class{kernelClasses[:], mergeClasses[:]} {
		for i := range list {
			m[list[i].guid] = &list[i]
		}
	}
	return m
}()

var (
	metadataClass = etw.MustParseGUID("bbccf6c1-6cd1-48c4-80ff-839482e37671")
	imageIDClass  = etw.MustParseGUID("b3e675d7-2554-4f18-830b-2762732560de")
	sysConfClass  = etw.MustParseGUID("9b79ee91-b5fd-41c0-a243-4248e266e9d0")
)

// mergeClasses are the classes of the events that merge tools add.
var mergeClasses = [...]class{
	{"MetaData", metadataClass, []string{32: "EventInfo", 33: "EventMapInfo"}},
	{"ImageID", imageIDClass, []string{
		0: "Info", 32: "None", 36: "DbgID_RSDS", 37: "DbgID_ILRSDS", 38: "DbgPPDB", 40: "DbgDeterm", 64: "FileVersion",
	}},
	{"SysConfig", sysConfClass, []string{
		32: "BuildInfo", 33: "SystemPaths", 34: "UnknownVolume", 35: "VolumeMapping",
	}},
}

var (
	netOpcodes = []string{
		10: "Send", 11: "Recv", 12: "Connect", 13: "Disconnect", 14: "Retransmit", 15: "Accept", 16: "Reconnect",
		17: "Fail", 18: "TCPCopy", 19: "ARPCopy", 20: "FullACK", 21: "PartACK", 22: "DupACK",
		26: "SendIPV6", 27: "RecvIPV6", 28: "ConnectIPV6", 29: "DisconnectIPV6", 30: "RetransmitIPV6",
		31: "AcceptIPV6", 32: "ReconnectIPV6", 34: "TCPCopyIPV6",
	}
)

// kernelClasses are the classes of kernel events by their group.
var kernelClasses = [...]class{
	0x00: {"EventTrace", etw.MustParseGUID("68fdd900-4a3e-11d1-84f4-0000f80464e3"), []string{
		0: "Header", 5: "Extension", 8: "RundownComplete", 32: "EndExtension", 80: "PartitionInfo",
	}},
	0x01: {"DiskIo", etw.MustParseGUID("3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c"), []string{
		10: "Read", 11: "Write", 12: "ReadInit", 13: "WriteInit", 14: "FlushBuffers", 15: "FlushInit",
	}},
	0x02: {"PageFault", etw.MustParseGUID("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c"), []string{
		10: "TransitionFault", 11: "DemandZeroFault", 12: "CopyOnWrite", 13: "GuardPageFault", 14: "HardPageFault",
		15: "AccessViolation", 32: "HardFault", 98: "VirtualAlloc", 99: "VirtualFree", 105: "ImageLoadBacked",
	}},
	0x03: {"Process", etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"), []string{
		1: "Start", 2: "Stop", 3: "DCStart", 4: "DCStop", 11: "Terminate", 32: "PerfCtr", 33: "PerfCtrRundown", 39: "Defunct",
	}},
	0x04: {"FileIo", etw.MustParseGUID("90cbdc39-4a3e-11d1-84f4-0000f80464e3"), []string{
		0: "Name", 32: "FileCreate", 35: "FileDelete", 36: "FileRundown", 37: "MapFile", 38: "UnmapFile",
		39: "MapFileDCStart", 40: "MapFileDCStop", 64: "Create", 65: "Cleanup", 66: "Close", 67: "Read", 68: "Write",
		69: "SetInfo", 70: "Delete", 71: "Rename", 72: "DirEnum", 73: "Flush", 74: "QueryInfo", 75: "FSControl",
		76: "OperationEnd", 77: "DirNotify",
	}},
	0x05: {"Thread", etw.MustParseGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"), []string{
		1: "Start", 2: "Stop", 3: "DCStart", 4: "DCStop", 36: "CSwitch", 46: "SpinLock", 48: "SetPriority",
		49: "SetBasePriority", 50: "ReadyThread", 51: "SetPagePriority", 52: "SetIoPriority", 53: "ThreadAffinity",
		57: "WorkerThread", 66: "AntiStarvationBoost", 72: "SetName",
	}},
	0x06: {"TcpIp", etw.MustParseGUID("9a280ac0-c8e0-11d1-84e2-00c04fb998a2"), netOpcodes},
	0x07: {"Job", etw.MustParseGUID("3282fc76-feed-498e-8aa7-e70f459d430e"), nil},
	0x08: {"UdpIp", etw.MustParseGUID("bf3a50c5-a9c9-4988-a005-2df0b7c80f80"), netOpcodes},
	0x09: {"Registry", etw.MustParseGUID("ae53722e-c863-11d2-8659-00c04fa321a1"), []string{
		10: "Create", 11: "Open", 12: "Delete", 13: "Query", 14: "SetValue", 15: "DeleteValue", 16: "QueryValue",
		17: "EnumerateKey", 18: "EnumerateValueKey", 19: "QueryMultipleValue", 20: "SetInformation", 21: "Flush",
		22: "KCBCreate", 23: "KCBDelete", 24: "KCBRundownBegin", 25: "KCBRundownEnd", 26: "Virtualize", 27: "Close",
	}},
	0x0a: {"DbgPrint", etw.MustParseGUID("13976d09-a327-438c-950b-7f03192815c7"), nil},
	0x0b: {"SystemConfig", etw.MustParseGUID("01853a65-418f-4f36-aefc-dc0f1d2fd235"), []string{
		10: "CPU", 11: "PhyDisk", 12: "LogDisk", 13: "NIC", 14: "Video", 15: "Services", 16: "Power", 17: "Network",
		18: "Optical", 21: "IRQ", 22: "PnP", 23: "IDEChannel", 24: "NumaNode", 25: "Platform", 26: "ProcessorGroup",
		27: "ProcessorNumber", 28: "DPI", 29: "CodeIntegrity",
	}},
	0x0c: {"Lbr", etw.MustParseGUID("99134383-5248-43fc-834b-529454e75df3"), nil},
	0x0d: {"Wnf", etw.MustParseGUID("42695762-ea50-497a-9068-5cbbb35e0b95"), nil},
	0x0e: {"Pool", etw.MustParseGUID("0268a8b6-74fd-4302-9dd0-6e8f1795c0cf"), nil},
	0x0f: {"PerfInfo", etw.MustParseGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc"), []string{
		46: "Sample", 50: "ISR-MSI", 51: "SysClEnter", 52: "SysClExit", 66: "ThreadedDPC", 67: "ISR", 68: "DPC",
		69: "TimerDPC", 72: "SetInterval", 73: "CollectionStart", 74: "CollectionEnd", 75: "CollectionStartSecond",
		76: "CollectionEndSecond",
	}},
	0x10: {"Heap", etw.MustParseGUID("222962ab-6180-4b88-a825-346b75f2a24a"), nil},
	0x11: {"Object", etw.MustParseGUID("89497f50-effe-4440-8cf2-ce6b1cdcaca7"), []string{
		48: "CreateHandle", 49: "CloseHandle", 50: "DuplicateHandle", 52: "TypeDCStart", 53: "TypeDCStop",
		54: "HandleDCStart", 55: "HandleDCStop",
	}},
	0x12: {"Power", etw.MustParseGUID("e43445e0-0903-48c3-b878-ff0fccebdd04"), nil},
	0x13: {"ModBound", etw.MustParseGUID("a9152f00-3f58-4bee-92a1-70c7d079d5dd"), nil},
	0x14: {"Image", etw.MustParseGUID("2cb15d1d-5fc1-11d2-abe1-00a0c911f518"), []string{
		2: "Unload", 3: "DCStart", 4: "DCStop", 10: "Load", 33: "KernelBase",
	}},
	0x15: {"Dpc", etw.MustParseGUID("b2d14872-7c5b-463d-8419-ee9bf7d23e04"), nil},
	0x16: {"Cc", etw.MustParseGUID("7687a439-f752-45b8-b741-321aec0f8df9"), nil},
	0x17: {"CritSec", etw.MustParseGUID("3ac66736-cc59-4cff-8115-8df50e39816b"), nil},
	0x18: {"StackWalk", etw.MustParseGUID("def2fe46-7bd6-4b80-bd94-f57fe20d0ce3"), []string{
		32: "Stack", 35: "KeyDelete", 36: "KeyRundown", 37: "KeyKernel", 38: "KeyUser",
	}},
	0x19: {"Ums", etw.MustParseGUID("9aec974b-5b8e-4118-9b92-3186d8002ce5"), nil},
	0x1a: {"Alpc", etw.MustParseGUID("45d8cccd-539f-4b72-a8b7-5c683142609a"), []string{
		33: "SendMessage", 34: "ReceiveMessage", 35: "WaitForReply", 36: "WaitForNewMessage", 37: "Unwait",
	}},
	0x1b: {"SplitIo", etw.MustParseGUID("d837ca92-12b9-44a5-ad6a-3a65b3578aa8"), nil},
	0x1c: {"ThreadPool", etw.MustParseGUID("c861d0e2-a2c1-4d36-9f9c-970bab943a12"), nil},
	0x1d: {"Hypervisor", etw.MustParseGUID("7f2a405c-69b5-4bf9-a1f5-30e8f1afab5e"), nil},
	0x1e: {"HypervisorX", etw.MustParseGUID("2ce9a149-effe-42f0-a635-a1d39e26c8f2"), nil},
}
