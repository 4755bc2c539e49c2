package msf

import (
	"bytes"
	"errors"
	"testing"

	"github.com/etwgen/etwgen/internal/msf/msftest"
	"github.com/etwgen/etwgen/internal/quota"
)

// TestBlocksThatAreShared reads a PDB with a stream of one block that is said to be in it again
// and again.
func TestBlocksThatAreShared(t *testing.T) {
	file := msftest.File([][]byte{nil, {1, 2, 3}})
	whole, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := whole.Stream(1); err != nil || !bytes.Equal(b, []byte{1, 2, 3}) {
		t.Errorf("the stream has %x, %v", b, err)
	}
	m := &File{r: bytes.NewReader(file), blockSize: 512, blocks: 1 << 30, left: quota.Of(int64(len(file)))}
	if _, err := m.read(nil, 1<<30); !errors.Is(err, quota.ErrShared) {
		t.Errorf("the error is %v", err)
	}
}
