package ctf

import (
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A runtimeProvider is one of .NET, whose events LTTng knows by the names of their symbols. The
// payloads are those of ETW: so an event that has an id here needs no other description.
type runtimeProvider struct {
	lttng string // before the colon of the name of an event
	desc  etw.ProviderDesc
	// names has the names, by their ids: a number is the id of the name behind it, and each
	// further name has the next id. They end with the version where it is not 0.
	names string
}

// A runtimeEvent is the number of an event, and the version that its name stands for.
type runtimeEvent struct {
	id      uint16
	version uint8
}

// provider returns a provider of .NET, with its table made, or nil.
func provider(lttng string) *runtimeProvider {
	for i := range runtimeProviders {
		if p := &runtimeProviders[i]; p.lttng == lttng {
			return p
		}
	}
	return nil
}

// event finds the event of a name.
func (p *runtimeProvider) event(name string) (e runtimeEvent, ok bool) {
	if p.lttng == "DotNETRuntimePrivate" && name == noPayload {
		return e, false
	}
	e.id, ok = p.find(name)
	if base, v, isOther := cutVersion(name); !ok && isOther {
		e.id, ok = p.find(base)
		e.version = v
	}
	return e, ok
}

// noPayload is an event of a struct, of which LTTng has nothing.
const noPayload = "GCPerHeapHistory"

// find looks for a name as it stands in the table.
func (p *runtimeProvider) find(name string) (id uint16, ok bool) {
	for _, word := range strings.Fields(p.names) {
		if n, err := strconv.ParseUint(word, 10, 16); err == nil {
			id = uint16(n)
			continue
		}
		if word == name {
			return id, true
		}
		id++
	}
	return 0, false
}

// cutVersion cuts the version off a name such as GCStart_V2.
func cutVersion(name string) (base string, version uint8, ok bool) {
	at := strings.LastIndex(name, "_V")
	if at < 0 {
		return name, 0, false
	}
	n, err := strconv.ParseUint(name[at+2:], 10, 8)
	return name[:at], uint8(n), err == nil
}

// isWide reports whether a text of an event is UTF-16 in the payload. Nearly all are.
func isWide(event, field string) bool {
	base, _, _ := cutVersion(event)
	switch field {
	case "FailReason", "ClassName", "NameSpace":
		return !strings.HasSuffix(base, "Ansi")
	case "Message":
		return base != "StressLogEvent"
	}
	return true
}

var runtimeProviders = []runtimeProvider{
	{lttng: "DotNETRuntime", desc: etw.ProviderDesc{Name: "Microsoft-Windows-DotNETRuntime", GUID: etw.MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")}, names: `
1 GCStart GCEnd GCRestartEEEnd GCHeapStats GCCreateSegment GCFreeSegment GCRestartEEBegin
GCSuspendEEEnd GCSuspendEEBegin GCAllocationTick GCCreateConcurrentThread
GCTerminateConcurrentThread GCFinalizersEnd GCFinalizersBegin BulkType GCBulkRootEdge
GCBulkRootConditionalWeakTableElementEdge GCBulkNode GCBulkEdge GCSampledObjectAllocationHigh
GCBulkSurvivingObjectRanges GCBulkMovedObjectRanges GCGenerationRange 25 GCMarkStackRoots
GCMarkFinalizeQueueRoots GCMarkHandles GCMarkOlderGenerationRoots FinalizeObject SetGCHandle
DestroyGCHandle GCSampledObjectAllocationLow PinObjectAtGCTime 35 GCTriggered GCBulkRootCCW
GCBulkRCW GCBulkRootStaticVar GCDynamicEvent WorkerThreadCreate WorkerThreadTerminate
WorkerThreadRetire WorkerThreadUnretire IOThreadCreate IOThreadTerminate IOThreadRetire
IOThreadUnretire ThreadpoolSuspensionSuspendThread ThreadpoolSuspensionResumeThread
ThreadPoolWorkerThreadStart ThreadPoolWorkerThreadStop ThreadPoolWorkerThreadRetirementStart
ThreadPoolWorkerThreadRetirementStop ThreadPoolWorkerThreadAdjustmentSample
ThreadPoolWorkerThreadAdjustmentAdjustment ThreadPoolWorkerThreadAdjustmentStats
ThreadPoolWorkerThreadWait YieldProcessorMeasurement ThreadPoolMinMaxThreads
ThreadPoolWorkingThreadCount ThreadPoolEnqueue ThreadPoolDequeue ThreadPoolIOEnqueue
ThreadPoolIODequeue ThreadPoolIOPack 70 ThreadCreating ThreadRunning MethodDetails TypeLoadStart
TypeLoadStop 80 ExceptionThrown Contention 81 ContentionStart CLRStackWalk AppDomainMemAllocated
AppDomainMemSurvived ThreadCreated ThreadTerminated ThreadDomainEnter ILStubGenerated
ILStubCacheHit ContentionLockCreated ContentionStop 135 DCStartCompleteV2 DCEndCompleteV2
MethodDCStartV2 MethodDCEndV2 MethodDCStartVerboseV2 MethodDCEndVerboseV2 MethodLoad
MethodUnload MethodLoadVerbose MethodUnloadVerbose MethodJittingStarted
MethodJitMemoryAllocatedForCode 149 ModuleDCStartV2 ModuleDCEndV2 DomainModuleLoad ModuleLoad
ModuleUnload AssemblyLoad AssemblyUnload AppDomainLoad AppDomainUnload ModuleRangeLoad
R2RGetEntryPoint R2RGetEntryPointStart 181 StrongNameVerificationStart
StrongNameVerificationStop AuthenticodeVerificationStart AuthenticodeVerificationStop
MethodJitInliningSucceeded MethodJitInliningFailedAnsi RuntimeInformationStart
MethodJitTailCallSucceeded MethodJitTailCallFailedAnsi MethodILToNativeMap
MethodJitTailCallFailed MethodJitInliningFailed 200 IncreaseMemoryPressure
DecreaseMemoryPressure GCMarkWithType GCJoin GCPerHeapHistory GCGlobalHeapHistory GenAwareBegin
GenAwareEnd GCLOHCompact GCFitBucketInfo 240 DebugIPCEventStart DebugIPCEventEnd
DebugExceptionProcessingStart DebugExceptionProcessingEnd 250 ExceptionCatchStart
ExceptionCatchStop ExceptionFinallyStart ExceptionFinallyStop ExceptionFilterStart
ExceptionFilterStop ExceptionThrownStop 260 CodeSymbols 270 EventSource 280
TieredCompilationSettings TieredCompilationPause TieredCompilationResume
TieredCompilationBackgroundJitStart TieredCompilationBackgroundJitStop 290 AssemblyLoadStart
AssemblyLoadStop ResolutionAttempted AssemblyLoadContextResolvingHandlerInvoked
AppDomainAssemblyResolveHandlerInvoked AssemblyLoadFromResolveHandlerInvoked KnownPathProbed
JitInstrumentationData JitInstrumentationDataVerbose ProfilerMessage ExecutionCheckpoint
WaitHandleWaitStart WaitHandleWaitStop AllocationSampled`},
	{lttng: "DotNETRuntimeRundown", desc: etw.ProviderDesc{Name: "Microsoft-Windows-DotNETRuntimeRundown", GUID: etw.MustParseGUID("a669021c-c450-4609-a035-5af59af4df18")}, names: `
0 CLRStackWalkDCStart 10 GCSettingsRundown 141 MethodDCStart MethodDCEnd MethodDCStartVerbose
MethodDCEndVerbose DCStartComplete DCEndComplete DCStartInit DCEndInit
MethodDCStartILToNativeMap MethodDCEndILToNativeMap DomainModuleDCStart DomainModuleDCEnd
ModuleDCStart ModuleDCEnd AssemblyDCStart AssemblyDCEnd AppDomainDCStart AppDomainDCEnd ThreadDC
ModuleRangeDCStart ModuleRangeDCEnd 187 RuntimeInformationDCStart 280
TieredCompilationSettingsDCStart 300 ExecutionCheckpointDCEnd`},
	{lttng: "DotNETRuntimeStress", desc: etw.ProviderDesc{Name: "Microsoft-Windows-DotNETRuntimeStress", GUID: etw.MustParseGUID("cc2bcbba-16b6-4cf3-8990-d74c2e8af500")}, names: `
0 StressLogEvent CLRStackWalkStress`},
	{lttng: "DotNETRuntimePrivate", desc: etw.ProviderDesc{Name: "Microsoft-Windows-DotNETRuntimePrivate", GUID: etw.MustParseGUID("763fd754-7086-4dfe-95eb-c01a46faf4ca")}, names: `
1 GCDecision GCSettings GCOptimized GCPerHeapHistory GCGlobalHeapHistory
GCJoin PrvGCMarkStackRoots PrvGCMarkFinalizeQueueRoots PrvGCMarkHandles PrvGCMarkCards BGCBegin
BGC1stNonConEnd BGC1stConEnd BGC2ndNonConBegin BGC2ndNonConEnd BGC2ndConBegin BGC2ndConEnd
BGCPlanEnd BGCSweepEnd BGCDrainMark BGCRevisit BGCOverflow BGCAllocWaitBegin BGCAllocWaitEnd
GCFullNotify BGC1stSweepEnd 80 EEStartupStart EEStartupEnd EEConfigSetup EEConfigSetupEnd
LdSysBases LdSysBasesEnd ExecExe ExecExeEnd Main MainEnd ApplyPolicyStart ApplyPolicyEnd
LdLibShFolder LdLibShFolderEnd PrestubWorker PrestubWorkerEnd GetInstallationStart
GetInstallationEnd OpenHModule OpenHModuleEnd ExplicitBindStart ExplicitBindEnd ParseXml
ParseXmlEnd InitDefaultDomain InitDefaultDomainEnd InitSecurity InitSecurityEnd
AllowBindingRedirs AllowBindingRedirsEnd EEConfigSync EEConfigSyncEnd FusionBinding
FusionBindingEnd LoaderCatchCall LoaderCatchCallEnd FusionInit FusionInitEnd FusionAppCtx
FusionAppCtxEnd Fusion2EE Fusion2EEEnd SecurityCatchCall SecurityCatchCallEnd 151
CLRStackWalkPrivate 158 ModuleRangeLoadPrivate BindingPolicyPhaseStart BindingPolicyPhaseEnd
BindingNgenPhaseStart BindingNgenPhaseEnd BindingLookupAndProbingPhaseStart
BindingLookupAndProbingPhaseEnd LoaderPhaseStart LoaderPhaseEnd BindingPhaseStart
BindingPhaseEnd BindingDownloadPhaseStart BindingDownloadPhaseEnd LoaderAssemblyInitPhaseStart
LoaderAssemblyInitPhaseEnd LoaderMappingPhaseStart LoaderMappingPhaseEnd
LoaderDeliverEventsPhaseStart LoaderDeliverEventsPhaseEnd EvidenceGenerated
ModuleTransparencyComputationStart ModuleTransparencyComputationEnd
TypeTransparencyComputationStart TypeTransparencyComputationEnd
MethodTransparencyComputationStart MethodTransparencyComputationEnd
FieldTransparencyComputationStart FieldTransparencyComputationEnd
TokenTransparencyComputationStart TokenTransparencyComputationEnd NgenBindEvent 191 FailFast
PrvFinalizeObject CCWRefCountChangeAnsi PrvSetGCHandle PrvDestroyGCHandle FusionMessageEvent
FusionErrorCodeEvent 199 PinPlugAtGCTime CCWRefCountChange MulticoreJit
MulticoreJitMethodCodeReturned 310 AllocRequest 400 IInspectableRuntimeClassName WinRTUnbox
CreateRCW RCWVariance RCWIEnumerableCasting CreateCCW CCWVariance
ObjectVariantMarshallingToNative GetTypeFromGUID GetTypeFromProgID ConvertToCallbackEtw
BeginCreateManagedReference EndCreateManagedReference ObjectVariantMarshallingToManaged`},
}
