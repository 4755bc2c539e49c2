package kinds

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
)

// profileOf returns the profile of stacks that are written from the outermost frame on,
// separated by ;. Frames with @ are managed code, 0x is code without a name, and the part
// after a blank is the state of a sample.
func profileOf(lines ...string) *stacks.Profile {
	s := stacks.NewSamples("cpu", stacks.ValueType{Name: "samples", Unit: "count"})
	var names []string
	for _, line := range lines {
		line, state, _ := strings.Cut(line, " = ")
		frames := strings.Split(line, "; ")
		slices.Reverse(frames)
		var stack []uint64
		for _, f := range frames {
			names = append(names, f)
			stack = append(stack, uint64(100*len(names)+50))
		}
		labels := s.Label(0, "state", state)
		s.AddStack(time.Unix(0, 0), 1, 1, s.InternAddresses(1, stack), labels, 1)
	}
	native := func(_ int64, address uint64, _ time.Time) (symbols.Native, bool) {
		name := names[address/100-1]
		managed, isManaged := strings.CutPrefix(name, "@")
		module, function, _ := strings.Cut(managed, "!")
		switch {
		case name == "0x":
			return symbols.Native{}, false
		case isManaged:
			n := symbols.Native{Function: function + "(int32)"}
			if module != "" {
				n.Module = "/app/" + module + ".dll"
			}
			n.Type = function[:strings.LastIndexByte(strings.TrimSuffix(function, ".ctor"), '.')]
			return n, true
		}
		return symbols.Native{Module: "/lib/" + module, Function: strings.TrimPrefix(function, "?")}, true
	}
	return stacks.NewProfile(nil, stacks.Options{Native: native}, s)
}

