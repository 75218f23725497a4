package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

const manyRequests = 1000

// requests measures many requests at once to a server in a process of its own: a script, and the same in Go.
func (b *bench) requests() ([]line, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address := sync.OnceValues(func() (string, error) { return b.startServer(self) })
	client := func(args func(url string) []string) measurement {
		return func(least time.Duration) (float64, error) {
			url, err := address()
			if err != nil {
				return 0, err
			}
			all := args(url)
			return process(all[0], all[1:]...)(least)
		}
	}
	count := strconv.Itoa(manyRequests)
	return []line{{
		what: "1,000 HTTP requests at once, whole process, wall", unit: milliseconds, budget: 0.7, ratio: true, speed: true,
		ours: client(func(url string) []string { return []string{runner, "bench/gets.luau", url, count} }),
		peers: []peerMeasurement{{"Go program", client(func(url string) []string {
			return []string{self, "-requests", url}
		})}},
	}}, nil
}

// startServer starts the other process, which ends with the bench.
func (b *bench) startServer(self string) (string, error) {
	cmd := exec.Command(self, "-serve")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	b.closed = append(b.closed, func() { in.Close(); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(address), err
}

// serve answers requests until its standard input ends.
func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	body := []byte(document(1000))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})}
	go func() { _ = server.Serve(listener) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return server.Close()
}

// requests is the Go program: a goroutine for each, with the settings that the runner's client has.
func requests(url string) error {
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		MaxIdleConns: 256, MaxIdleConnsPerHost: 64, DisableCompression: true, ForceAttemptHTTP2: true,
	}}
	turns := make(chan struct{}, 256)
	failed := make(chan error, manyRequests)
	for range manyRequests {
		go func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			failed <- get(client, url)
		}()
	}
	for range manyRequests {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

func get(client *http.Client, url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || len(body) == 0) {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return err
}
