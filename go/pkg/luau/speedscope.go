package luau

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WriteSpeedscope writes the profile, under that name, as a file of https://www.speedscope.app, which a
// browser shows as a flame graph. It holds the same samples twice, to be chosen there: by function, and
// by line.
func (p *Profile) WriteSpeedscope(w io.Writer, name string) error {
	out := &speedscopeWriter{Writer: bufio.NewWriter(w), numbers: map[speedscopeFrame]int{}}
	functions := p.fold(func(f ProfileFrame) int { return out.frame(label(f, false)) })
	lines := p.fold(func(f ProfileFrame) int { return out.frame(label(f, true)) })
	fmt.Fprintf(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"name\":%s,\n"+
		"\"exporter\":\"hukilau\",\n\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[", quoted(name))
	for i, f := range out.frames {
		out.item(i, "\n")
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		_, _ = out.Write(text)
	}
	fmt.Fprint(out, "\n]},\n\"profiles\":[\n")
	out.profile("functions", functions)
	fmt.Fprint(out, ",\n")
	out.profile("lines", lines)
	fmt.Fprint(out, "\n]}\n")
	return out.Flush() // which tells of all that went wrong before
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

func label(f ProfileFrame, byLine bool) speedscopeFrame {
	if f.Kind != LuauFrame {
		return speedscopeFrame{Name: f.String()}
	}
	if byLine {
		f.Defined = f.Line
	}
	return speedscopeFrame{f.String(), ChunkName(f.Chunk), f.Defined}
}

// folded are stacks of numbered frames, those alike put together.
type folded struct {
	parents, frames []int
	times           []time.Duration
}

// fold renames the frames of all stacks with time and puts together what has become the same.
func (p *Profile) fold(number func(ProfileFrame) int) folded {
	needed := make([]bool, len(p.Stacks))
	for i, s := range slices.Backward(p.Stacks) {
		needed[i] = needed[i] || s.Time > 0
		if needed[i] && s.Parent >= 0 {
			needed[s.Parent] = true
		}
	}
	type step struct{ parent, frame int }
	var out folded
	known := map[step]int{}
	places := make([]int, len(p.Stacks))
	for i, s := range p.Stacks {
		if !needed[i] {
			continue
		}
		at := step{-1, number(p.Frames[s.Frame])}
		if s.Parent >= 0 {
			at.parent = places[s.Parent]
		}
		place, ok := known[at]
		if !ok {
			place = len(out.frames)
			known[at] = place
			out.parents, out.frames, out.times = append(out.parents, at.parent), append(out.frames, at.frame), append(out.times, 0)
		}
		places[i] = place
		out.times[place] += s.Time
	}
	return out
}

// path gives the frames of a stack, outermost first.
func (f *folded) path(at int, room []int) []int {
	depth := 0
	for i := at; i >= 0; i = f.parents[i] {
		depth++
	}
	for len(room) < depth {
		room = append(room, 0)
	}
	room = room[:depth]
	for i := at; i >= 0; i = f.parents[i] {
		depth--
		room[depth] = f.frames[i]
	}
	return room
}

type speedscopeWriter struct {
	*bufio.Writer
	frames  []speedscopeFrame
	numbers map[speedscopeFrame]int
}

func (w *speedscopeWriter) frame(f speedscopeFrame) int {
	n, known := w.numbers[f]
	if !known {
		n = len(w.frames)
		w.frames = append(w.frames, f)
		w.numbers[f] = n
	}
	return n
}

// item puts a comma between the items of a list.
func (w *speedscopeWriter) item(i int, space string) {
	if i > 0 {
		_ = w.WriteByte(',')
	}
	_, _ = w.WriteString(space)
}

// profile writes one view: samples are stacks, weights their times. No stack comes twice.
func (w *speedscopeWriter) profile(name string, f folded) {
	var weights strings.Builder
	var all time.Duration
	fmt.Fprintf(w, "{\"type\":\"sampled\",\"name\":%s,\"unit\":\"nanoseconds\",\"startValue\":0,\"samples\":[", quoted(name))
	var path []int
	n := 0
	for i, spent := range f.times {
		if spent == 0 {
			continue
		}
		all += spent
		w.item(n, "\n[")
		path = f.path(i, path)
		for k, frame := range path {
			w.item(k, "")
			_, _ = w.WriteString(strconv.Itoa(frame))
		}
		_ = w.WriteByte(']')
		if n > 0 {
			weights.WriteByte(',')
		}
		weights.WriteString(strconv.FormatInt(int64(spent), 10))
		n++
	}
	fmt.Fprintf(w, "],\n\"weights\":[%s],\"endValue\":%d}", weights.String(), int64(all))
}

func quoted(text string) []byte {
	out, _ := json.Marshal(text) // any string has a form
	return out
}
