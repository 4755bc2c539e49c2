package html

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
)

// maxDetailed is how many collections may be there for each to have all details.
const maxDetailed = 25_000

// sizesGrid has the sizes of each generation at each collection.
func sizesGrid(gcs []*gc.GC) *grid {
	g := &grid{Title: "Generations", Rows: generationNames}
	for _, c := range []struct {
		label, unit string
		digits      int
		value       func(*gc.GenerationSizes) measure.Float
	}{
		{"Before", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.BeforeMB }},
		{"After", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.AfterMB }},
		{"Survived", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.PromotedMB }},
		{"Survival", "%", 1, func(s *gc.GenerationSizes) measure.Float { return s.SurvivalPercent }},
		{"Fragmented", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.FragmentationMB }},
		{"Budget", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.BudgetMB }},
	} {
		n := &numbers{values: make([]float64, 0, len(gcs)*len(generationNames)), digits: c.digits}
		for _, x := range gcs {
			for gen := range generationNames {
				if gen < len(x.Generations) {
					n.values = append(n.values, orNaN(c.value(&x.Generations[gen])))
				} else {
					n.values = append(n.values, nan)
				}
			}
		}
		col := &column{Key: strings.ToLower(c.label), Label: c.label, Unit: c.unit, Digits: c.digits, Numbers: n}
		if col.hasAny() {
			g.Columns = append(g.Columns, col)
		}
	}
	if len(g.Columns) == 0 {
		return nil
	}
	return g
}
