package gen

import "testing"

func TestNames(t *testing.T) {
	tests := []struct {
		name string
		f    func(string) string
		in   string
		want string
	}{
		{"exported", exportedName, "GCStart_V1", "GCStartV1"},
		{"exported", exportedName, "GCSuspendEE_V1", "GCSuspendEEV1"},
		{"exported", exportedName, "BulkType", "BulkType"},
		{"exported", exportedName, "JSCRIPT_GC_START2", "JSCRIPT_GC_START2"},
		{"exported", exportedName, "map_QUIC_SCHEDULE_STATE", "MapQUIC_SCHEDULE_STATE"},
		{"exported", exportedName, "Destination_Removal_X", "DestinationRemovalX"},
		{"exported", exportedName, "__fBusy", "FBusy"},
		{"exported", exportedName, "2D:Draw/Stop", "X2D_DrawStop"},
		{"exported", exportedName, "2.4 GHz", "X2_4_GHz"},
		{"exported", exportedName, "ut:SendPath", "UtSendPath"},
		{"exported", exportedName, "", "X"},
		{"exported", exportedName, "!?", "X"},
		{"exported", exportedName, "ärger", "Ärger"},
		{"exported", exportedName, "日本", "X日本"},
		{"field", fieldName, "ClrInstanceID", "ClrInstanceID"},
		{"field", fieldName, "Prop_Int8", "Prop_Int8"},
		{"field", fieldName, "type", "Type"},
		{"field", fieldName, "__binLength", "BinLength"},
		{"field", fieldName, "Duration (ms)", "DurationMs"},
		{"field", fieldName, "Initial/Maximum (MHz)", "InitialMaximumMHz"},
		{"field", fieldName, "1", "X1"},
		{"field", fieldName, "Arg Name 1", "ArgName1"},
		{"field", fieldName, "_", "X"},
		{"field", fieldGoName, "String", "String_"},
		{"field", fieldGoName, "Seen", "Seen_"},
		{"field", fieldGoName, "Type", "Type"},
		{"unexported", unexportedName, "GCStartV1", "gcStartV1"},
		{"unexported", unexportedName, "CLRStackWalk", "clrStackWalk"},
		{"unexported", unexportedName, "R2RGetEntryPoint", "r2RGetEntryPoint"},
		{"unexported", unexportedName, "GC", "gc"},
		{"unexported", unexportedName, "JSCRIPT_GC", "jscript_GC"},
		{"unexported", unexportedName, "P", "p_"},
		{"unexported", unexportedName, "String", "string_"},
		{"unexported", unexportedName, "Binary", "binary_"},
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

func TestEntryName(t *testing.T) {
	tests := []struct{ mapName, id, text, want string }{
		{"GCReasonMap", "RuntimePublisher.GCReason.AllocSmallMapMessage", "AllocSmall", "AllocSmall"},
		{"GCHandleKindMap", "RuntimePublisher.GCHandleKind.WeakShortMessage", "WeakShort", "WeakShort"},
		{"StartupFlags", "RuntimePublisher.Startup.CONCURRENT_GCMapMessage", "CONCURRENT_GC", "CONCURRENT_GC"},
		{"ColorDataType", "map_ColorDataTypeS2.13 fixed-point", "S2.13 fixed-point", "S2_13FixedPoint"},
		{"GCRootKind", "map_GCRootKind.Stack", "Stack", "Stack"},
		{"StatusMap", "", "Not active", "NotActive"},
		{"StatusMap", "", "", ""},
		{"StatusMap", "status.5", "?!", ""},
	}
	for _, tt := range tests {
		if got := entryName(tt.mapName, tt.id, tt.text); got != tt.want {
			t.Errorf("entryName(%q, %q, %q) = %q, want %q", tt.mapName, tt.id, tt.text, got, tt.want)
		}
	}
}
