package manifest

import (
	"strings"
	"testing"
)

func TestCountOfItself(t *testing.T) {
	_, _, err := Parse("x.man", []byte(inTemplate(`<data name="A" inType="win:UInt8" count="A"/>`)), Options{})
	if err == nil || !strings.Contains(err.Error(), `count of field "A" names that field itself`) {
		t.Errorf("error %v", err)
	}
}
