package music

import "io"

// memory is a short song, decoded once: in a loop its file would be opened many times a second.
type memory struct {
	frames []frame
	at     int
}

func inMemory(s *source, d decoder, length int64) (decoder, error) {
	m := &memory{frames: make([]frame, 0, length)}
	var buf [stepFrames]frame
	for {
		s.allow(stepAllowance)
		n, err := d.decode(buf[:])
		if err == io.EOF {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		m.frames = append(m.frames, buf[:n]...)
	}
}

func (m *memory) decode(out []frame) (int, error) {
	n := copy(out, m.frames[m.at:])
	m.at += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
