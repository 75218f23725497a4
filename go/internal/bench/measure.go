package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// measurement gives nanoseconds of one operation, or bytes; an operation is repeated for `least`.
type measurement func(least time.Duration) (float64, error)

// line is one line of the table.
type line struct {
	what   string
	unit   unit
	ours   measurement
	peers  []peerMeasurement
	budget float64 // in the unit; 0: none
	ratio  bool    // the budget is for ours / first peer, the least of each
	speed  bool    // with ratio: it is for first peer / ours, at least
}

type peerMeasurement struct {
	name    string
	measure measurement
}

// unit says how a figure is shown.
type unit struct {
	name  string
	shown func(raw float64) float64
	most  bool // a budget is the least that is wanted
}

func scaled(name string, by float64) unit {
	return unit{name: name, shown: func(raw float64) float64 { return raw / by }}
}

var (
	nanoseconds  = scaled("ns", 1)
	microseconds = scaled("us", 1e3)
	milliseconds = scaled("ms", 1e6)
	kilobytes    = scaled("KB", 1e3)
	megabytes    = scaled("MB", 1e6)
	threads      = scaled("threads", 1)
)

// throughput shows the time of one operation on so many bytes as MB/s.
func throughput(bytes int) unit {
	return unit{name: "MB/s", shown: func(ns float64) float64 { return float64(bytes) * 1e3 / ns }, most: true}
}

// perMinute shows the time that so many things took together as things a minute.
func perMinute(things int) unit {
	return unit{name: "files/min", shown: func(ns float64) float64 { return float64(things) * 60e9 / ns }, most: true}
}

func (u unit) format(raw float64) string {
	v := u.shown(raw)
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f %s", v, u.name)
	case v >= 10:
		return fmt.Sprintf("%.1f %s", v, u.name)
	default:
		return fmt.Sprintf("%.2f %s", v, u.name)
	}
}

// bench measures lines.
type bench struct {
	rounds int
	least  time.Duration
	peers  []*peer
	closed []func()
}

func (b *bench) close() {
	for _, f := range slices.Backward(b.closed) {
		f()
	}
	for _, p := range b.peers {
		p.close()
	}
}

// measure takes ours and each peer in turn, so that a busy spell of the machine meets all of them.
func (b *bench) measure(l line) (string, error) {
	all := append([]peerMeasurement{{"ours", l.ours}}, l.peers...)
	seen := make([][]float64, len(all))
	least := b.least
	if l.ratio {
		least *= 10 // two percent are to be told apart
	}
	for range b.rounds {
		for i, m := range all {
			v, err := m.measure(least)
			if err != nil {
				return "", fmt.Errorf("%s: %w", m.name, err)
			}
			seen[i] = append(seen[i], v)
		}
	}
	return l.format(all, seen), nil
}

func (l *line) format(all []peerMeasurement, seen [][]float64) string {
	typical := median
	if l.ratio {
		typical = slices.Min // both sides do the same work, and noise only adds to it
	}
	var peers []string
	for i, m := range all[1:] {
		peers = append(peers, m.name+" "+l.unit.format(typical(seen[i+1])))
	}
	ours := l.unit.format(typical(seen[0]))
	figure, unit := l.unit.shown(typical(seen[0])), " "+l.unit.name
	if l.ratio {
		figure, unit = typical(seen[0])/typical(seen[1]), "x"
		if l.speed {
			figure = 1 / figure
		}
		ours += fmt.Sprintf(" %.3fx", figure)
	}
	if l.budget == 0 {
		return row(l.what, ours, "", "", strings.Join(peers, ", "))
	}
	sign, verdict := "<= ", "ok"
	most := l.unit.most || l.speed
	if most {
		sign = ">= "
	}
	switch {
	case len(seen[0]) == 1:
		verdict = "" // a single figure judges nothing
	case most == (figure < l.budget) && figure != l.budget:
		verdict = "miss"
	}
	return row(l.what, ours, fmt.Sprintf("%s%g%s", sign, l.budget, unit), verdict, strings.Join(peers, ", "))
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// clock is a kind of time.
type clock func() time.Duration

// cpu is what all threads of this process used, the garbage collector's included.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // cannot fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// each measures an operation: run does n of them. The n that took long enough is where the next turn
// begins.
func each(now clock, run func(n int) error) measurement {
	enough := 1
	return func(least time.Duration) (float64, error) {
		for n := enough; ; n *= 2 {
			enough = n
			from := now()
			if err := run(n); err != nil {
				return 0, err
			}
			if took := now() - from; took >= least {
				return max(1, float64(took)) / float64(n), nil
			}
		}
	}
}
