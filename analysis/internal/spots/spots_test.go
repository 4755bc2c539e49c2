package spots

import "testing"

// TestResumed: of which method a state machine is.
func TestResumed(t *testing.T) {
	for full, want := range map[string]string{
		"System.Private.CoreLib!System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[System.__Canon,Ferry+<Fanout>d__22].MoveNext(class System.Threading.Thread)": "Ferry.Fanout",
		"x!A.AsyncStateMachineBox`1[Void,Shop.Oven+Rack+<Bake>d__5].MoveNext()":                    "Shop.Oven.Rack.Bake",
		"x!A.AsyncStateMachineBox`1[Void,Shop.Oven+<<Bake>g__Turn|5_0>d].MoveNext()":               "Shop.Oven.Bake.Turn",
		"x!A.AsyncStateMachineBox`1[Void,Shop.Oven+<>c__DisplayClass1_0+<<Bake>b__0>d].MoveNext()": "Shop.Oven.Bake.lambda",
		"x!A.AsyncStateMachineBox`1[Void,Shop.Oven+<Heat>d__5`1[System.__Canon]].MoveNext()":       "Shop.Oven.Heat",
		"x!A.AsyncStateMachineBox`1[System.__Canon].MoveNext()":                                    "",
		"x!A.AsyncStateMachineBox`1>d__":                                                           "",
		"x!Oven+<Bake>d__5.MoveNext()":                                                             "",
	} {
		if got := resumed(full); got != want {
			t.Errorf("%s: %q, want %q", full, got, want)
		}
	}
}

// TestTaskWait: which methods of libraries wait for tasks, and how programs call them.
func TestTaskWait(t *testing.T) {
	for method, want := range map[string]string{
		"Task.SpinThenBlockingWait": "Task.Wait", "Task.InternalWaitCore": "Task.Wait", "Task.WaitAllBlockingCore": "Task.WaitAll", "Task.WaitAnyCore": "Task.WaitAny",
		"Task`1[System.Int32].get_Result": "Task.Result", "Task`1.GetResultCore": "Task.Result",
		"System.Runtime.CompilerServices.TaskAwaiter.HandleNonSuccessAndDebuggerNotification":     "Task.GetAwaiter().GetResult()",
		"System.Runtime.CompilerServices.ConfiguredTaskAwaitable+ConfiguredTaskAwaiter.GetResult": "Task.GetAwaiter().GetResult()",
		"Task.Delay": "", "TaskScheduler.InternalWait": "", "ManualResetEventSlim.Wait": "", "": "",
	} {
		if got := taskWait(method); got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
}
