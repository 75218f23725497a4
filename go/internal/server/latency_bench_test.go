package server_test

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// BenchmarkBesideLoops is how long an echo takes while another tool burns its whole deadline in every place
// that it can get.
func BenchmarkBesideLoops(b *testing.B) {
	loops := tool(b, "loops", "while true do end")
	loops.Timeout = time.Second
	s := serve(b, server.Options{}, toolhost.Options{}, loops, echo(b))
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.do("POST", "/tools/loops", "")
				}
			}
		})
	}
	eventually(b, "all places are taken", func() bool { return s.busy() == 63 })
	c, err := net.Dial("tcp", s.address)
	require.NoError(b, err)
	defer c.Close()
	request := []byte("POST /tools/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
	buf := make([]byte, 4<<10)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		_, err := c.Write(request)
		require.NoError(b, err)
		require.NoError(b, readAnswer(c, buf))
		took = append(took, time.Since(began))
	}
	close(stop)
	all.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
