package profile

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// isFolded reports whether head begins with a line of frames and their weight. Of a line
// that goes on behind it, it must at least have several frames.
func isFolded(head []byte) bool {
	line, whole := firstLine(head)
	for whole && (len(line) == 0 || line[0] == '#') {
		head = head[bytes.IndexByte(head, '\n')+1:]
		line, whole = firstLine(head)
	}
	if len(line) == 0 || line[0] == '<' || bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' }) {
		return false
	}
	if _, _, ok := foldedLine(line); ok {
		return true
	}
	return !whole && len(line) >= 64 && bytes.IndexByte(line, ';') > 0
}

// foldedLine returns the frames of a line, and their weight.
func foldedLine(line []byte) (frames []byte, weight float64, ok bool) {
	at := bytes.LastIndexByte(line, ' ')
	if at <= 0 {
		return nil, 0, false
	}
	weight, err := strconv.ParseFloat(string(line[at+1:]), 64)
	frames = bytes.TrimSpace(line[:at])
	return frames, weight, err == nil && weight >= 0 && !math.IsInf(weight, 0) && !math.IsNaN(weight) && len(frames) > 0
}

// readFolded reads lines. Their weights have no unit: the writer knows it.
func readFolded(p *Profile, data []byte) error {
	p.Types = []ValueType{{"weight", ""}}
	functions := internTo(&p.Functions)
	var round rounder
	bad, firstBad, invalid := 0, 0, 0
	for number := 1; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		frames, weight, ok := foldedLine(line)
		if !ok {
			if bad++; bad == 1 {
				firstBad = number
			}
			continue
		}
		if !utf8.Valid(frames) {
			invalid++
			frames = bytes.ToValidUTF8(frames, []byte("\uFFFD"))
		}
		from := len(p.places)
		for len(frames) > 0 {
			var name []byte
			if at := bytes.LastIndexByte(frames, ';'); at >= 0 {
				frames, name = frames[:at], frames[at+1:]
			} else {
				frames, name = nil, frames
			}
			if len(name) == 0 {
				continue
			}
			f := functions.of(Function{Name: string(name)})
			if int(f) == len(p.Frames) {
				p.addFrame(Frame{Function: f, Module: -1, Within: -1})
			}
			p.places = append(p.places, f)
		}
		p.addSample(Sample{Stack: p.addStack(-1, from), Thread: -1}, round.next(weight))
	}
	if bad >= len(p.Samples) {
		return &lineError{firstBad}
	}
	if bad > 0 {
		p.warn("%d lines have no frames and weight, and are left out; the first is line %d", bad, firstBad)
	}
	if invalid > 0 {
		p.warn("%d lines are not in UTF-8", invalid)
	}
	return nil
}

// firstLine returns the first line of text, and whether all of it is there.
func firstLine(text []byte) ([]byte, bool) {
	line, _, whole := bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), whole
}
