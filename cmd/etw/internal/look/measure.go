package look

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A measure is a figure of the values of a field: sum, avg, min, max, or a percentile such
// as p99.
type measure struct {
	flag, field string
}

// measureFlags defines a flag for each measure. The order on the command line is
// that of the columns. The flags of the usual percentiles are shown, all work.
func measureFlags(cmd *cobra.Command, list *[]measure) {
	define := func(name, usage string, hidden bool) {
		cmd.Flags().Var(&measureFlag{name, list}, name, usage)
		cli.Completions(cmd, map[string]cobra.CompletionFunc{name: pick.CompleteFields})
		if hidden {
			_ = cmd.Flags().MarkHidden(name)
		}
	}
	define("sum", "add up the values of this `FIELD`; repeatable, as those that follow", false)
	define("avg", "the average of this `FIELD`", false)
	define("min", "the least value of this `FIELD`", false)
	define("max", "the largest value of this `FIELD`", false)
	for p := 50; p <= 99; p++ {
		usual := slices.Contains([]int{50, 90, 95, 99}, p)
		define(fmt.Sprintf("p%d", p), fmt.Sprintf("the value of this `FIELD` that %d %% of the values do not exceed", p), !usual)
	}
}

// A measureFlag adds a measure to a list.
type measureFlag struct {
	name string
	list *[]measure
}

func (f *measureFlag) String() string { return "" }
func (f *measureFlag) Type() string   { return "field" }

func (f *measureFlag) Set(text string) error {
	if text == "" {
		return fmt.Errorf("the name of a field is missing")
	}
	for field := range strings.SplitSeq(text, ",") {
		*f.list = append(*f.list, measure{f.name, strings.TrimSpace(field)})
	}
	return nil
}

// percentile returns which one m is, 0 if none.
func (m measure) percentile() int {
	digits, ok := strings.CutPrefix(m.flag, "p")
	if !ok {
		return 0
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// column returns that of the measure.
func (m measure) column() show.Column {
	return show.Column{Name: m.flag + initial(m.field), Head: strings.ToUpper(m.flag) + "(" + m.field + ")", Number: true}
}

// check checks that events have the field, and that it is a number.
func (m measure) check(descs []*etw.EventDesc, flag string) error {
	ref := newFieldRef(m.field)
	if err := ref.check(descs); err != nil {
		return cli.Usagef("%s: %s", flag, pick.ExplainField(err))
	}
	for _, d := range filter.FindField(descs, ref.path) {
		if filter.Class(d) == filter.ClassNumber {
			return nil
		}
	}
	return cli.Usagef("%s: the field %s is not a number", flag, m.field)
}

// A total sums up values.
type total struct {
	keep     bool // all values, for a percentile
	n        int64
	sum      float64
	whole    big.Int // the sum, if all values are integers
	inexact  bool
	min, max number
	values   []number
}

// add adds a value.
func (t *total) add(v number) {
	if t.n == 0 || v.compare(t.min) < 0 {
		t.min = v
	}
	if t.n == 0 || v.compare(t.max) > 0 {
		t.max = v
	}
	t.n++
	t.sum += v.float
	switch v.kind {
	case signed:
		t.whole.Add(&t.whole, big.NewInt(int64(v.bits)))
	case unsigned:
		t.whole.Add(&t.whole, new(big.Int).SetUint64(v.bits))
	default:
		t.inexact = true
	}
	if t.keep {
		t.values = append(t.values, v)
	}
}

// result returns the value of a measure, "" without values.
func (t *total) result(m measure) string {
	if t.n == 0 {
		return ""
	}
	switch m.flag {
	case "sum":
		if !t.inexact {
			return t.whole.String()
		}
		return PlainFloat(t.sum)
	case "avg":
		return PlainFloat(t.sum / float64(t.n))
	case "min":
		return t.min.String()
	case "max":
		return t.max.String()
	}
	slices.SortFunc(t.values, number.compare)
	rank := int(math.Ceil(float64(m.percentile()) / 100 * float64(len(t.values))))
	return t.values[max(rank, 1)-1].String()
}

// PlainFloat writes a number without an exponent, with three digits after the
// point at most.
func PlainFloat(f float64) string {
	if f == math.Trunc(f) || math.Abs(f) < 1 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 3, 64), "0"), ".")
}

// A number is the value of a field that is one.
type number struct {
	float float64
	bits  uint64 // of an integer, of which float may be rounded
	kind  numberKind
}

type numberKind uint8

const (
	fraction numberKind = iota
	signed
	unsigned
)

// numberOf returns the value v of field d as a number, if it is one.
func numberOf(v etw.Value) (number, bool) {
	switch v.Kind() {
	case etw.ValueInt:
		return number{float64(v.Int()), uint64(v.Int()), signed}, true
	case etw.ValueUint, etw.ValuePointer, etw.ValueBool:
		return number{float64(v.Uint()), v.Uint(), unsigned}, true
	case etw.ValueFloat, etw.ValueFloat32:
		f := v.Float()
		return number{float: f}, !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return number{}, false
}

// compare orders numbers. Integers that are rounded to the same are of the same sign, so that
// their bits have their order.
func (n number) compare(m number) int {
	return cmp.Or(cmp.Compare(n.float, m.float), cmp.Compare(n.bits, m.bits))
}

// String returns all digits of an integer.
func (n number) String() string {
	switch n.kind {
	case signed:
		return strconv.FormatInt(int64(n.bits), 10)
	case unsigned:
		return strconv.FormatUint(n.bits, 10)
	}
	return PlainFloat(n.float)
}

// bucketOf returns the step of powers of two that a number lies in: 0 for 0, n for
// those from 2^(n-1) on up to 2^n, and as negative numbers for negative ones.
// Fractions are in the step of the next integer towards zero.
func bucketOf(v number) int64 {
	exponent := 0
	switch {
	case v.kind == fraction:
		_, exponent = math.Frexp(math.Trunc(math.Abs(v.float)))
	case v.float < 0:
		exponent = bits.Len64(-v.bits)
	default:
		exponent = bits.Len64(v.bits)
	}
	if v.float < 0 {
		return -int64(exponent)
	}
	return int64(exponent)
}

// bucketStart returns the least number of a step, or of a negative one that which
// ends it.
func bucketStart(bucket int64) string {
	switch {
	case bucket > 0:
		return strconv.FormatFloat(math.Ldexp(1, int(bucket-1)), 'f', -1, 64)
	case bucket < 0:
		return strconv.FormatFloat(1-math.Ldexp(1, int(-bucket)), 'f', -1, 64)
	}
	return "0"
}

// initial returns a name with a capital.
func initial(name string) string {
	c, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(c)) + name[size:]
}
