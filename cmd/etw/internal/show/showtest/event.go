package showtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// keys are those of an event in JSON, in their order; those with a question mark may be missing.
const keys = "time ms file? provider guid id version opcode level task keywords event pid process? tid thread? cpu size " +
	"activity? related? fields path? elapsedMs? stack frames? message? payload error?"

// CheckEvent checks that an event in JSON has the keys that it should, in their order, and
// values of the right types.
func CheckEvent(line []byte) error {
	var types struct {
		Time, File, Provider, GUID, Keywords, Event, Process, Thread, Activity, Related, Path, Message, Payload, Error string
		MS, ID, Version, Opcode, Level, Task, PID, TID, CPU, Size, ElapsedMS                                           float64
	}
	if err := json.Unmarshal(line, &types); err != nil {
		return err
	}
	dec, next := json.NewDecoder(bytes.NewReader(line)), strings.Fields(keys)
	_, err := dec.Token()
	for err == nil && dec.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = dec.Token(); err == nil {
			err = dec.Decode(&value)
		}
		for len(next) > 0 && strings.TrimSuffix(next[0], "?") != key && strings.HasSuffix(next[0], "?") {
			next = next[1:]
		}
		if len(next) == 0 || strings.TrimSuffix(next[0], "?") != key || string(value) == "null" {
			return fmt.Errorf("unexpected key %v with %s", key, value)
		}
		next = next[1:]
	}
	for _, key := range next {
		if !strings.HasSuffix(key, "?") {
			return fmt.Errorf("no key %s", key)
		}
	}
	return err
}
