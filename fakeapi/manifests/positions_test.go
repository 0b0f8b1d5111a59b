package manifests_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

var update = flag.Bool("update", false, "write the files in testdata")

// expectation matches the comment at the end of a line of testdata/positions that has the findings
// of the line: "# 3: the message; 7: another one", each with its column.
var expectation = regexp.MustCompile(`(?m) +# (\d+: .*)$`)

// TestPositions validates the files in testdata/positions and compares the findings of each line
// with the comment at its end. The comments have the messages up to maxComment.
func TestPositions(t *testing.T) {
	names, err := filepath.Glob("testdata/positions/*")
	require.NoError(t, err)
	count := 0
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			want, err := os.ReadFile(name)
			require.NoError(t, err)
			plain := expectation.ReplaceAll(want, nil)
			file := filepath.Join(t.TempDir(), filepath.Base(name))
			require.NoError(t, os.WriteFile(file, plain, 0o600))
			findings := map[int][]string{}
			for _, r := range results(t, manifests.Config{}, file) {
				for _, f := range r.Findings {
					count++
					findings[f.Line] = append(findings[f.Line], fmt.Sprintf("%d: %s", f.Column, comment(f)))
				}
			}
			var have bytes.Buffer
			for i, line := range strings.SplitAfter(string(plain), "\n") {
				line, end, _ := strings.Cut(line, "\n")
				have.WriteString(line)
				if found := findings[i+1]; found != nil {
					slices.Sort(found)
					have.WriteString(" # " + strings.Join(found, "; "))
				}
				if i+1 < strings.Count(string(plain), "\n")+1 {
					have.WriteString(end + "\n")
				}
			}
			if *update {
				require.NoError(t, os.WriteFile(name, have.Bytes(), 0o644))
			}
			assert.Equal(t, string(want), have.String())
		})
	}
	assert.Greater(t, count, 100)
}

// maxComment is the length of a message in a comment.
const maxComment = 70

// comment returns the message of a finding for a comment.
func comment(f manifests.Finding) string {
	text := strings.ReplaceAll(f.Message, "\n", " ")
	if f.Severity != manifests.Error {
		text = f.Severity.String() + ": " + text
	}
	if _, rest, ok := strings.Cut(text, "failed to create typed patch object ("); ok {
		_, text, _ = strings.Cut(rest, "): ")
	}
	if len(text) > maxComment {
		text = text[:maxComment] + "..."
	}
	return strings.TrimSpace(text)
}
