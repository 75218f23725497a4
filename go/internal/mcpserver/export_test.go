package mcpserver

// OpenSessions is how many there are over HTTP.
func (s *Server) OpenSessions() int {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	return len(s.sessions.all)
}
