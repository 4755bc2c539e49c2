package show

// A fold is the columns of a table that stand in one line: all of them, unless that
// is too wide. Then rows go on in further lines, so that no column is lost.
type fold struct {
	from   int // the first column
	widths []int
	indent int
}

// leastWidth is the width that a column of text keeps when a table is too wide.
const leastWidth = 10

// fold returns the lines that a row takes. Texts give way first, then rows go on,
// with texts that are again as wide as fits.
func (t *Table) fold(lines [][]string, limit int) []fold {
	if widths := t.Fit(lines, limit); t.Plain || limit == 0 || len(widths) < 2 || lineWidth(widths) <= limit {
		return []fold{{widths: widths}}
	}
	natural := t.Fit(lines, 0)
	indent := min(natural[0], leastWidth) + 2
	var folds []fold
	for from := 0; from < len(natural); {
		f := fold{from: from}
		if from > 0 {
			f.indent = indent
		}
		room, to, sum := limit-f.indent, from, -2
		for ; to < len(natural); to++ {
			width := natural[to]
			if !t.Columns[to].Number {
				width = min(width, max(leastWidth, limit/3))
			}
			if sum+2+width > room && to > from {
				break
			}
			sum += 2 + width
		}
		f.widths = t.squeeze(append([]int(nil), natural[from:to]...), from, room)
		folds = append(folds, f)
		from = to
	}
	return folds
}

// Fit returns the widths of the columns such that a table fits, as far as that
// can be.
func (t *Table) Fit(lines [][]string, limit int) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range lines {
		for i, cell := range row {
			widths[i] = max(widths[i], TextWidth(cell))
		}
	}
	if limit == 0 {
		return widths
	}
	return t.squeeze(widths, 0, limit)
}

// squeeze makes columns, of which the first is from, narrower until they fit a line:
// the widest of text gives way first.
func (t *Table) squeeze(widths []int, from, limit int) []int {
	for over := lineWidth(widths) - limit; over > 0; over-- {
		widest := -1
		for i, w := range widths {
			if !t.Columns[from+i].Number && w > leastWidth && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// lineWidth returns how many cells a line takes whose columns have the given widths.
func lineWidth(widths []int) int {
	sum := 2 * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}
