package runflags

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hukilau/hukilau/go/internal/size"
)

// span is a time as a flag.
type span struct{ of *time.Duration }

// Set implements pflag.Value.
func (s span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if _, number := strconv.ParseFloat(text, 64); err != nil && number == nil {
		return fmt.Errorf("%s of what? write %ss for seconds, %sms, %sm or %sh", text, text, text, text, text)
	}
	if err != nil {
		return fmt.Errorf("%q is no time: write it as 30s, 500ms, 2m or 1h", text)
	}
	*s.of = d
	return nil
}

// Type implements pflag.Value.
func (span) Type() string { return "duration" }

// String implements pflag.Value; of 0 it is empty, so that help shows no default.
func (s span) String() string {
	if s.of == nil || *s.of == 0 {
		return ""
	}
	return s.of.String()
}

// bare is the most that a number without a unit may stand for: more was meant as bytes.
const bare size.Bytes = 10_000

// tooLittle says that memory is below the least; a small number may have lost its unit.
func (f *Flags) tooLittle() string {
	text := fmt.Sprintf("--memory %s is too little: a %s needs at least %s", f.memory, f.sized, least)
	if f.memory < bare {
		text += fmt.Sprintf("; a number without a unit is bytes: write %dMiB for mebibytes", int64(f.memory))
	}
	return text
}
