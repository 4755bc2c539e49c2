// Package measure has the parts of all results of analyses: numbers that may be unknown, and
// summaries of many numbers. Use it to read results, and for analyses of your own.
//
// Units are in the names of fields: ms are milliseconds, MB are 1,000,000 bytes,
// and times that are points are milliseconds since the session began.
package measure

import (
	"encoding/json"
	"math"
	"strconv"
)

// A Float is a number that may be unknown, where a trace does not tell it. The zero Float is
// unknown. In JSON, a field of an unknown number is left out if it is tagged omitzero, and
// null otherwise; NaN and infinities do not occur.
type Float struct {
	not uint64 // the bits of the number, each the other way: all are 0 of a NaN alone
}

// Known returns the number v. NaN and infinities are unknown.
func Known(v float64) Float {
	const exponent = 0x7ff << 52 // all of it is set of them alone
	b := math.Float64bits(v)
	if b&exponent == exponent {
		return Float{}
	}
	return Float{^b}
}

// Sum adds up numbers as far as they are known.
func Sum(a, b Float) Float {
	if a.IsZero() {
		return b
	}
	return Known(a.Or(0) + b.Or(0))
}

// Ratio returns a/b, which is unknown if b is 0 or either is unknown.
func Ratio(a, b Float) Float {
	if a.IsZero() || b.Or(0) == 0 {
		return Float{}
	}
	return Known(a.Or(0) / b.Or(0))
}

// Get returns the number, and whether it is known.
func (f Float) Get() (float64, bool) { return f.Or(0), !f.IsZero() }

// Or returns the number, or v if it is unknown.
func (f Float) Or(v float64) float64 {
	if f.IsZero() {
		return v
	}
	return math.Float64frombits(^f.not)
}

// IsZero reports whether f is unknown, for the tag omitzero.
func (f Float) IsZero() bool { return f.not == 0 }

// String returns the shortest text of the number, or - if it is unknown.
func (f Float) String() string {
	if f.IsZero() {
		return "-"
	}
	return strconv.FormatFloat(f.Or(0), 'f', -1, 64)
}

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) {
	if f.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(f.Or(0))
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Float) UnmarshalJSON(b []byte) error {
	var p *float64
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*f = Float{}
	if p != nil {
		*f = Known(*p)
	}
	return nil
}

// Most is where sums of sizes that a trace tells of end: no memory is as large, and a sum that
// reaches it is of numbers that cannot be.
const Most = math.MaxInt64

// Plus returns a+b, or [Most] if that is less.
func Plus(a, b uint64) uint64 {
	if a >= Most || b > Most-a {
		return Most
	}
	return a + b
}
