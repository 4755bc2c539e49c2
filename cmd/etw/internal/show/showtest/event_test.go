package showtest

import (
	"strings"
	"testing"
)

func TestCheckEvent(t *testing.T) {
	const good = `{"time":"","ms":1.5,"provider":"","guid":"","id":1,"version":0,"opcode":0,"level":0,"task":0,"keywords":"","event":"","pid":1,"tid":2,"cpu":0,"size":4,"fields":{"a":1},"stack":[],"payload":""}`
	if err := CheckEvent([]byte(good)); err != nil {
		t.Error(err)
	}
	for _, change := range [][2]string{{`"ms":1.5`, `"ms":"1"`}, {`"pid":1,`, ``}, {`,"payload":""`, ``}, {`"id":1,"version":0`, `"version":0,"id":1`}, {`"stack"`, `"stick"`}, {`"fields":{"a":1}`, `"fields":null`}} {
		if err := CheckEvent([]byte(strings.Replace(good, change[0], change[1], 1))); err == nil {
			t.Errorf("%s is not noticed", change[1])
		}
	}
}