// Names of runtimes, of libraries of .NET and of systems, as traces have them.
func TestKinds(t *testing.T) {
	const user = "@Shop!Bakery.Oven.Bake"
	tests := []struct{ stack, want string }{
		{user, "user"},
		{"@System.Linq!System.Linq.Enumerable.Sum; " + user, "user"},
		{user + "; @System.Text.Json!System.Text.Json.JsonSerializer.Serialize", "framework"},
		{user + "; System.Private.CoreLib.dll!?", "framework"}, // compiled ahead of time, without a name
		{user + "; libm.so.6!__sin_fma", "user"},
		{user + "; @System.Private.CoreLib!System.Math.Sqrt; libm.so.6!__sqrt", "user"},
		{user + "; @System.Private.CoreLib!System.Runtime.CompilerServices.CastHelpers.IsInstanceOfClass", "user"},
		{user + "; libshop.so!shop_bake", "interop"},
		{user + "; libshop.so!shop_bake; libc.so.6!strlen", "interop"},
		{"native!main; native!shop::Basket<int>::fill(int)", "native"},
		{"libc.so.6!__libc_start_main; native!main", "native"},
		{user + "; 0x", "unknown"},
		{user + "; memfd:doublemapper!?", "unknown"},

		{user + "; libcoreclr.so!?", "runtime"},
		{user + "; coreclr.dll!SomethingElse", "runtime"},
		{user + "; libcoreclr.so!JIT_New; libcoreclr.so!?", "allocation"},
		{user + "; coreclr.dll!JIT_NewArr1; coreclr.dll!WKS::GCHeap::Alloc; coreclr.dll!WKS::gc_heap::try_allocate_more_space", "allocation"},
		{user + "; coreclr.dll!JIT_NewArr1; coreclr.dll!WKS::gc_heap::adjust_limit_clr; VCRUNTIME140.dll!memset", "memory"},
		{user + "; coreclr.dll!JIT_New; coreclr.dll!WKS::gc_heap::garbage_collect(int); coreclr.dll!WKS::gc_heap::plan_phase(int)", "gc"},
		{user + "; coreclr.dll!JIT_New; coreclr.dll!WKS::gc_heap::garbage_collect(int); VCRUNTIME140.dll!memcpy", "gc"},
		{"libclrgc.so!SVR::gc_heap::gc_thread_function()", "gc"},
		{"coreclr.dll!SVR::gc_heap::gc_thread_stub(void*); coreclr.dll!SVR::gc_heap::mark_object_simple(unsigned char**)", "gc"},
		{user + "; coreclr.dll!JIT_WriteBarrier", "gc"},
		{user + "; coreclr.dll!JIT_RareDisableHelper; ntdll.dll!NtWaitForSingleObject", "gc"},

		{user + "; libclrjit.so!?", "jit"},
		{user + "; coreclr.dll!ThePreStub; coreclr.dll!UnsafeJitFunction; clrjit.dll!Compiler::fgMorph; ntdll.dll!RtlAllocateHeap", "jit"},
		{user + "; coreclr.dll!UnsafeJitFunction; clrjit.dll!Compiler::impImport; coreclr.dll!CEEInfo::resolveToken; coreclr.dll!ClassLoader::LoadTypeHandleThrowing", "loading"},
		{user + "; clr.dll!MethodDesc::MakeJitWorker; clrjit.dll!?", "jit"},
		{user + "; coreclr.dll!ThePreStub; coreclr.dll!MethodDesc::DoPrestub", "loading"},
		{user + "; @System.Private.CoreLib!System.Runtime.CompilerServices.InitHelpers.InitClassSlow; libcoreclr.so!?; libc.so.6!memset", "loading"},
		{"@System.Private.CoreLib!System.Runtime.CompilerServices.InitHelpers.InitClassSlow; libcoreclr.so!?; @Shop!Bakery.Oven..cctor", "user"},

		{user + "; libc.so.6!__memmove_avx512_unaligned_erms", "memory"},
		{user + "; @System.Private.CoreLib!System.Buffer.Memmove", "memory"},
		{user + "; vmlinux!asm_exc_page_fault; vmlinux!do_anonymous_page; vmlinux!clear_page_erms", "memory"},
		{user + "; vmlinux!asm_exc_page_fault; vmlinux!do_anonymous_page", "kernel"},
		{user + "; libcoreclr.so!JIT_New; vmlinux!asm_exc_page_fault", "allocation"},
		{"libclrgc.so!WKS::gc_heap::mark_phase(int); vmlinux!asm_sysvec_apic_timer_interrupt; vmlinux!handle_softirqs", "kernel"},

		{user + "; @System.Private.CoreLib!System.Threading.Monitor.Enter", "locking"},
		{user + "; @!System.Threading.Monitor.Enter", "locking"}, // no rundown told the module
		{user + "; @!Bakery.System.Threading.Monitor.Enter", "user"},
		{user + "; @System.Private.CoreLib!System.Threading.Monitor.Wait", "waiting"},
		{user + "; @System.Private.CoreLib!System.Threading.Lock.TryEnterSlow; @System.Private.CoreLib!System.Diagnostics.Tracing.NativeRuntimeEventSource.ContentionStart", "locking"},
		{user + "; coreclr.dll!JIT_MonEnterWorker_Portable; coreclr.dll!AwareLock::EnterEpilogHelper; ntdll.dll!NtWaitForSingleObject", "waiting"},
		{user + "; libcoreclr.so!?; libc.so.6!pthread_mutex_lock; vmlinux!__x64_sys_futex; vmlinux!futex_wait", "locking"},
		{user + "; libc.so.6!clock_nanosleep; vmlinux!__x64_sys_clock_nanosleep; vmlinux!do_nanosleep; vmlinux!schedule", "waiting"},
		{user + "; @System.Private.CoreLib!System.Threading.Thread.Sleep; libcoreclr.so!?; vmlinux!schedule", "waiting"},

		{user + "; coreclr.dll!IL_Throw; coreclr.dll!DispatchManagedException; ntdll.dll!RtlVirtualUnwind", "exceptions"},
		{user + "; @System.Private.CoreLib!System.Runtime.EH.DispatchEx; libcoreclr.so!SfiNext", "exceptions"},
		{user + "; @System.Private.CoreLib!System.Runtime.EH.DispatchEx; libcoreclr.so!CallCatchFunclet; @Shop!Bakery.Oven.Clean", "user"},

		{user + "; @System.Net.Sockets!Interop+Sys.Receive; libSystem.Native.so!SystemNative_Receive; libc.so.6!recvmsg; vmlinux!__x64_sys_recvmsg; vmlinux!_copy_to_iter", "io"},
		{user + "; @System.Private.CoreLib!Interop+Sys.Read = external", "io"},
		{user + "; @Shop!Interop+Zlib.Deflate", "interop"},
		{user + "; @Shop!dynamicClass.IL_STUB_PInvoke; libshop.so!shop_bake", "interop"},
		{user + "; @System.Private.CoreLib!System.Diagnostics.Tracing.EventSource.WriteEvent; libcoreclr.so!?", "tracing"},

		// EventPipe: native code that managed code called is not seen.
		{user + " = external", "unknown"},
		{user + "; @System.Private.CoreLib!System.String.Concat = external", "unknown"},
		{user + "; @System.Private.CoreLib!System.Threading.Thread.Sleep = external", "waiting"},
		{user + "; @System.Private.CoreLib!System.Threading.Thread.PollGC = external", "user"},
		{user + " = managed", "user"},
	}
	lines := make([]string, len(tests))
	for i, test := range tests {
		lines[i] = test.stack
	}
	p := profileOf(lines...)
	c := Default().Classify(p)
	i := 0
	for s := range p.Samples() {
		if got := c.Of(s); got.Name != tests[i].want || got.Title == "" {
			t.Errorf("%s: %+v, want %s", tests[i].stack, got, tests[i].want)
		}
		i++
	}
	if i != len(tests) {
		t.Errorf("%d samples", i)
	}
}

