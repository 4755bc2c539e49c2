// The keywords are those that Windows 11 lists.

package kernel

import (
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// SystemProviders are the providers by which Windows 11 turns kernel events on: a
// session enables one of them with keywords, as any other provider, and need not
// be a kernel session. The events are the same.
var SystemProviders = []*etw.Provider{
	system("SystemAlpcProvider", "fcb9baaf-e529-4980-92e9-ced1a6aadfdf", "SYSTEM_ALPC_KW_", "GENERAL"),
	system("SystemConfigProvider", "fef3a8b6-318d-4b67-a96a-3b0f6b8f18fe", "SYSTEM_CONFIG_KW_", "SYSTEM GRAPHICS STORAGE NETWORK SERVICES PNP OPTICAL"),
	system("SystemCpuProvider", "c6c5265f-eae8-4650-aae4-9d48603d8510", "SYSTEM_CPU_KW_", "CONFIG CACHE_FLUSH SPEC_CONTROL DOMAIN_CHANGE"),
	system("SystemHypervisorProvider", "bafa072a-918a-4bed-b622-bc152097098f", "SYSTEM_HYPERVISOR_KW_", "PROFILE CALLOUTS VTL_CHANGE"),
	system("SystemInterruptProvider", "d4bbee17-b545-4888-858b-744169015b25", "SYSTEM_INTERRUPT_KW_", "GENERAL CLOCK_INTERRUPT DPC DPC_QUEUE WDF_DPC WDF_INTERRUPT IPI"),
	system("SystemIoProvider", "3d5c43e3-0f1c-4202-b817-174c0070dc79", "SYSTEM_IO_KW_", "DISK DISK_INIT FILENAME SPLIT FILE OPTICAL OPTICAL_INIT DRIVERS CC NETWORK FILE_INIT TIMER"),
	system("SystemIoFilterProvider", "fbd09363-9e22-4661-b8bf-e7a34b535b8c", "SYSTEM_IOFILTER_KW_", "GENERAL INIT FASTIO FAILURE"),
	system("SystemLockProvider", "721ddfd3-dacc-4e1e-b26a-a2cb31d4705a", "SYSTEM_LOCK_KW_", "SPINLOCK SPINLOCK_COUNTERS SYNC_OBJECTS"),
	system("SystemMemoryProvider", "82958ca9-b6cd-47f8-a3a8-03ae85a4bc24", "SYSTEM_MEMORY_KW_", "GENERAL HARD_FAULTS ALL_FAULTS POOL MEMINFO PFSECTION MEMINFO_WS HEAP WS CONTMEM_GEN VIRTUAL_ALLOC "+
		"FOOTPRINT SESSION REFSET VAMAP NONTRADEABLE"),
	system("SystemObjectProvider", "febd7460-3d1d-47eb-af49-c9eeb1e146f2", "SYSTEM_OBJECT_KW_", "GENERAL HANDLE"),
	system("SystemPowerProvider", "c134884a-32d5-4488-80e5-14ed7abb8269", "SYSTEM_POWER_KW_", "GENERAL HIBER_RUNDOWN PROCESSOR_IDLE IDLE_SELECTION PPM_EXIT_LATENCY"),
	system("SystemProcessProvider", "151f55dc-467d-471f-83b5-5f889d46ff66", "SYSTEM_PROCESS_KW_", "GENERAL INSWAP FREEZE PERF_COUNTER WAKE_COUNTER WAKE_DROP WAKE_EVENT DEBUG_EVENTS DBGPRINT JOB "+
		"WORKER_THREAD THREAD LOADER"),
	system("SystemProfileProvider", "bfeb0324-1cee-496f-a409-2ac2b48a6322", "SYSTEM_PROFILE_KW_", "GENERAL PMC_PROFILE"),
	system("SystemRegistryProvider", "16156bd9-fab4-4cfa-a232-89d1099058e3", "SYSTEM_REGISTRY_KW_", "GENERAL HIVE NOTIFICATION"),
	system("SystemSchedulerProvider", "599a2a76-4d91-4910-9ac7-7d33f2e97a6c", "SYSTEM_SCHEDULER_KW_", "XSCHEDULER DISPATCHER KERNEL_QUEUE SHOULD_YIELD ANTI_STARVATION LOAD_BALANCER AFFINITY PRIORITY "+
		"IDEAL_PROCESSOR CONTEXT_SWITCH COMPACT_CSWITCH SCHEDULE_THREAD READY_QUEUE CPU_PARTITION "+
		"THREAD_FEEDBACK_READ WORKLOAD_CLASS_UPDATE AUTOBOOST"),
	system("SystemSyscallProvider", "434286f7-6f1b-45bb-b37e-95f623046c7c", "SYSTEM_SYSCALL_KW_", "GENERAL"),
	system("SystemTimerProvider", "4f061568-e215-499f-ab2e-eda0ae890a5b", "SYSTEM_TIMER_KW_", "GENERAL CLOCK_TIMER"),
}

// system describes a provider whose keywords are a bit each, from the lowest on.
func system(name, guid, prefix, keywords string) *etw.Provider {
	p := &etw.Provider{Desc: &etw.ProviderDesc{Name: name, GUID: etw.MustParseGUID(guid)}}
	for i, keyword := range strings.Fields(keywords) {
		p.Keywords = append(p.Keywords, etw.KeywordDesc{Name: prefix + keyword, Mask: 1 << i})
	}
	return p
}
