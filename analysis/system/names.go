package system

import (
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

var (
	processClass      = (*kernel.AnyProcessStart)(nil).EventDescs()[0].Class
	threadClass       = (*kernel.AnyThreadStart)(nil).EventDescs()[0].Class
	imageClass        = (*kernel.AnyImageLoad)(nil).EventDescs()[0].Class
	imageIDClass      = (*kernel.AnyImageIDInfo)(nil).EventDescs()[0].Class
	fileClass         = (*kernel.AnyFileIoName)(nil).EventDescs()[0].Class
	stackClass        = (*kernel.AnyStackWalkStack)(nil).EventDescs()[0].Class
	sysConfigClass    = (*kernel.AnySysConfigVolumeMapping)(nil).EventDescs()[0].Class
	systemConfigClass = (*kernel.AnySystemConfigCPU)(nil).EventDescs()[0].Class
	perfInfoClass     = (*kernel.AnyPerfInfoSample)(nil).EventDescs()[0].Class
)

// Opcodes of the events of a class that name or define things, where others do not.
const (
	opDCStop        = 4
	opDefunct       = 39
	opThreadSetName = 72
	opFileName      = 0
	opFileCreate    = 32
	opFileDelete    = 35
	opFileRundown   = 36
	opKeyCreate     = 34
	opKeyDelete     = 35
	opKeyRundown    = 36
	opSetInterval   = 72
	opCollection    = 73
	opCollectionEnd = 74
)

// schemasOfNames are the events that do the same in EventPipe and on Linux.
var schemasOfNames = map[string]bool{
	"ProcessInfo": true, "ExistingProcess": true, "ProcessCreate": true, "ProcessMapping": true, "ProcessMappingMetadata": true,
	"sched_process_fork": true, "sched_process_exec": true,
}

// Names reports whether a record does nothing but tell what there is: a machine is
// to be given these also from outside of the time or the processes that are asked
// for, or other records have no names.
func Names(r *etw.Record) bool {
	if r.Kind != etw.KindClassic {
		return r.Schema != nil && schemasOfNames[r.Schema.Name]
	}
	switch op := r.Opcode; r.Provider {
	case processClass:
		return op <= opDCStop || op == opDefunct
	case threadClass:
		return op <= opDCStop || op == opThreadSetName
	case fileClass:
		return op == opFileName || op == opFileCreate || op == opFileDelete || op == opFileRundown
	case stackClass:
		return op == opKeyCreate || op == opKeyDelete || op == opKeyRundown
	case perfInfoClass:
		return op == opSetInterval || op == opCollection || op == opCollectionEnd
	case imageClass, imageIDClass, sysConfigClass, systemConfigClass:
		return true
	}
	return false
}
