package schema

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

const (
	officialDir  = "../../../build/deps/json-schema-tests/tests"
	baselineFile = "testdata/official.txt"
)

var update = flag.Bool("update", false, "write testdata/official.txt anew; then say in it why what fails may fail")

// drafts are the folders of the official suite, and the $schema of those whose tests leave it out.
var drafts = map[string]string{
	"draft4": "http://json-schema.org/draft-04/schema#", "draft6": "http://json-schema.org/draft-06/schema#",
	"draft7": "http://json-schema.org/draft-07/schema#", "draft2019-09": "", "draft2020-12": "",
}

type officialGroup struct {
	Description string
	Schema      any
	Tests       []struct {
		Description string
		Data        any
		Valid       bool
	}
}

// TestOfficialSuite runs the JSON-Schema-Test-Suite with its optional parts. What fails is listed with its
// reason in testdata/official.txt; a test that is listed there and passes is an error too.
func TestOfficialSuite(t *testing.T) {
	if _, err := os.Stat(officialDir); os.IsNotExist(err) {
		t.Skip("no official suite: make build/deps/json-schema-tests")
	}
	failed, ran := map[string]bool{}, 0
	for draft := range drafts {
		root := filepath.Join(officialDir, draft)
		require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".json" {
				return err
			}
			name, err := filepath.Rel(officialDir, path)
			ran += runOfficial(t, draft, path, filepath.ToSlash(name), failed)
			return err
		}))
	}
	require.Greater(t, ran, 5000, "the suite is not whole")
	if *update {
		writeBaseline(t, failed)
	}
	expected := readBaseline(t)
	for key := range failed {
		assert.True(t, expected[key], "fails: %s", key)
	}
	for key := range expected {
		assert.True(t, failed[key], "passes, and is listed in %s: %s", baselineFile, key)
	}
	t.Logf("%d tests, %d of them fail as listed", ran, len(failed))
}

func runOfficial(t *testing.T, draft, path, name string, failed map[string]bool) int {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	ran := 0
	for _, group := range officialGroups(t, text) {
		if object, is := group.Schema.(map[string]any); is && object["$schema"] == nil && drafts[draft] != "" {
			object["$schema"] = drafts[draft]
		}
		s, err := Compile(group.Schema, name)
		for _, test := range group.Tests {
			ran++
			if err != nil || (len(s.Validate(test.Data)) == 0) != test.Valid {
				failed[fmt.Sprintf("%s\t%s\t%s", name, group.Description, test.Description)] = true
			}
		}
	}
	return ran
}

// officialGroups reads by our own rules; a few texts that these refuse are read as encoding/json does.
func officialGroups(t *testing.T, text []byte) (groups []officialGroup) {
	t.Helper()
	v, err := jsonvalue.Decode(text, jsonvalue.Options{})
	if err != nil {
		require.NoError(t, json.Unmarshal(text, &v))
	}
	for _, item := range v.([]any) {
		group := item.(map[string]any)
		one := officialGroup{Description: group["description"].(string), Schema: group["schema"]}
		for _, item := range group["tests"].([]any) {
			test := item.(map[string]any)
			one.Tests = append(one.Tests, struct {
				Description string
				Data        any
				Valid       bool
			}{test["description"].(string), test["data"], test["valid"].(bool)})
		}
		groups = append(groups, one)
	}
	return groups
}

func readBaseline(t *testing.T) map[string]bool {
	t.Helper()
	file, err := os.Open(baselineFile)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	list := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			require.False(t, list[line], "listed twice: %s", line)
			list[line] = true
		}
	}
	return list
}

func writeBaseline(t *testing.T, failed map[string]bool) {
	t.Helper()
	var lines []string
	for key := range failed {
		lines = append(lines, key)
	}
	slices.Sort(lines)
	require.NoError(t, os.WriteFile(baselineFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}
