package hostapp

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
	"github.com/hukilau/hukilau/go/internal/music"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// StartPlayer starts a command that plays what it reads; main sets it.
var StartPlayer = func(command []string) (music.Program, error) {
	return nil, errors.New("commands cannot be started from here")
}

// jukebox is the one player of a host, made when a tool first needs it, and anew when the configuration has changed.
type jukebox struct {
	project *Project

	mu     sync.Mutex
	of     config.Music
	player *music.Player
	songs  *os.Root
	closed bool
}

var _ musicmod.Player = (*jukebox)(nil)

// modules implements toolhost.Options.Modules.
func (j *jukebox) modules(*tooldef.Tool) []hostmod.Module { return []hostmod.Module{musicmod.New(j)} }

// now is the player of the configuration as it is now.
func (j *jukebox) now() (*music.Player, error) {
	c := j.project.Config().Music
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.player != nil && j.of == c && !j.closed {
		return j.player, nil
	}
	if j.closed {
		return nil, errors.New("the player is closed")
	}
	if err := j.put(); err != nil {
		return nil, err
	}
	o := music.Options{Output: outputOf(c.Output)}
	if c.Folder != "" {
		root, err := os.OpenRoot(c.Folder)
		if err != nil {
			return nil, errors.New("the music folder cannot be opened: see [music] folder in the configuration")
		}
		j.songs, o.Songs = root, music.Folder(root)
	}
	j.of, j.player = c, music.New(o)
	return j.player, nil
}

// put ends the player that there is. The lock is held.
func (j *jukebox) put() error {
	var errs []error
	if j.player != nil {
		errs = append(errs, j.player.Close())
	}
	if j.songs != nil {
		errs = append(errs, j.songs.Close())
	}
	j.player, j.songs = nil, nil
	return errors.Join(errs...)
}

func (j *jukebox) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	return j.put()
}

// outputOf is where songs sound: nowhere, in a WAV file that holds the last song, or in a command.
func outputOf(text string) music.Output {
	switch {
	case text == "" || text == "null":
		return nil
	case strings.HasSuffix(strings.ToLower(text), ".wav"):
		return music.WAVFiles(func(string) (music.File, error) {
			f, err := os.Create(text)
			if err != nil {
				return nil, errors.New("the WAV file of [music] output cannot be made")
			}
			return f, nil
		})
	}
	return music.Command(music.CommandOptions{
		WAV: true, Start: func(string, music.Format) (music.Program, error) { return StartPlayer(strings.Fields(text)) },
	})
}

func (j *jukebox) control(ctx context.Context, do func(*music.Player, context.Context) (bool, error)) (bool, error) {
	p, err := j.now()
	if err != nil {
		return false, err
	}
	return do(p, ctx)
}

// Play implements musicmod.Player.
func (j *jukebox) Play(ctx context.Context, song string, s musicmod.Settings) error {
	p, err := j.now()
	if err != nil {
		return err
	}
	return p.Play(ctx, song, s)
}

// Pause implements musicmod.Player.
func (j *jukebox) Pause(ctx context.Context) (bool, error) {
	return j.control(ctx, (*music.Player).Pause)
}

// Resume implements musicmod.Player.
func (j *jukebox) Resume(ctx context.Context) (bool, error) {
	return j.control(ctx, (*music.Player).Resume)
}

// Stop implements musicmod.Player.
func (j *jukebox) Stop(ctx context.Context) (bool, error) {
	return j.control(ctx, (*music.Player).Stop)
}

// Set implements musicmod.Player.
func (j *jukebox) Set(ctx context.Context, s musicmod.Settings) error {
	p, err := j.now()
	if err != nil {
		return err
	}
	return p.Set(ctx, s)
}

// Status implements musicmod.Player.
func (j *jukebox) Status() musicmod.Status {
	p, err := j.now()
	if err != nil {
		return musicmod.Status{Volume: 1, Error: err.Error()}
	}
	return p.Status()
}
