package toolhost

import "sync"

// maxUnapproved is how many calls are remembered that wait for approval.
const maxUnapproved = 10_000

// unapproved remembers under which approval a call waits, for callers that cannot name it: they make the same call
// again, and get what became of the first. The zero value is ready.
type unapproved struct {
	mu  sync.Mutex
	all map[unapprovedKey]string
}

type unapprovedKey struct{ caller, session, tool, arguments string }

func (u *unapproved) find(key unapprovedKey) (approval string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.all[key]
}

// remember makes room where it must: what is forgotten is still found in the store until it has run.
func (u *unapproved) remember(key unapprovedKey, approval string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all == nil {
		u.all = map[unapprovedKey]string{}
	}
	for other := range u.all {
		if len(u.all) < maxUnapproved {
			break
		}
		delete(u.all, other)
	}
	u.all[key] = approval
}

func (u *unapproved) forget(key unapprovedKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.all, key)
}
