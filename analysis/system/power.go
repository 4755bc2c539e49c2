package system

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A PowerState is a state of power that the machine was in, or a change without a length, such as
// a shutdown. One without a start began before the recording; one without an end lasted longer,
// or has no length.
type PowerState struct {
	State   string        `json:"state"` // such as "sleep (S3)" or "battery"
	StartMS measure.Float `json:"startMs,omitzero"`
	EndMS   measure.Float `json:"endMs,omitzero"`
	MS      measure.Float `json:"ms,omitzero"`
	Reason  string        `json:"reason,omitempty"`
	// BatteryPercent is the charge at the start.
	BatteryPercent measure.Float `json:"batteryPercent,omitzero"`
	class          powerClass
}

// A powerClass has one state at a time.
type powerClass int

const (
	powerSleep powerClass = iota
	powerStandby
	powerSupply
	powerTransition
	powerClasses
	powerMoment = powerClasses // changes without a length
)

// beginPower adds a state of a class, which is that of the class until it ends.
func (m *Machine) beginPower(r *etw.Record, class powerClass, state, reason string) *PowerState {
	m.facts.Power = append(m.facts.Power, PowerState{class: class, State: state, Reason: reason, StartMS: measure.Known(m.since(m.at(r)))})
	if class < powerClasses {
		m.power[class] = len(m.facts.Power) // counts from 1; 0 is none
	}
	return &m.facts.Power[len(m.facts.Power)-1]
}

// endPower ends the state of a class. One that has no start was there before the recording.
func (m *Machine) endPower(r *etw.Record, class powerClass, state string) *PowerState {
	at := measure.Known(m.since(m.at(r)))
	if m.power[class] == 0 {
		m.facts.Power = append(m.facts.Power, PowerState{class: class, State: state, EndMS: at})
		return &m.facts.Power[len(m.facts.Power)-1]
	}
	p := &m.facts.Power[m.power[class]-1]
	m.power[class] = 0
	p.EndMS = at
	if start, _ := p.StartMS.Get(); at.Or(0) >= start {
		p.MS = measure.Known(at.Or(0) - start)
	}
	return p
}

// recordPower takes an event about the power of the whole machine. A version that is not known has
// the fields of the latest before it, and more.
func (m *Machine) recordPower(r *etw.Record) {
	var desc *etw.EventDesc
	for _, d := range power.Provider.Events {
		if d.ID == r.ID && d.Version <= r.Version {
			desc = d
		}
	}
	if desc == nil || !m.fields.ReadAs(desc, r) {
		return
	}
	n := func(name string) uint32 { return uint32(m.fields.Value(name).Uint()) }
	switch r.ID {
	case 1:
		m.beginPower(r, powerTransition, "transition", fmt.Sprintf("reason %d", n("Reason")))
	case 2:
		if p := m.endPower(r, powerTransition, "transition"); n("Status") != 0 {
			p.Reason = fmt.Sprintf("failed with 0x%08x", n("Status"))
		}
	case 41:
		reason := "no stop code"
		if code := n("BugcheckCode"); code != 0 {
			reason = fmt.Sprintf("stop code 0x%x", code)
		}
		m.beginPower(r, powerMoment, "started without a shutdown before", reason)
	case 42:
		reason := ""
		if desc.Version >= 2 {
			reason = named(sleepReasons, n("Reason"))
		}
		m.beginPower(r, powerSleep, sleepState(n("EffectiveState")), reason)
	case 105:
		now, before := "battery", "mains"
		if n("AcOnline") != 0 {
			now, before = before, now
		}
		m.endPower(r, powerSupply, before)
		m.beginPower(r, powerSupply, now, "").charge(n("RemainingCapacity"), n("FullChargeCapacity"))
	case 107:
		m.endPower(r, powerSleep, sleepState(n("WakeFromState")))
	case 109:
		m.beginPower(r, powerMoment, named(powerActions, n("ShutdownActionType")), fmt.Sprintf("reason %d", n("ShutdownReason")))
	case 172:
		m.beginPower(r, powerMoment, fmt.Sprintf("network of modern standby: %d", n("State")), fmt.Sprintf("reason %d", n("Reason")))
	case 506:
		m.beginPower(r, powerStandby, standby, named(standbyReasons, n("Reason"))).charge(n("BatteryRemainingCapacityOnEnter"), n("BatteryFullChargeCapacityOnEnter"))
	case 507:
		m.endPower(r, powerStandby, standby)
	}
}

const standby = "modern standby"

// charge takes over how full the battery is, if there is one.
func (p *PowerState) charge(left, full uint32) {
	if full > 0 && left <= full {
		p.BatteryPercent = measure.Known(100 * float64(left) / float64(full))
	}
}

// sleepState names a SYSTEM_POWER_STATE that a machine sleeps in.
func sleepState(state uint32) string {
	switch {
	case state >= 2 && state <= 4:
		return fmt.Sprintf("sleep (S%d)", state-1)
	case state == 5:
		return "hibernation"
	}
	return "sleep"
}

// named returns the name that a number has in a list, or the number.
func named(names []string, n uint32) string {
	if n < uint32(len(names)) && names[n] != "" {
		return names[n]
	}
	return fmt.Sprintf("code %d", n)
}

// The numbers are those of the provider's maps; a gap has no name there.
var (
	sleepReasons = []string{"button or lid", "heat", "battery", 4: "a program", 5: "the kernel", 6: "slept for long", 7: "idle", 10: "battery",
		11: "nobody expected", 12: "nobody expected, without waking", 13: "budget of standby used up", 14: "reserve of the battery", 15: "firmware"}
	standbyReasons = []string{1: "power button", 2: "remote connection", 3: "screen off by a program", 4: "input", 5: "display shows the supply", 6: "display shows a user", 7: "system state set",
		8: "execution state set", 9: "full wake", 10: "session unlocked", 11: "screen off", 12: "idle", 13: "policy", 14: "sleep button", 15: "lid", 16: "batteries counted", 17: "grace period",
		18: "display plugged", 19: "partitions", 20: "sleep, hibernation or shutdown", 21: "system idle", 22: "proximity", 23: "heat", 24: "resume", 25: "resume from hibernation", 26: "terminal",
		27: "signal", 28: "display stays off", 29: "to sleep or shutdown", 30: "a program", 31: "keyboard", 32: "mouse", 33: "touch", 34: "pen", 35: "movement", 36: "input device", 37: "user present",
		38: "session switched", 39: "input begins"}
	powerActions = []string{2: "sleep asked for", 3: "hibernation asked for", 4: "shutdown", 5: "restart", 6: "switched off", 8: "display off"}
)
