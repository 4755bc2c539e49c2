// The keywords are those that Windows 11 lists.

package kernel

import "github.com/etwgen/etwgen/runtime/etw"

// SystemProviders are the providers by which Windows 11 turns kernel events on: a
// session enables one of them with keywords, as any other provider, and need not
// be a kernel session. The events are the same.
var SystemProviders = []*etw.Provider{
	{
		Desc: &etw.ProviderDesc{Name: "SystemAlpcProvider", GUID: etw.MustParseGUID("fcb9baaf-e529-4980-92e9-ced1a6aadfdf")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_ALPC_KW_GENERAL", Mask: 0x1},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemConfigProvider", GUID: etw.MustParseGUID("fef3a8b6-318d-4b67-a96a-3b0f6b8f18fe")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_CONFIG_KW_SYSTEM", Mask: 0x1},
			{Name: "SYSTEM_CONFIG_KW_GRAPHICS", Mask: 0x2},
			{Name: "SYSTEM_CONFIG_KW_STORAGE", Mask: 0x4},
			{Name: "SYSTEM_CONFIG_KW_NETWORK", Mask: 0x8},
			{Name: "SYSTEM_CONFIG_KW_SERVICES", Mask: 0x10},
			{Name: "SYSTEM_CONFIG_KW_PNP", Mask: 0x20},
			{Name: "SYSTEM_CONFIG_KW_OPTICAL", Mask: 0x40},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemCpuProvider", GUID: etw.MustParseGUID("c6c5265f-eae8-4650-aae4-9d48603d8510")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_CPU_KW_CONFIG", Mask: 0x1},
			{Name: "SYSTEM_CPU_KW_CACHE_FLUSH", Mask: 0x2},
			{Name: "SYSTEM_CPU_KW_SPEC_CONTROL", Mask: 0x4},
			{Name: "SYSTEM_CPU_KW_DOMAIN_CHANGE", Mask: 0x8},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemHypervisorProvider", GUID: etw.MustParseGUID("bafa072a-918a-4bed-b622-bc152097098f")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_HYPERVISOR_KW_PROFILE", Mask: 0x1},
			{Name: "SYSTEM_HYPERVISOR_KW_CALLOUTS", Mask: 0x2},
			{Name: "SYSTEM_HYPERVISOR_KW_VTL_CHANGE", Mask: 0x4},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemInterruptProvider", GUID: etw.MustParseGUID("d4bbee17-b545-4888-858b-744169015b25")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_INTERRUPT_KW_GENERAL", Mask: 0x1},
			{Name: "SYSTEM_INTERRUPT_KW_CLOCK_INTERRUPT", Mask: 0x2},
			{Name: "SYSTEM_INTERRUPT_KW_DPC", Mask: 0x4},
			{Name: "SYSTEM_INTERRUPT_KW_DPC_QUEUE", Mask: 0x8},
			{Name: "SYSTEM_INTERRUPT_KW_WDF_DPC", Mask: 0x10},
			{Name: "SYSTEM_INTERRUPT_KW_WDF_INTERRUPT", Mask: 0x20},
			{Name: "SYSTEM_INTERRUPT_KW_IPI", Mask: 0x40},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemIoProvider", GUID: etw.MustParseGUID("3d5c43e3-0f1c-4202-b817-174c0070dc79")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_IO_KW_DISK", Mask: 0x1},
			{Name: "SYSTEM_IO_KW_DISK_INIT", Mask: 0x2},
			{Name: "SYSTEM_IO_KW_FILENAME", Mask: 0x4},
			{Name: "SYSTEM_IO_KW_SPLIT", Mask: 0x8},
			{Name: "SYSTEM_IO_KW_FILE", Mask: 0x10},
			{Name: "SYSTEM_IO_KW_OPTICAL", Mask: 0x20},
			{Name: "SYSTEM_IO_KW_OPTICAL_INIT", Mask: 0x40},
			{Name: "SYSTEM_IO_KW_DRIVERS", Mask: 0x80},
			{Name: "SYSTEM_IO_KW_CC", Mask: 0x100},
			{Name: "SYSTEM_IO_KW_NETWORK", Mask: 0x200},
			{Name: "SYSTEM_IO_KW_FILE_INIT", Mask: 0x400},
			{Name: "SYSTEM_IO_KW_TIMER", Mask: 0x800},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemIoFilterProvider", GUID: etw.MustParseGUID("fbd09363-9e22-4661-b8bf-e7a34b535b8c")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_IOFILTER_KW_GENERAL", Mask: 0x1},
			{Name: "SYSTEM_IOFILTER_KW_INIT", Mask: 0x2},
			{Name: "SYSTEM_IOFILTER_KW_FASTIO", Mask: 0x4},
			{Name: "SYSTEM_IOFILTER_KW_FAILURE", Mask: 0x8},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemLockProvider", GUID: etw.MustParseGUID("721ddfd3-dacc-4e1e-b26a-a2cb31d4705a")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_LOCK_KW_SPINLOCK", Mask: 0x1},
			{Name: "SYSTEM_LOCK_KW_SPINLOCK_COUNTERS", Mask: 0x2},
			{Name: "SYSTEM_LOCK_KW_SYNC_OBJECTS", Mask: 0x4},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemMemoryProvider", GUID: etw.MustParseGUID("82958ca9-b6cd-47f8-a3a8-03ae85a4bc24")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_MEMORY_KW_GENERAL", Mask: 0x1},
			{Name: "SYSTEM_MEMORY_KW_HARD_FAULTS", Mask: 0x2},
			{Name: "SYSTEM_MEMORY_KW_ALL_FAULTS", Mask: 0x4},
			{Name: "SYSTEM_MEMORY_KW_POOL", Mask: 0x8},
			{Name: "SYSTEM_MEMORY_KW_MEMINFO", Mask: 0x10},
			{Name: "SYSTEM_MEMORY_KW_PFSECTION", Mask: 0x20},
			{Name: "SYSTEM_MEMORY_KW_MEMINFO_WS", Mask: 0x40},
			{Name: "SYSTEM_MEMORY_KW_HEAP", Mask: 0x80},
			{Name: "SYSTEM_MEMORY_KW_WS", Mask: 0x100},
			{Name: "SYSTEM_MEMORY_KW_CONTMEM_GEN", Mask: 0x200},
			{Name: "SYSTEM_MEMORY_KW_VIRTUAL_ALLOC", Mask: 0x400},
			{Name: "SYSTEM_MEMORY_KW_FOOTPRINT", Mask: 0x800},
			{Name: "SYSTEM_MEMORY_KW_SESSION", Mask: 0x1000},
			{Name: "SYSTEM_MEMORY_KW_REFSET", Mask: 0x2000},
			{Name: "SYSTEM_MEMORY_KW_VAMAP", Mask: 0x4000},
			{Name: "SYSTEM_MEMORY_KW_NONTRADEABLE", Mask: 0x8000},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemObjectProvider", GUID: etw.MustParseGUID("febd7460-3d1d-47eb-af49-c9eeb1e146f2")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_OBJECT_KW_HANDLE", Mask: 0x2},
			{Name: "SYSTEM_OBJECT_KW_GENERAL", Mask: 0x1},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemPowerProvider", GUID: etw.MustParseGUID("c134884a-32d5-4488-80e5-14ed7abb8269")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_POWER_KW_GENERAL", Mask: 0x1},
			{Name: "SYSTEM_POWER_KW_HIBER_RUNDOWN", Mask: 0x2},
			{Name: "SYSTEM_POWER_KW_PROCESSOR_IDLE", Mask: 0x4},
			{Name: "SYSTEM_POWER_KW_IDLE_SELECTION", Mask: 0x8},
			{Name: "SYSTEM_POWER_KW_PPM_EXIT_LATENCY", Mask: 0x10},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemProcessProvider", GUID: etw.MustParseGUID("151f55dc-467d-471f-83b5-5f889d46ff66")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_PROCESS_KW_GENERAL", Mask: 0x1},
			{Name: "SYSTEM_PROCESS_KW_INSWAP", Mask: 0x2},
			{Name: "SYSTEM_PROCESS_KW_FREEZE", Mask: 0x4},
			{Name: "SYSTEM_PROCESS_KW_PERF_COUNTER", Mask: 0x8},
			{Name: "SYSTEM_PROCESS_KW_WAKE_COUNTER", Mask: 0x10},
			{Name: "SYSTEM_PROCESS_KW_WAKE_DROP", Mask: 0x20},
			{Name: "SYSTEM_PROCESS_KW_WAKE_EVENT", Mask: 0x40},
			{Name: "SYSTEM_PROCESS_KW_DEBUG_EVENTS", Mask: 0x80},
			{Name: "SYSTEM_PROCESS_KW_DBGPRINT", Mask: 0x100},
			{Name: "SYSTEM_PROCESS_KW_JOB", Mask: 0x200},
			{Name: "SYSTEM_PROCESS_KW_WORKER_THREAD", Mask: 0x400},
			{Name: "SYSTEM_PROCESS_KW_THREAD", Mask: 0x800},
			{Name: "SYSTEM_PROCESS_KW_LOADER", Mask: 0x1000},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemProfileProvider", GUID: etw.MustParseGUID("bfeb0324-1cee-496f-a409-2ac2b48a6322")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_PROFILE_KW_GENERAL", Mask: 0x1},
			{Name: "SYSTEM_PROFILE_KW_PMC_PROFILE", Mask: 0x2},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemRegistryProvider", GUID: etw.MustParseGUID("16156bd9-fab4-4cfa-a232-89d1099058e3")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_REGISTRY_KW_GENERAL", Mask: 0x1},
			{Name: "SYSTEM_REGISTRY_KW_HIVE", Mask: 0x2},
			{Name: "SYSTEM_REGISTRY_KW_NOTIFICATION", Mask: 0x4},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemSchedulerProvider", GUID: etw.MustParseGUID("599a2a76-4d91-4910-9ac7-7d33f2e97a6c")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_SCHEDULER_KW_XSCHEDULER", Mask: 0x1},
			{Name: "SYSTEM_SCHEDULER_KW_DISPATCHER", Mask: 0x2},
			{Name: "SYSTEM_SCHEDULER_KW_KERNEL_QUEUE", Mask: 0x4},
			{Name: "SYSTEM_SCHEDULER_KW_SHOULD_YIELD", Mask: 0x8},
			{Name: "SYSTEM_SCHEDULER_KW_ANTI_STARVATION", Mask: 0x10},
			{Name: "SYSTEM_SCHEDULER_KW_LOAD_BALANCER", Mask: 0x20},
			{Name: "SYSTEM_SCHEDULER_KW_AFFINITY", Mask: 0x40},
			{Name: "SYSTEM_SCHEDULER_KW_PRIORITY", Mask: 0x80},
			{Name: "SYSTEM_SCHEDULER_KW_IDEAL_PROCESSOR", Mask: 0x100},
			{Name: "SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH", Mask: 0x200},
			{Name: "SYSTEM_SCHEDULER_KW_COMPACT_CSWITCH", Mask: 0x400},
			{Name: "SYSTEM_SCHEDULER_KW_SCHEDULE_THREAD", Mask: 0x800},
			{Name: "SYSTEM_SCHEDULER_KW_READY_QUEUE", Mask: 0x1000},
			{Name: "SYSTEM_SCHEDULER_KW_CPU_PARTITION", Mask: 0x2000},
			{Name: "SYSTEM_SCHEDULER_KW_THREAD_FEEDBACK_READ", Mask: 0x4000},
			{Name: "SYSTEM_SCHEDULER_KW_WORKLOAD_CLASS_UPDATE", Mask: 0x8000},
			{Name: "SYSTEM_SCHEDULER_KW_AUTOBOOST", Mask: 0x10000},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemSyscallProvider", GUID: etw.MustParseGUID("434286f7-6f1b-45bb-b37e-95f623046c7c")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_SYSCALL_KW_GENERAL", Mask: 0x1},
		},
	},
	{
		Desc: &etw.ProviderDesc{Name: "SystemTimerProvider", GUID: etw.MustParseGUID("4f061568-e215-499f-ab2e-eda0ae890a5b")},
		Keywords: []etw.KeywordDesc{
			{Name: "SYSTEM_TIMER_KW_GENERAL", Mask: 0x1},
			{Name: "SYSTEM_TIMER_KW_CLOCK_TIMER", Mask: 0x2},
		},
	},
}
