package filter

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A number is an integer of 64 bits, signed or not, or of floating point.
type number struct {
	integer  uint64
	negative bool // integer is signed and below zero
	float    float64
	isFloat  bool
}

// parseNumber reads a number: decimal, hexadecimal with 0x, or with a fraction or
// an exponent.
func parseNumber(text string) (number, bool) {
	sign, digits := strings.HasPrefix(text, "-"), strings.TrimPrefix(text, "-")
	base := 10
	if len(digits) > 2 && strings.EqualFold(digits[:2], "0x") {
		base, digits = 16, digits[2:]
	}
	switch n, err := strconv.ParseUint(digits, base, 64); {
	case err == nil && !sign:
		return number{integer: n}, true
	case err == nil && n <= 1<<63:
		return number{integer: -n, negative: n > 0}, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}, false
	}
	return number{float: f, isFloat: true}, true
}

// numberOf returns the value v of field d as a number, if it is one.
func numberOf(d *etw.FieldDesc, v etw.Value) (number, bool) {
	switch v.Kind() {
	case etw.ValueInt:
		return number{integer: v.Uint(), negative: v.Int() < 0}, true
	case etw.ValueUint:
		if d.Out == etw.OutPort { // big-endian
			return number{integer: v.Uint()>>8&0xff | v.Uint()&0xff<<8}, true
		}
		return number{integer: v.Uint()}, true
	case etw.ValueBool, etw.ValuePointer:
		return number{integer: v.Uint()}, true
	case etw.ValueFloat, etw.ValueFloat32:
		return number{float: v.Float(), isFloat: true}, true
	}
	return number{}, false
}

// compare orders two numbers, exactly. It reports false for a NaN.
func (x number) compare(y number) (int, bool) {
	if !x.isFloat && !y.isFloat {
		if x.negative != y.negative {
			if x.negative {
				return -1, true
			}
			return 1, true
		}
		return cmp.Compare(x.integer, y.integer), true
	}
	if math.IsNaN(x.float) || math.IsNaN(y.float) {
		return 0, false
	}
	return x.big().Cmp(y.big()), true
}

// big returns x in a precision that holds every number.
func (x number) big() *big.Float {
	f := new(big.Float).SetPrec(64)
	switch {
	case x.isFloat:
		return f.SetFloat64(x.float)
	case x.negative:
		return f.SetInt64(int64(x.integer))
	}
	return f.SetUint64(x.integer)
}
