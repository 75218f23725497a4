package yamltree

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// Whatever a tab leads to, the error says that it is one and where. Tabs that YAML allows, and other errors beside
// them, are left alone.
func TestTabs(t *testing.T) {
	const tab = "there is a tab, where YAML wants spaces"
	for text, want := range map[string]string{
		"a: 1\nb:\n\tc: 1\n":           "line 3, column 1: " + tab,
		"a: 1\n\tb: 2\n":               "line 2, column 1: " + tab,
		"a: |\n\ttext\n":               "line 2, column 1: " + tab,
		"a:\n  \tb: 1\n":               "line 2, column 3: " + tab,
		"a:\n  - b:\n\t  c: 1\n":       "line 3, column 1: " + tab,
		"a: |\n  text\n\tmore\nb: 1\n": "line 3, column 1: " + tab,
		"a:\t1\nb: {\n\tc: 1}\n":       "",
		"a: |\n  text\n  \tmore\n":     "",
		"a: {\n\tb: @}\n":              "line 2, column 5: found character that cannot start any token",
		"a: @\tb\n":                    "line 1, column 4: found character that cannot start any token",
	} {
		err := Parse([]byte(text), func(*yaml.Node) error { return nil })
		if want == "" {
			require.NoError(t, err, "%q", text)
			continue
		}
		require.EqualError(t, err, want, "%q", text)
	}
}
