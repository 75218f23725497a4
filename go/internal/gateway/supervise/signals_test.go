package supervise

import (
	"os/signal"
	"syscall"
)

func ignoreSignals() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE) }
