package gen

import (
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	fieldName := func(s string) string { return fieldGoName(s, 7) }
	tests := []struct {
		name string
		f    func(string) string
		in   string
		want string
	}{
		{"exported", exportedName, "GCStart_V1", "GCStartV1"},
		{"exported", exportedName, "GCSuspendEE_V1", "GCSuspendEEV1"},
		{"exported", exportedName, "BulkType", "BulkType"},
		{"exported", exportedName, "JSCRIPT_GC_START2", "JscriptGCStart2"},
		{"exported", exportedName, "map_QUIC_SCHEDULE_STATE", "MapQuicScheduleState"},
		{"exported", exportedName, "IISGeneral_GENERAL_REQUEST_START", "IISGeneralGeneralRequestStart"},
		{"exported", exportedName, "SampleEvt_INT32", "SampleEvtInt32"},
		{"exported", exportedName, "SampleEvtINT32", "SampleEvtINT32"},
		{"exported", exportedName, "QUIC", "QUIC"},
		{"exported", exportedName, "Destination_Removal_X", "DestinationRemovalX"},
		{"exported", exportedName, "__fBusy", "FBusy"},
		{"exported", exportedName, "2D:Draw/Stop", "X2DDrawStop"},
		{"exported", exportedName, "2.4 GHz", "X2_4GHz"},
		{"exported", exportedName, "ut:SendPath", "UtSendPath"},
		{"exported", exportedName, "", "X"},
		{"exported", exportedName, "!?", "X"},
		{"exported", exportedName, "ärger", "Ärger"},
		{"exported", exportedName, "GRÖSSE_X", "GrösseX"},
		{"exported", exportedName, "日本", "X日本"},
		{"field", fieldName, "ClrInstanceID", "ClrInstanceID"},
		{"field", fieldName, "Prop_Int8", "PropInt8"},
		{"field", fieldName, "process_id", "ProcessID"},
		{"field", fieldName, "type", "Type"},
		{"field", fieldName, "__binLength", "BinLength"},
		{"field", fieldName, "Duration (ms)", "DurationMs"},
		{"field", fieldName, "Initial/Maximum (MHz)", "InitialMaximumMHz"},
		{"field", fieldName, "1", "X1"},
		{"field", fieldName, "Arg Name 1", "ArgName1"},
		{"field", fieldName, "_", "X"},
		{"field", fieldName, "String", "StringField"},
		{"field", fieldName, "Seen", "SeenField"},
		{"field", fieldName, "Type", "Type"},
		{"unexported", unexportedName, "SetActivityID", "setActivityID"},
		{"unexported", unexportedName, "IDUsed", "idUsed"},
		{"unexported", unexportedName, "GCStartV1", "gcStartV1"},
		{"unexported", unexportedName, "CLRStackWalk", "clrStackWalk"},
		{"unexported", unexportedName, "R2RGetEntryPoint", "r2RGetEntryPoint"},
		{"unexported", unexportedName, "GC", "gc"},
		{"unexported", unexportedName, "\U0001d518nit", "x\U0001d518nit"}, // a capital without a lower case
		{"unexported", unexportedName, "Testing", "testingEvent"},
		{"unexported", unexportedName, "P", "pEvent"},
		{"unexported", unexportedName, "String", "stringEvent"},
		{"unexported", unexportedName, "Binary", "binaryEvent"},
		{"trimVersion", trimVersion, "GCStartV1", "GCStart"},
		{"trimVersion", trimVersion, "MethodDCStartV2", "MethodDCStart"},
		{"trimVersion", trimVersion, "GCStart", "GCStart"},
		{"trimVersion", trimVersion, "V1", "V1"},
		{"trimVersion", trimVersion, "Send2", "Send2"},
		{"singular", singular, "Values", "Value"},
		{"singular", singular, "Entries", "Entry"},
		{"singular", singular, "Addresses", "Address"},
		{"singular", singular, "Status", "Status"},
		{"singular", singular, "Position", "Position"},
		{"map", mapName, "GCReasonMap", "GCReason"},
		{"map", mapName, "Map", "Map"},
		{"map", mapName, "VMap", "VMap"},
		{"map", mapName, "SourceRequestFor", "SourceRequestFor"},
		{"file", fileStem, "GarbageCollection", "garbagecollection"},
		{"file", fileStem, "foo_windows", "foowindows"},
		{"file", fileStem, "Provider", "providertask"},
		{"file", fileStem, "日本", "task"},
	}
	for _, tt := range tests {
		if got := tt.f(tt.in); got != tt.want {
			t.Errorf("%s(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestEntryText(t *testing.T) {
	tests := []struct{ mapName, id, text, want string }{
		{"GCReasonMap", "RuntimePublisher.GCReason.AllocSmallMapMessage", "AllocSmall", "AllocSmall"},
		{"GCHandleKindMap", "RuntimePublisher.GCHandleKind.WeakShortMessage", "WeakShort", "WeakShort"},
		{"StartupFlags", "RuntimePublisher.Startup.CONCURRENT_GCMapMessage", "CONCURRENT_GC", "CONCURRENT_GC"},
		{"ColorDataType", "map_ColorDataTypeS2.13 fixed-point", "S2.13 fixed-point", "S2.13 fixed-point"},
		{"GCRootKind", "map_GCRootKind.Stack", "Stack", "Stack"},
		{"StatusMap", "", "Not active", "Not active"},
		{"StatusMap", "", "", ""},
		{"StatusMap", "status.5", "?!", "?!"},
	}
	for _, tt := range tests {
		if got := entryText(tt.mapName, tt.id, tt.text); got != tt.want {
			t.Errorf("entryText(%q, %q, %q) = %q, want %q", tt.mapName, tt.id, tt.text, got, tt.want)
		}
	}
}

func TestEntryNames(t *testing.T) {
	tests := []struct{ texts, want []string }{
		{[]string{"READ", "WRITE", "READ_WRITE"}, []string{"Read", "Write", "ReadWrite"}},
		{[]string{"READ", "WRITE", "TCP"}, []string{"READ", "WRITE", "TCP"}},
		{[]string{"S2.13 fixed-point", "Not active", "?!"}, []string{"S2_13FixedPoint", "NotActive", ""}},
		{[]string{"CONCURRENT_GC", "LOADER_SETPREFERENCE", "x86"}, []string{"ConcurrentGC", "LoaderSetpreference", "X86"}},
	}
	for _, tt := range tests {
		if got := entryNames(tt.texts); !slices.Equal(got, tt.want) {
			t.Errorf("entryNames(%q) = %q, want %q", tt.texts, got, tt.want)
		}
	}
}

func TestLimited(t *testing.T) {
	tests := []struct{ name, suffix, want string }{
		{"ShortName", "12", "ShortName"},
		{strings.Repeat("Word", 15), "12", strings.Repeat("Word", 15)},
		{strings.Repeat("Word", 16), "12", strings.Repeat("Word", 14) + "12"},
		{strings.Repeat("Word7", 16), "12", strings.Repeat("Word7", 11) + "_12"},
		{"X" + strings.Repeat("y", 70), "0x1", "X" + strings.Repeat("y", 56) + "0x1"},
		{strings.Repeat("Ä", 70), "", strings.Repeat("Ä", 60)},
	}
	for _, tt := range tests {
		if got := limited(tt.name, tt.suffix); got != tt.want {
			t.Errorf("limited(%q, %q) = %q, want %q", tt.name, tt.suffix, got, tt.want)
		}
	}
}
