package hostmod

import "time"

// Forever is the longest time of [Duration]: a century, which can be added to any moment that it is.
const Forever = 100 * 365 * 24 * time.Hour

// Duration is n units of time, at most [Forever], and never 0 for more than nothing; false when n is
// negative or no number.
func Duration(n float64, unit time.Duration) (time.Duration, bool) {
	switch {
	case !(n >= 0):
		return 0, false
	case n == 0:
		return 0, true
	case n >= float64(Forever)/float64(unit):
		return Forever, true
	}
	return max(1, time.Duration(n*float64(unit))), true
}

// Seconds is a moment as scripts know it: seconds since 1970. The two parts are added last, because
// nanoseconds since 1970 are more than a number holds exactly.
func Seconds(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/float64(time.Second)
}

// Now gives the time by which a VM sleeps, which tests can stop: the real one where it has no scheduler. It is
// for the goroutine that owns the VM.
func Now(vm VM) func() time.Time {
	if tasks, ok := vm.(Tasks); ok {
		return tasks.Clock().Now
	}
	return time.Now
}