// Rules of users come before those that are built in, and reach as far as they say.
func TestAdd(t *testing.T) {
	rules, err := Default().Add(strings.NewReader("\ufeff# ours\n\n[wire] what is sent\n>> Shop!Bakery.Wire.*\n[locking]\nShop!Bakery.Gate.*\r\n[gc]\n< libshop!*\n"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ stack, want string }{
		{"@Shop!Bakery.Wire.Send; @System.Text.Json!System.Text.Json.JsonSerializer.Serialize", "wire"},
		{"@Shop!Bakery.Wire.Send; @Shop!Bakery.Oven.Bake = external", "wire"},
		{"@Shop!Bakery.Wire.Send; coreclr.dll!JIT_New; coreclr.dll!WKS::gc_heap::garbage_collect", "gc"},
		{"@Shop!Bakery.Wire.Send; @System.Private.CoreLib!System.Threading.Monitor.Enter", "wire"},
		{"@Shop!Bakery.Gate.Pass", "locking"},
		{"@Shop!Bakery.Gate.Pass; libshop.so!shop_wait", "locking"},
		{"@Shop!Bakery.Gate.Pass; @Shop!Bakery.Oven.Bake; libshop.so!shop_bake", "gc"},
	}
	for _, test := range tests {
		p := profileOf(test.stack)
		for s := range p.Samples() {
			if got := rules.Classify(p).Of(s).Name; got != test.want {
				t.Errorf("%s: %s, want %s", test.stack, got, test.want)
			}
		}
	}
	if k := rules.Kinds(); !slices.Contains(k, Kind{"wire", "what is sent"}) || slices.ContainsFunc(k, func(k Kind) bool { return k.Name == caller }) {
		t.Errorf("%v", k)
	}
	c := rules.Classify(profileOf("@Shop!Bakery.Wire.Send"))
	if got := c.Unmatched(); !slices.Equal(got, []string{"Shop!Bakery.Gate.*", "< libshop!*"}) {
		t.Errorf("unmatched: %q", got)
	}
	if got := Default().Classify(profileOf("@Shop!Bakery.Wire.Send")).Unmatched(); got != nil {
		t.Errorf("of the table that is built in: %q", got)
	}
	if len(Default().Kinds()) != len(rules.Kinds())-1 {
		t.Error("the rules that were there have changed")
	}
	for text, want := range map[string]string{
		"Shop!*":                    "line 1: \"Shop!*\" is in no section",
		"[gc]\nShop":                "line 2: \"Shop\" is not MODULE!METHOD",
		"[gc]\nShop!":               "line 2: \"Shop!\" is not MODULE!METHOD",
		"# x\n[GC]":                 "line 2: \"[GC]\" is not the name of a kind",
		"[gc":                       "line 1: \"[gc\" is not the name of a kind",
		strings.Repeat("x", 100000): "line 1 has more than 65536 bytes",
		"[gc]\n>>>> a!b":            "line 2: \">>>> a!b\" begins with signs that mean nothing",
		"[gc]\n> > a!b":             "line 2: \"> > a!b\" begins with signs",
		"[gc]\n=> a!b":              "line 2: \"=> a!b\" begins with signs",
	} {
		if _, err := rules.Add(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

const tags = "\ufeff<?xml version=\"1.0\"?>\n<Tag Name=\"\"><Tag Name=\"HTML\"><Entrypoint Module=\"Shop.dll\" Method=\"Bakery.Wire.*\"/>" +
	"<Tag Name=\"Script &amp; OM\"><Entrypoint Module=\"*\" Method=\"Bakery.Gate.Pass\"/></Tag></Tag><HintTag Name=\"x\"><Entrypoint Module=\"*\" Method=\"*\"/></HintTag>" +
	"<Tag Name=\"Unknown\"><Entrypoint Module=\"coreclr.dll\" Method=\"JIT_*\"/></Tag></Tag>"

// The innermost tag counts, whatever is called below it.
func TestTags(t *testing.T) {
	rules, err := Default().Add(strings.NewReader(tags))
	if err != nil {
		t.Fatal(err)
	}
	for stack, want := range map[string]Kind{
		"@Shop!Bakery.Wire.Send; coreclr.dll!WKS::gc_heap::garbage_collect": {"html", "HTML"},
		"@Shop!Bakery.Wire.Send; @Shop!Bakery.Oven.Bake = external":         {"html", "HTML"},
		"@Shop!Bakery.Wire.Send; @Other!Bakery.Gate.Pass; @Shop!X.Y":        {"html-script-om", "HTML\\Script & OM"},
		"@Shop!Bakery.Wire.Send; coreclr.dll!JIT_New; ntdll.dll!x":          {"unknown-tag", "Unknown"},
		"@Shop!Bakery.Oven.Bake": {"user", "user code"},
	} {
		p := profileOf(stack)
		c := rules.Classify(p)
		for s := range p.Samples() {
			if got := c.Of(s); got != want || c.Unmatched() != nil {
				t.Errorf("%s: %v, want %v; %q", stack, got, want, c.Unmatched())
			}
		}
	}
	for text, want := range map[string]string{
		"<Tag Name='a'>\n<Entrypoint Module='x'/></Tag>":         "line 2: an Entrypoint wants a Module, a Method",
		"<Tag Name='a'>\n\n":                                     "line 3: XML syntax error",
		"<Tags><Entrypoint Module='x' Method='y'/></Tags>":       "line 1: an Entrypoint wants",
		strings.Repeat("<Tag Name='a'>", 100):                    "line 1: tags are more than 64 deep",
		"<Tag Name='a'>" + strings.Repeat("</Tag>", 2) + "<Tag>": "line 1: XML syntax error",
	} {
		if _, err := Default().Add(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*b", "ab", true}, {"*b", "abc", false}, {"*", "", true}, {"a*a", "a", false},
		{"a*b*c", "abxbc", true}, {"a*bc*d", "abcbcd", true}, {"a*b*c", "acb", false}, {"**", "x", true}, {"a**b", "ab", true},
	} {
		if got := matches(test.pattern, test.text); got != test.want {
			t.Errorf("%q matches %q: %v", test.pattern, test.text, got)
		}
	}
}

// No line of the table is there for nothing: each could be asked, since no earlier one of
// the same module takes all that it does.
func TestTable(t *testing.T) {
	rules := Default()
	seen := map[string]bool{}
	for _, r := range rules.list {
		key := fmt.Sprint(r.module, "!", r.method)
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
	}
	if rules.Kinds()[0].Name != Unknown || len(rules.list) < 300 {
		t.Errorf("%d rules", len(rules.list))
	}
}

// FuzzRules reads tables of any text: each one read classifies.
func FuzzRules(f *testing.F) {
	f.Add("[gc] title\n> a!b*\n", "a!b")
	f.Add("[x]\n>> *!*\n< !c", "c")
	f.Add(tags, "Shop")
	p := profileOf("@Shop!Bakery.Oven.Bake; libc.so.6!memset", "0x")
	f.Fuzz(func(t *testing.T, table, name string) {
		rules, err := Default().Add(strings.NewReader(table))
		if err != nil {
			return
		}
		c := rules.Classify(p)
		for s := range p.Samples() {
			if c.Of(s).Name == "" {
				t.Error("a sample is of no kind")
			}
		}
		matches(table, name)
	})
}
