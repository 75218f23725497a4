package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	mebibytes = scaled("MiB", 1<<20)
	tokens    = scaled("tokens", 1)
)

// gatewayLimits are about the process of the gateway: its start, its memory, and what scripts do to others.
func (b *bench) gatewayLimits(f *bothFaces) []line {
	lines := []line{
		{what: "start with 3 servers, to the first tools/list", unit: milliseconds, budget: 25, ours: b.firstListing},
		b.afterScripts(),
	}
	for _, bad := range []struct{ what, script, ends string }{
		{"an endless loop", `while true do end`, "timeout"},
		{"an endless allocation", `local all = {} while true do table.insert(all, string.rep("x", 100000) .. #all) end`, "memory"},
		{"a slow pattern", `return string.find(string.rep("a", 60), string.rep("a*", 30) .. "b")`, "timeout"},
	} {
		m := &misuse{faces: f, script: bad.script, ends: bad.ends}
		lines = append(lines,
			line{what: "beside " + bad.what + ", slowest probe", unit: milliseconds, budget: 20, ours: m.slowestProbe},
			line{what: "beside " + bad.what + ", memory on top", unit: mebibytes, budget: 64 + 20, ours: m.memory})
	}
	return lines
}

// slowServer is how late the third server is.
const slowServer = 3 * time.Second

// firstListing is the time from the start of the program to the tools that a client sees.
func (b *bench) firstListing(time.Duration) (float64, error) {
	dir, err := b.gatewayProject("", upstreamFlags{}, upstreamFlags{}, upstreamFlags{late: slowServer})
	if err != nil {
		return 0, err
	}
	from := time.Now()
	p, err := dial(gatewayCommand(dir))
	if err != nil {
		return 0, err
	}
	defer p.close()
	answer, err := p.call("tools/list", "{}")
	took := time.Since(from)
	if err == nil && !bytes.Contains(answer, []byte("execute_script")) {
		err = fmt.Errorf("tools/list answered %s", answer)
	}
	return float64(took), err
}

// afterScripts is what a gateway holds after many scripts, each of them another one. The type checker is a process of
// its own. What is mapped of the program's file counts, though the system shares it and can let it go.
func (b *bench) afterScripts() line {
	run := sync.OnceValues(func() (int, error) {
		f, err := b.openFaces("", upstreamFlags{})
		if err != nil {
			return 0, err
		}
		p, err := f.stdio()
		if err != nil {
			return 0, err
		}
		scripts := 3000
		if b.rounds == 1 {
			scripts = 100
		}
		for i := range scripts {
			if _, err := p.call("tools/call", executes(fmt.Sprintf("-- %d\n%s", i, oneCall))); err != nil {
				return 0, err
			}
		}
		return f.pid(), nil
	})
	resident := func(name string) measurement {
		return func(time.Duration) (float64, error) {
			pid, err := run()
			if err != nil {
				return 0, err
			}
			return statusOf(pid, name)
		}
	}
	return line{what: "resident after 3,000 scripts", unit: mebibytes, budget: 50, ours: resident("VmRSS"),
		peers: []peerMeasurement{{"of it mapped from the file", resident("RssFile")}}}
}

// statusOf reads a number of kilobytes that the system knows of a process, in bytes.
func statusOf(pid int, name string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(text), name+":")
	if !found {
		return 0, fmt.Errorf("the system does not say %s", name)
	}
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	return float64(kilobytes) * 1024, err
}

// misuse is a script that uses what it can get, and others beside it.
type misuse struct {
	faces        *bothFaces
	script, ends string

	slowest, growth float64 // of the last run; the most of all runs
}

func (m *misuse) slowestProbe(time.Duration) (float64, error) {
	err := m.run()
	return m.slowest, err
}

// memory is of the runs whose probes were measured before.
func (m *misuse) memory(time.Duration) (float64, error) {
	var err error
	if m.growth == 0 {
		err = m.run()
	}
	return m.growth, err
}

// misuseTime is that of the bad script, in milliseconds.
const misuseTime = 500

func (m *misuse) run() error {
	p, err := m.faces.stdio()
	if err != nil {
		return err
	}
	if _, err := p.call("tools/call", executes(trivial)); err != nil {
		return err
	}
	before, err := statusOf(m.faces.pid(), "VmRSS")
	if err != nil {
		return err
	}
	peak := watchMemory(m.faces.pid())
	bad, err := p.send("tools/call", fmt.Sprintf(`{"name":"execute_script","arguments":{"timeout_ms":%d,"script":%s}}`, misuseTime, strconv.Quote(m.script)))
	m.slowest = 0
	for ended := false; err == nil && !ended; {
		ended, err = m.probe(p, bad)
	}
	m.growth = max(peak()-before, m.growth, 1)
	return err
}

// probe runs a small script, and sees whether the bad one has ended as it must.
func (m *misuse) probe(p *pipes, bad int) (ended bool, err error) {
	time.Sleep(time.Millisecond)
	from := time.Now()
	probe, err := p.send("tools/call", executes(trivial))
	for err == nil {
		id, answer, failed := p.next()
		switch {
		case id == probe:
			m.slowest = max(m.slowest, float64(time.Since(from)))
			return ended, failed
		case id != bad:
			return ended, failed
		case !bytes.Contains(answer, []byte(m.ends)) || !bytes.Contains(answer, []byte(`"isError":true`)):
			return ended, fmt.Errorf("%q ended with %s", m.script, answer)
		}
		ended = true
	}
	return ended, err
}

// watchMemory gives the most that a process holds until the result is called.
func watchMemory(pid int) (peak func() float64) {
	var most atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			if now, err := statusOf(pid, "VmRSS"); err == nil {
				most.Store(max(most.Load(), int64(now)))
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return func() float64 {
		close(stop)
		<-done
		return float64(most.Load())
	}
}
