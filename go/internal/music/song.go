package music

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// extensions are those of songs, without which an id names them.
var extensions = []string{".wav", ".mp3", ".flac", ".ogg"}

// maxID is the longest id in bytes.
const maxID = 1024

// checkID says whether an id can be the name of a song: a name, or names of folders and a name with slashes
// between. Hidden files are none.
func checkID(id string) error {
	switch {
	case id == "":
		return fail(CodeName, "the name of the song is empty")
	case len(id) > maxID:
		return fail(CodeName, "the name of the song is longer than %d bytes", maxID)
	case !utf8.ValidString(id):
		return fail(CodeName, "the name of the song is not UTF-8")
	case strings.ContainsFunc(id, unicode.IsControl):
		return fail(CodeName, "%q is no name of a song: it has a control character", id)
	case !fs.ValidPath(id) || strings.HasPrefix(id, ".") || strings.Contains(id, "/.") || strings.Contains(id, `\`):
		return fail(CodeName, "%q is no name of a song: it leads elsewhere, or to a hidden file", id)
	}
	return nil
}

// find gives the name of the file of a song.
func find(folder fs.FS, id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	for _, form := range forms(id) {
		if hasExtension(form) {
			if ok, err := isFile(folder, form, id); ok || err != nil {
				return form, err
			}
		}
	}
	var found []string
	for _, form := range forms(id) {
		for _, extension := range extensions {
			// On some file systems both are the same file: the second is not asked for.
			for _, name := range []string{form + extension, form + strings.ToUpper(extension)} {
				ok, err := isFile(folder, name, id)
				if err != nil {
					return "", err
				}
				if ok {
					found = append(found, name)
					break
				}
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fail(CodeNotFound, "there is no song %q: no file of that name with %s in the music folder", id, orList(extensions))
	}
	return "", fail(CodeAmbiguous, "there are several songs %q: give one of %s", id, orList(found))
}

// orList is "a, b or c".
func orList(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// forms are the ways in which file systems write the same name.
func forms(id string) []string {
	list := []string{id}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if other := form.String(id); other != id {
			list = append(list, other)
		}
	}
	return list
}

func hasExtension(name string) bool {
	extension := strings.ToLower(path.Ext(name))
	for _, known := range extensions {
		if extension == known {
			return true
		}
	}
	return false
}

// isFile says whether there is a regular file of that name. Anything else in its place is an error.
func isFile(folder fs.FS, name, id string) (bool, error) {
	info, err := fs.Stat(folder, name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return false, nil
	case err != nil:
		return false, unopened(id, err)
	case !info.Mode().IsRegular():
		return false, fail(CodeAudio, "song %q: %q is no file but %s", id, name, kindOf(info.Mode()))
	}
	return true, nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// unopened is the error for a file that is there and cannot be opened.
func unopened(id string, err error) error {
	e := &Error{Code: CodeIO, Message: "song " + strconv.Quote(id) + ": " + plainCause(err), cause: err}
	switch {
	case errors.Is(err, fs.ErrPermission):
		e.Code = CodeRefused
	case errors.As(err, new(syscall.Errno)), errors.Is(err, fs.ErrInvalid), errors.Is(err, fs.ErrClosed):
	case errors.As(err, new(*fs.PathError)):
		// An os.Root has no error value to compare with for this: it is what is left.
		e.Code, e.Message = CodeRefused, "song "+strconv.Quote(id)+": a link leads out of the music folder"
	}
	return e
}

// plainCause is an error without paths of the machine.
func plainCause(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// open opens a song and finds out what it is. The caller closes the file.
func open(folder fs.FS, id string, check func() error) (*source, *sound, fs.File, error) {
	name, err := find(folder, id)
	if err != nil {
		return nil, nil, nil, err
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, nil, nil, unopened(id, err)
	}
	s, snd, err := examine(file, id, strings.ToLower(path.Ext(name)), check)
	if err != nil {
		_ = file.Close()
		return nil, nil, nil, err
	}
	return s, snd, file, nil
}

func examine(file fs.File, id, extension string, check func() error) (*source, *sound, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, unopened(id, err)
	}
	seeker, ok := file.(io.ReadSeeker)
	if !ok || !info.Mode().IsRegular() {
		return nil, nil, fail(CodeAudio, "song %q: it is no file that can be read from any place", id)
	}
	s := &source{file: seeker, size: info.Size(), check: check}
	var snd *sound
	err = guarded(s, func() (err error) {
		if snd, err = inspect(s, extension); err != nil {
			return err
		}
		if snd.length == unknownLength {
			snd.length, err = measure(s, snd.open)
		}
		return err
	})
	if err == nil && snd.length == 0 {
		err = damaged("there is no sound in it")
	}
	if err != nil {
		return nil, nil, about(id, err)
	}
	return s, snd, nil
}
