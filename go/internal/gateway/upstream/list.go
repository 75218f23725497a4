package upstream

import (
	"context"
	"encoding/json"
	"fmt"
)

// Bounds of one list.
const (
	mostPages    = 1000
	mostEntries  = 20000
	mostListed   = 16 << 20 // bytes of all pages
	mostWarnings = 100
)

// list reads all that the server offers, and makes it the snapshot.
func (s *Server) list(session *session) *Error {
	n := &Snapshot{
		Version: session.version, Info: session.said.Info, Instructions: session.said.Instructions,
		byName: map[string]*Tool{}, room: mostRoom,
	}
	if err := s.listTools(session, n); err != nil {
		return err
	}
	others := []struct {
		capability, method, member, key string
		to                              *[]Item
	}{
		{"resources", "resources/list", "resources", "uri", &n.Resources},
		{"resources", "resources/templates/list", "resourceTemplates", "uriTemplate", &n.Templates},
		{"prompts", "prompts/list", "prompts", "name", &n.Prompts},
	}
	for _, o := range others {
		if !session.said.can(o.capability) {
			continue
		}
		err := s.pages(session, n, o.method, o.member, func(raw json.RawMessage) string {
			item, problem := parseItem(raw, o.key)
			if problem == "" {
				*o.to = append(*o.to, item)
			}
			return problem
		})
		switch {
		case err != nil && (err.broken || s.ctx.Err() != nil):
			return err
		case err != nil && err.Number != numberMethodNotFound:
			n.warn("%s: %s", o.method, err.Message)
		}
	}
	s.install(n)
	return nil
}

// listTools reads the tools. A server that does not say it has any is asked all the same: some forget to say it.
func (s *Server) listTools(session *session, n *Snapshot) *Error {
	err := s.pages(session, n, "tools/list", "tools", func(raw json.RawMessage) string {
		t, problem := n.parseTool(raw)
		if problem != "" {
			return problem
		}
		if n.byName[t.Name] != nil {
			return fmt.Sprintf("there is another tool named %q", shown(t.Name))
		}
		if found, ok := mirrors(t.InputSchema); session.version >= stateless {
			if !ok {
				return fmt.Sprintf("the tool %q wants arguments in headers against the rules for that", shown(t.Name))
			}
			t.mirrors = found
		}
		if s.config.Allows(t.Name) {
			n.Tools = append(n.Tools, t)
			n.byName[t.Name] = &t
		}
		return ""
	})
	if err != nil && !err.broken && err.Number != 0 && !session.said.can("tools") {
		return nil
	}
	return err
}

// install makes a snapshot the one that holds.
func (s *Server) install(n *Snapshot) {
	for i, warning := range n.Warnings {
		n.Warnings[i] = s.redacted(warning)
		s.options.Logger.Warn("an upstream server's list is not taken as it is", "problem", n.Warnings[i])
	}
	s.mu.Lock()
	changed := !n.same(s.snapshot)
	if changed { // else what was made of the one before holds on
		s.snapshot = n
	}
	s.wake()
	s.mu.Unlock()
	if changed && s.options.OnChange != nil {
		s.options.OnChange()
	}
}

func (s *Snapshot) warn(format string, args ...any) {
	if len(s.Warnings) < mostWarnings {
		s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
	}
}

// pages gives each entry of a list to take, which says what is wrong with it.
func (s *Server) pages(session *session, n *Snapshot, method, member string, take func(json.RawMessage) string) *Error {
	seen := map[string]bool{}
	cursor := ""
	entries, size := 0, 0
	for page := 1; ; page++ {
		raw, err := s.page(session, method, cursor)
		if err != nil {
			return err
		}
		next := ""
		if !members(raw, func(key, value []byte) {
			switch string(key) {
			case member:
				elements(value, func(entry []byte) {
					if entries++; entries > mostEntries {
						return
					}
					if problem := take(entry); problem != "" {
						n.warn("%s: an entry is left out: %s", method, problem)
					}
				})
			case "nextCursor":
				next = str(value)
			}
		}) {
			return &Error{Code: CodeInvalidAnswer, Message: "its answer to " + method + " is no JSON object"}
		}
		size += len(raw)
		switch {
		case next == "":
			return nil
		case seen[next]:
			n.warn("%s: the server gave the same cursor twice, so its list ends at page %d", method, page)
			return nil
		case page == mostPages, entries > mostEntries, size > mostListed:
			n.warn("%s: the list is too long, and ends at page %d", method, page)
			return nil
		}
		seen[next] = true
		cursor = next
	}
}

func (s *Server) page(session *session, method, cursor string) (json.RawMessage, *Error) {
	ctx, stop := context.WithTimeout(s.ctx, s.config.StartTimeout)
	defer stop()
	var f fields
	if cursor != "" {
		f.string("cursor", cursor)
	}
	f.raw("_meta", s.meta(session.version, s.options.Client, 0))
	raw, err := session.roundTrip(ctx, method, f.end())
	if err != nil && err.Code == CodeTimeout {
		err.Message = fmt.Sprintf("it did not answer %s within %v", method, s.config.StartTimeout)
	}
	return raw, err
}
