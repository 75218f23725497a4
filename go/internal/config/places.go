package config

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"
)

// places says where keys are, by their paths.
type places struct {
	data    []byte
	offsets map[string]int
}

func placeKey(path []string) string { return strings.Join(path, "\x00") }

// Bounds of what is noted: what is beyond them has the place of what is around it.
const (
	mostPlaces = 50_000
	mostPath   = 1 << 10 // bytes: each place inside of long keys has them all
)

// note keeps the first place of a path.
func (p places) note(path []string, at int) {
	size := len(path)
	for _, part := range path {
		size += len(part)
	}
	if size > mostPath || len(p.offsets) >= mostPlaces {
		return
	}
	key := placeKey(path)
	if _, known := p.offsets[key]; !known {
		p.offsets[key] = at
	}
}

// find gives the line and column of a path, or of the nearest above it that has one; the column counts
// characters. Lines are counted here, for few errors, and not for each key.
func (p places) find(path []string) (line, column int) {
	for n := len(path); n > 0; n-- {
		if at, known := p.offsets[placeKey(path[:n])]; known {
			before := p.data[:at]
			last := bytes.LastIndexByte(before, '\n') + 1
			return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[last:])
		}
	}
	return 0, 0
}

// finder reads a text that is known to be right.
type finder struct {
	parser unstable.Parser
	places places
	counts map[string]int // of the tables in each array of tables
}

func findPlaces(data []byte) places {
	f := finder{places: places{data, map[string]int{}}, counts: map[string]int{}}
	f.parser.Reset(data)
	var table []string
	for f.parser.NextExpression() {
		e := f.parser.Expression()
		switch e.Kind {
		case unstable.Table:
			table = f.header(e, false)
		case unstable.ArrayTable:
			table = f.header(e, true)
		case unstable.KeyValue:
			f.pair(table, e)
		}
	}
	return f.places
}

// header gives the path that the keys after a header have. A name of an array of tables means its last one.
func (f *finder) header(e *unstable.Node, array bool) []string {
	var path []string
	for it := e.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
		f.note(path, it.Node())
		key := placeKey(path)
		if array && it.IsLast() {
			f.counts[key]++
		}
		if n := f.counts[key]; n > 0 {
			path = append(path, strconv.Itoa(n-1))
			f.note(path, it.Node())
		}
	}
	return path
}

func (f *finder) pair(table []string, e *unstable.Node) {
	path := append([]string(nil), table...)
	for it := e.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
		f.note(path, it.Node())
	}
	f.value(path, e.Value())
}

func (f *finder) value(path []string, v *unstable.Node) {
	i := 0
	for it := v.Children(); it.Next(); {
		switch v.Kind {
		case unstable.InlineTable:
			f.pair(path, it.Node())
		case unstable.Array:
			inside := append(append([]string(nil), path...), strconv.Itoa(i))
			if it.Node().Raw.Length > 0 {
				f.note(inside, it.Node())
			}
			f.value(inside, it.Node())
			i++
		}
	}
}

func (f *finder) note(path []string, at *unstable.Node) {
	if at.Raw.Length > 0 {
		f.places.note(path, int(at.Raw.Offset))
	}
}
