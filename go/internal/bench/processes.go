package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

const manyScripts = 10_000

// asleep measures many waiting scripts, in a process of their own, once.
func (b *bench) asleep() ([]line, error) {
	var bytes, osThreads float64
	run := sync.OnceValue(func() error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		out, err := exec.Command(self, "-asleep", strconv.Itoa(manyScripts)).Output()
		if err != nil {
			return err
		}
		_, err = fmt.Sscan(string(out), &bytes, &osThreads)
		return err
	})
	return []line{
		{what: "10,000 scripts asleep, memory of each", unit: kilobytes, budget: 200,
			ours:  func(time.Duration) (float64, error) { err := run(); return bytes, err },
			peers: b.ask("idle", "bare C++", "gopher-lua", "mlua")},
		{what: "10,000 scripts asleep, OS threads", unit: threads, budget: 64,
			ours: func(time.Duration) (float64, error) { err := run(); return osThreads, err }},
	}, nil
}

// sleepers is the other process.
func sleepers(n int) error {
	ctx, cancel := deadline()
	defer cancel()
	arrived := make(chan struct{}, n)
	c := &engine.Config{Modules: []hostmod.Module{module{arrived}, timemod.Module{}}, MemoryLimit: memoryLimit}
	before, _, err := usage()
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	failed := make(chan error, n)
	for range n {
		running.Go(func() {
			vm, err := engine.New(c)
			if err == nil {
				defer vm.Close()
				err = vm.RunSource(ctx, "=sleeper", "__native.arrive() __native.sleep(3600000)", engine.RunOptions{Limits: limits})
			}
			failed <- err
		})
	}
	for range n {
		select {
		case <-arrived:
		case err := <-failed:
			return fmt.Errorf("a script does not sleep: %w", err)
		}
	}
	time.Sleep(100 * time.Millisecond) // the last one has arrived, and is about to sleep
	runtime.GC()
	debug.FreeOSMemory()
	after, osThreads, err := usage()
	cancel()
	running.Wait()
	fmt.Println((after-before)/float64(n), osThreads)
	return err
}

// usage reads resident bytes and OS threads of this process.
func usage() (bytes, osThreads float64, err error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		name, value, _ := strings.Cut(in.Text(), ":")
		switch name {
		case "VmRSS":
			_, err = fmt.Sscan(value, &bytes)
			bytes *= 1024
		case "Threads":
			_, err = fmt.Sscan(value, &osThreads)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return bytes, osThreads, nil
}
