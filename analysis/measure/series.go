package measure

// maxBuckets bounds a Series: when it is full, each two buckets become one.
const maxBuckets = 512

// A Series adds up values over time, in buckets of equal width. It takes the same
// memory however long the time is. The zero Series is ready for use.
type Series struct {
	// WidthMS is the width of a bucket. Bucket i begins i*WidthMS after the begin of
	// the session.
	WidthMS float64   `json:"widthMs"`
	Counts  []uint64  `json:"counts"`
	Sums    []float64 `json:"sums"`
}

// Add adds a value at a time in milliseconds since the session began. Earlier values go into
// the first bucket.
func (s *Series) Add(ms, value float64) {
	if s.WidthMS == 0 {
		s.WidthMS = 1
	}
	at := ms / s.WidthMS
	for at >= maxBuckets {
		s.fold()
		at = ms / s.WidthMS
	}
	i := max(int(at), 0)
	for len(s.Counts) <= i {
		s.Counts, s.Sums = append(s.Counts, 0), append(s.Sums, 0)
	}
	s.Counts[i]++
	s.Sums[i] += value
}

// fold makes the buckets twice as wide.
func (s *Series) fold() {
	s.WidthMS *= 2
	n := (len(s.Counts) + 1) / 2
	for i := range n {
		count, sum := s.Counts[2*i], s.Sums[2*i]
		if 2*i+1 < len(s.Counts) {
			count += s.Counts[2*i+1]
			sum += s.Sums[2*i+1]
		}
		s.Counts[i], s.Sums[i] = count, sum
	}
	s.Counts, s.Sums = s.Counts[:n], s.Sums[:n]
}

// Clone returns a copy that does not change with s.
//
//go:noinline
func (s *Series) Clone() Series {
	return Series{s.WidthMS, append([]uint64{}, s.Counts...), append([]float64{}, s.Sums...)}
}

// Levels is how high something was over time, in buckets of equal width as those of
// a [Series]: in each, the highest level that was set in it, or that it began with.
// The zero Levels is ready for use.
type Levels struct {
	WidthMS float64   `json:"widthMs"`
	Highest []float64 `json:"highest"`
	last    float64
}

// Set sets the level at a time in milliseconds since the session began, which must
// not go back.
func (l *Levels) Set(ms, level float64) {
	if l.WidthMS == 0 {
		l.WidthMS = 1
	}
	for ms/l.WidthMS >= maxBuckets {
		l.fold()
	}
	i := max(int(ms/l.WidthMS), 0)
	for len(l.Highest) <= i {
		l.Highest = append(l.Highest, l.last)
	}
	l.Highest[i] = max(l.Highest[i], level)
	l.last = level
}

// fold makes the buckets twice as wide.
func (l *Levels) fold() {
	l.WidthMS *= 2
	n := (len(l.Highest) + 1) / 2
	for i := range n {
		high := l.Highest[2*i]
		if 2*i+1 < len(l.Highest) {
			high = max(high, l.Highest[2*i+1])
		}
		l.Highest[i] = high
	}
	l.Highest = l.Highest[:n]
}

// Clone returns a copy that does not change with l.
func (l *Levels) Clone() Levels {
	return Levels{l.WidthMS, append([]float64{}, l.Highest...), l.last}
}
