// Command go is a bare call from C into Go, the floor of every host function that is written in Go. A
// line with a number of seconds on its standard input is answered by nanoseconds of one call. A
// module of its own: in Hukilau one package alone has C in it.
package main

/*
#include <stddef.h>
extern double addOne(double);
static void loop(size_t n) { for (size_t i = 0; i < n; i++) addOne((double)i); }
*/
import "C"

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

//export addOne
func addOne(n C.double) C.double { return n + 1 }

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	var name string
	var seconds float64
	for {
		if _, err := fmt.Scanln(&name, &seconds); err != nil {
			return
		}
		for n := 1; ; n *= 2 {
			from := cpu()
			C.loop(C.size_t(n))
			if took := cpu() - from; took.Seconds() >= seconds {
				fmt.Println(float64(took) / float64(n))
				break
			}
		}
	}
}
