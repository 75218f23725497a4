package music

import "time"

// Clock is the time by which songs play.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f, once, when d has passed. f does not wait for what may wait for it.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a call to come.
type Timer interface {
	// Stop takes it back; false when it has begun already.
	Stop() bool
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// samplesIn is how many samples have begun after d.
func samplesIn(d time.Duration, rate int) int64 {
	return int64(d/time.Second)*int64(rate) + int64(d%time.Second)*int64(rate)/int64(time.Second)
}

// timeOf is when so many samples have been played, not a moment earlier.
func timeOf(samples int64, rate int) time.Duration {
	r := int64(rate)
	return time.Duration(samples/r)*time.Second + time.Duration((samples%r*int64(time.Second)+r-1)/r)
}
