package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var whereIsRow = regexp.MustCompile("(?m)^\\| (.*) \\| \\[.*\\]\\((.*)\\) \\| `(.*)` \\|$")

// What a stranger looks for is three steps from README.md: the table of CONTRIBUTING.md, the file,
// the name in it.
func TestWhereIs(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	assert.Contains(t, string(readme), "(CONTRIBUTING.md)")
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "## Where is\n")
	require.True(t, ok)
	table, _, _ := strings.Cut(rest, "\n## ")
	rows := whereIsRow.FindAllStringSubmatch(table, -1)
	require.GreaterOrEqual(t, len(rows), 8)
	for _, row := range rows {
		file, err := os.ReadFile(filepath.Join(root, row[2]))
		if assert.NoError(t, err, row[1]) {
			assert.Regexp(t, `\b`+regexp.QuoteMeta(row[3])+`\b`, string(file), "%s: %s", row[1], row[2])
		}
	}
}
