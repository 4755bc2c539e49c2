package system_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/runtime/etw"
)

// States of power last from one event to another, which may be outside of the recording.
func TestPower(t *testing.T) {
	m, s := script(t)
	for i, e := range []etw.Event{
		&power.CsExitReasonV6{Reason: 15}, // which began before
		&power.DirtyTransitionV6{BugcheckCode: 0x7e},
		&power.AcDcStateChangeV1{RemainingCapacity: 30, FullChargeCapacity: 40},
		&power.PreSleepNotification{TargetState: 4, EffectiveState: 5},
		&power.PostSleepNotificationV1{WakeFromState: 5},
		&power.CsEnterReasonV2{Reason: 99, BatteryRemainingCapacityOnEnter: 50, BatteryFullChargeCapacityOnEnter: 40},
		&power.CsExitReason{},
		&power.AcDcStateChange{AcOnline: etw.True},
		&power.TransitionStart{Reason: 3},
		&power.TransitionStop{Status: 0xc0000001},
		&power.StandbyConnectivityUpdate{State: 1, Reason: 2},
		&power.ShutdownAction{ShutdownActionType: 5, ShutdownReason: 1},
		&power.PreSleepNotificationV2{EffectiveState: 4, Reason: 3}, // which has no name
	} {
		s.Event(time.Duration(i+1)*ms, 0, e)
	}
	var got []string
	for _, p := range m.Facts().Power {
		got = append(got, fmt.Sprint(p.State, "|", p.StartMS, "|", p.EndMS, "|", p.MS, "|", p.Reason, "|", p.BatteryPercent))
	}
	want := []string{"modern standby|-|1|-||-", "started without a shutdown before|2|-|-|stop code 0x7e|-", "mains|-|3|-||-", "battery|3|8|5||75",
		"hibernation|4|5|1||-", "modern standby|6|7|1|code 99|-", "mains|8|-|-||-", "transition|9|10|1|failed with 0xc0000001|-",
		"network of modern standby: 1|11|-|-|reason 2|-", "restart|12|-|-|reason 1|-", "sleep (S3)|13|-|-|code 3|-"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
