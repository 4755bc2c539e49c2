package show

import "testing"

func TestNumbersInCSV(t *testing.T) {
	for cell, want := range map[string]string{"-1": "-1", "+Inf": "'+Inf", "-Inf": "'-Inf", "NaN": "NaN", "-1e+300": "-1e+300"} {
		if got := string(CsvStyle{}.Cell(nil, false, []byte(cell), true)); got != want {
			t.Errorf("%s is %s, want %s", cell, got, want)
		}
		if got := string(CsvStyle{Raw: true}.Cell(nil, false, []byte(cell), true)); got != cell {
			t.Errorf("raw, %s is %s", cell, got)
		}
	}
}
