package gateway

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Bounds of what is kept for clients between their calls.
const (
	maxSessions  = 1000
	sessionTime  = time.Hour // without a call
	maxKept      = 32        // results of one session
	maxKeptBytes = 32 << 20  // of one session
	maxAllKept   = 256 << 20 // of all
)

// clientOf says whose call it is: one connection of one caller, where the face knows connections.
func clientOf(c toolhost.Caller) string {
	return strconv.Quote(c.Name) + " " + strconv.Quote(c.Session) + " " + c.Client
}

// sessions keep what clients come back to. The least used one makes room.
type sessions struct {
	options *Options

	mu   sync.Mutex
	all  map[string]*session
	held int // bytes of results
}

type session struct {
	client string
	last   time.Time
	files  Folder
	kept   []kept
	held   int
	number int // of the last result that was kept
}

// kept is a result that was too long to be told.
type kept struct {
	handle string
	text   []byte // JSON
}

func (s *sessions) init(o *Options) { s.options, s.all = o, map[string]*session{} }

// of gives a client's session. The lock is held.
func (s *sessions) of(client string) *session {
	now := s.options.Now()
	found := s.all[client]
	if found == nil {
		s.makeRoom(now)
		found = &session{client: client}
		s.all[client] = found
	}
	found.last = now
	return found
}

// makeRoom ends the sessions that nobody uses.
func (s *sessions) makeRoom(now time.Time) {
	var oldest *session
	for _, other := range s.all {
		if now.Sub(other.last) > sessionTime {
			s.end(other)
			continue
		}
		if oldest == nil || other.last.Before(oldest.last) {
			oldest = other
		}
	}
	if len(s.all) >= maxSessions && oldest != nil {
		s.end(oldest)
	}
}

// end forgets a session. The lock is held.
func (s *sessions) end(of *session) {
	s.held -= of.held
	delete(s.all, of.client)
	if of.files != nil {
		of.files.Close()
	}
}

func (s *sessions) forget(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.all[client]; of != nil {
		s.end(of)
	}
}

func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range s.all {
		s.end(of)
	}
}

// keep keeps a result, for the price of older ones. "" is one that is too long for that.
func (s *sessions) keep(client string, text []byte) (handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(client)
	if len(text) > maxKeptBytes {
		return ""
	}
	for len(of.kept) > 0 && (len(of.kept) >= maxKept || of.held+len(text) > maxKeptBytes) {
		s.drop(of)
	}
	for s.held+len(text) > maxAllKept {
		s.drop(s.oldestHolder()) // there is one: no text alone is that long
	}
	of.number++
	handle = "r" + strconv.Itoa(of.number)
	of.kept = append(of.kept, kept{handle, text})
	of.held += len(text)
	s.held += len(text)
	return handle
}

// drop forgets the oldest result of a session.
func (s *sessions) drop(of *session) {
	size := len(of.kept[0].text)
	of.kept = append([]kept(nil), of.kept[1:]...)
	of.held -= size
	s.held -= size
}

// oldestHolder is the session that was not used for the longest time of those that hold results.
func (s *sessions) oldestHolder() (oldest *session) {
	for _, other := range s.all {
		if len(other.kept) > 0 && (oldest == nil || other.last.Before(oldest.last)) {
			oldest = other
		}
	}
	return oldest
}

// find gives a result that was kept.
func (s *sessions) find(client, handle string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(client)
	for _, k := range of.kept {
		if k.handle == handle {
			return k.text, nil
		}
	}
	message := fmt.Sprintf("read_result: there is no result %.40q", handle)
	if len(of.kept) == 0 {
		message += ": none is kept for this session"
	} else {
		message += fmt.Sprintf("; the kept ones are %s to %s", of.kept[0].handle, of.kept[len(of.kept)-1].handle)
	}
	return nil, &luau.Error{Code: "not_found", Message: message}
}

// folder gives the files of a session.
func (s *sessions) folder(client string) (Folder, error) {
	if s.options.Files == nil {
		return nil, &luau.Error{Code: "not_available", Message: "scratch: this gateway keeps no files"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(client)
	if of.files == nil {
		made, err := s.options.Files(client)
		if err != nil {
			return nil, err
		}
		of.files = made
	}
	return of.files, nil
}
