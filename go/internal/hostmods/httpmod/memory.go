package httpmod

import "sync"

// Memory is the account that the bytes held for a request are charged to.
// Both methods are called from the request's goroutine, at times together
// with those of other requests.
type Memory interface {
	// Charge is called before n more bytes are allocated; an error refuses them
	// and ends the request.
	Charge(n int64) error
	// Uncharge gives back what was charged earlier.
	Uncharge(n int64)
}

// ledger is what one request has charged so far. It may be shared.
type ledger struct {
	mem  Memory
	mu   sync.Mutex
	held int64
}

func (l *ledger) charge(n int64) error {
	if l.mem == nil || n == 0 {
		return nil
	}
	if err := l.mem.Charge(n); err != nil {
		return &Error{Code: CodeMemory, Message: "no memory left for the response", cause: err}
	}
	l.mu.Lock()
	l.held += n
	l.mu.Unlock()
	return nil
}

func (l *ledger) uncharge(n int64) {
	l.mu.Lock()
	n = min(n, l.held)
	l.held -= n
	l.mu.Unlock()
	if l.mem != nil && n > 0 {
		l.mem.Uncharge(n)
	}
}

// hand moves what is charged to a ledger of its own, for somebody else to settle.
func (l *ledger) hand() *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held
	l.held = 0
	return &ledger{mem: l.mem, held: held}
}

// settle gives back everything; a second call does nothing.
func (l *ledger) settle() {
	l.mu.Lock()
	n := l.held
	l.mu.Unlock()
	l.uncharge(n)
}
