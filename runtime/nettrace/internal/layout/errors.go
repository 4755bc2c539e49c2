package layout

import (
	"errors"
	"fmt"
)

// Damaged returns an ErrDamaged that names the fault.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// ErrDamaged is for a stream that contradicts itself.
var ErrDamaged = errors.New("damaged trace")
