package classic_test

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestNames(t *testing.T) {
	other := etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5")
	for _, test := range []struct {
		class  etw.GUID
		opcode etw.Opcode
		want   string
	}{
		{processClass, 3, "Process/DCStart"},
		{imageClass, 10, "Image/Load"},
		{stackClass, 32, "StackWalk/Stack"},
		{tcpClass, 26, "TcpIp/SendIPV6"},
		{etw.MustParseGUID("bbccf6c1-6cd1-48c4-80ff-839482e37671"), 32, "MetaData/EventInfo"},
		{processClass, 200, "Process/"},
		{other, 1, "/"},
	} {
		task, opcode := classic.Names(&etw.Record{Kind: etw.KindClassic, Provider: test.class, Opcode: test.opcode})
		if got := task + "/" + opcode; got != test.want {
			t.Errorf("%v %d: %s, want %s", test.class, test.opcode, got, test.want)
		}
	}
	if task, opcode := classic.Names(&etw.Record{Provider: processClass, Opcode: 1}); task != "" || opcode != "" {
		t.Errorf("a manifest event is %s/%s", task, opcode)
	}
}

// TestGroups: the group of each class leads back to it.
func TestGroups(t *testing.T) {
	for group := range 256 {
		for opcode := range etw.Opcode(255) {
			class, name := classic.KernelClass(uint8(group), opcode)
			if class.IsZero() != (name == "") || name != classic.ClassName(class) {
				t.Fatalf("group %#x, opcode %d: class %v, %q", group, opcode, class, name)
			}
			if classic.Learns(class, opcode) && !classic.LearnsGroup(uint8(group)) {
				t.Fatalf("group %#x, opcode %d: its group says that nothing is learned", group, opcode)
			}
			if class.IsZero() {
				continue
			}
			// Image/Load has a place in the group of its class, too.
			if back, ok := classic.KernelGroup(class, opcode); !ok || int(back) != group && name != "Image" {
				t.Fatalf("group %#x, opcode %d: back %#x, %v", group, opcode, back, ok)
			}
		}
	}
	for _, group := range []uint8{5, 24} {
		if class, _ := classic.KernelClass(group, 0); !classic.LearnsGroup(group) || !classic.Learns(class, 1) && !classic.Learns(class, 32) {
			t.Errorf("nothing is learned of group %#x", group)
		}
	}
	if class, name := classic.KernelClass(3, 10); class != imageClass || name != "Image" {
		t.Errorf("Image/Load is of %s", name)
	}
	if group, ok := classic.KernelGroup(imageClass, 10); !ok || group != 3 {
		t.Errorf("Image/Load is in group %#x", group)
	}
	if _, ok := classic.KernelGroup(etw.GUID{1}, 0); ok {
		t.Error("a class that is not the kernel's has a group")
	}
}
