package typecheck

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// MaxSource is the longest script that is checked.
const MaxSource = 4 << 20

// Checker checks scripts, one at a time, in the order in which they came. It may be shared by goroutines.
type Checker struct {
	options Options
	cache   *cache
	closing chan struct{}
	close   sync.Once
	working sync.WaitGroup

	turn chan struct{} // holds one token; who has it may use what follows
	bad  map[string]*Failure
	idle *time.Timer
	told bool // that there is no checker

	mu    sync.Mutex // for Close, which does not wait for its turn
	child *child
}

// mostBad is how many sets of definitions that do not load are remembered.
const mostBad = 100

// New makes a Checker. Its process starts with the first check.
func New(o Options) *Checker {
	c := &Checker{options: o.withDefaults(), turn: make(chan struct{}, 1), closing: make(chan struct{})}
	c.cache, c.bad = newCache(c.options.Cached), map[string]*Failure{}
	c.turn <- struct{}{}
	return c
}

// Close ends the process, and checks that are under way.
func (c *Checker) Close() {
	c.close.Do(func() {
		close(c.closing)
		c.mu.Lock()
		if c.child != nil {
			c.child.process.Kill() // who uses it sees its end
		}
		c.mu.Unlock()
		<-c.turn // and nobody gets it any more
		if c.idle != nil {
			c.idle.Stop()
		}
		c.drop()
	})
	c.working.Wait()
}

// Check finds what is wrong with a script. Errors are ErrAbsent, a *Failure, ErrClosed and the context's: the script was
// not checked then.
func (c *Checker) Check(ctx context.Context, req Request) ([]Finding, error) {
	if len(req.Source) > MaxSource {
		return nil, failure("too_large", "the script is too long to be type-checked: %d bytes, more than %d", len(req.Source), MaxSource)
	}
	k, remember := keyOf(req)
	if remember {
		if known, ok := c.cache.get(k); ok {
			return slices.Clone(known.findings), known.err
		}
	}
	if err := c.await(ctx); err != nil {
		return nil, err
	}
	if remember {
		if known, ok := c.cache.get(k); ok { // somebody before us had the same script
			c.turn <- struct{}{}
			return slices.Clone(known.findings), known.err
		}
	}
	done := make(chan outcome, 1)
	c.working.Add(1)
	go func() {
		defer c.working.Done()
		o := c.run(req)
		if remember && keeps(o.err) {
			c.cache.put(k, o)
		}
		done <- o
		c.turn <- struct{}{}
	}()
	select {
	case <-ctx.Done(): // the check goes on, within its limits, and is remembered
		return nil, context.Cause(ctx)
	case o := <-done:
		return slices.Clone(o.findings), o.err
	}
}

// await takes the turn.
func (c *Checker) await(ctx context.Context) error {
	var late <-chan time.Time
	if c.options.Patience > 0 {
		timer := time.NewTimer(c.options.Patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-c.closing:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late:
		return failure("busy", "the type checker is busy with other scripts")
	case <-c.turn:
	}
	return nil
}

// keeps says whether an outcome holds for the next time, too.
func keeps(err error) bool {
	var f *Failure
	return err == nil || errors.As(err, &f) && (f.Code == "timeout" || f.Code == "memory" || f.Code == "crash")
}

// run has the turn.
func (c *Checker) run(req Request) outcome {
	select {
	case <-c.closing:
		return outcome{err: ErrClosed}
	default:
	}
	if c.idle != nil {
		c.idle.Stop()
	}
	found, err := c.ask(req)
	c.rest()
	if err != nil {
		return outcome{err: err}
	}
	return outcome{findings: worded(found, req)}
}

func (c *Checker) ask(req Request) ([]raw, error) {
	if bad := c.bad[req.Definitions.ID]; bad != nil {
		return nil, bad
	}
	child, err := c.started()
	if err != nil {
		return nil, err
	}
	if err := c.ended(child.use(req.Definitions, c.options)); err != nil {
		c.remember(req.Definitions.ID, err)
		return nil, err
	}
	found, err := child.check(req, c.options)
	return found, c.ended(err)
}

// remember keeps that a set does not load, so that it is not tried with every script.
func (c *Checker) remember(id string, err error) {
	var f *Failure
	if !errors.As(err, &f) {
		return
	}
	if len(c.bad) >= mostBad {
		clear(c.bad)
	}
	c.bad[id] = f
}

// ended sees to a process that cannot be used any more.
func (c *Checker) ended(err error) error {
	var lost broken
	if !errors.As(err, &lost) {
		return err
	}
	select {
	case <-c.closing:
		return ErrClosed
	default:
	}
	why := c.child.end(lost.error)
	c.set(nil)
	c.options.Warn(why.Message + "; it is started again for the next script")
	return why
}

func (c *Checker) set(child *child) {
	c.mu.Lock()
	c.child = child
	c.mu.Unlock()
}

func (c *Checker) started() (*child, error) {
	if c.child != nil {
		return c.child, nil
	}
	child, err := startChild(c.options)
	if err == nil {
		c.set(child)
		return child, nil
	}
	if errors.Is(err, ErrAbsent) {
		if !c.told {
			c.told = true
			c.options.Warn(ErrAbsent.Error())
		}
		return nil, ErrAbsent
	}
	var f *Failure
	if !errors.As(err, &f) {
		f = failure("crash", "the type checker cannot be started: %v", err)
	}
	c.options.Warn(f.Message)
	return nil, f
}

// rest ends the process after a while without work.
func (c *Checker) rest() {
	if c.child == nil || c.options.Idle < 0 {
		return
	}
	if c.idle != nil {
		c.idle.Reset(c.options.Idle)
		return
	}
	c.idle = time.AfterFunc(c.options.Idle, func() {
		select {
		case <-c.turn:
			c.drop()
			c.turn <- struct{}{}
		default: // it is at work again
		}
	})
}

// drop ends the process. The caller has the turn.
func (c *Checker) drop() {
	if c.child != nil {
		c.child.process.Kill()
		_, _ = c.child.process.Wait()
		c.set(nil)
	}
}

// compiles says whether the engine takes a source, and its error otherwise.
func compiles(source string) *luau.Error {
	_, err := luau.Compile(script, source, luau.CompileOptions{})
	var e *luau.Error
	if err != nil && !errors.As(err, &e) {
		e = &luau.Error{Line: 1, Message: err.Error()}
	}
	return e
}
