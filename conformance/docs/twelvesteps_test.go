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

// readTable returns the cells of the table of a page whose first column has a name, with
// its header.
func readTable(t *testing.T, text, column string) (rows [][]string) {
	t.Helper()
	_, table, found := strings.Cut(text, "\n| "+column+" |")
	require.True(t, found, column)
	table, _, _ = strings.Cut("| "+column+" |"+table, "\n\n")
	for i, line := range strings.Split(table, "\n") {
		if i == 1 {
			continue // the line below the header
		}
		var row []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	return rows
}

// The scenario of docs/twelve-steps.md has the same steps in each language, and the calls
// that the page lists.
func TestTwelveSteps(t *testing.T) {
	docs := filepath.Join(root, "docs")
	page, err := os.ReadFile(filepath.Join(docs, "twelve-steps.md"))
	require.NoError(t, err)

	link := regexp.MustCompile(`^\[(.+?)\]\((.+?)\)$`)
	sources := map[string]string{} // by language
	for _, row := range readTable(t, string(page), "Language")[1:] {
		language, file := link.FindStringSubmatch(row[0]), link.FindStringSubmatch(row[2])
		require.NotNil(t, language, row[0])
		require.NotNil(t, file, row[2])
		source, err := os.ReadFile(filepath.Join(docs, file[2]))
		require.NoError(t, err)
		sources[language[1]] = string(source)
	}

	rows := readTable(t, string(page), "Step")
	languages := rows[0][2:]
	assert.Len(t, sources, len(languages))
	assert.Len(t, rows, 1+12)
	for _, row := range rows[1:] {
		comment := regexp.MustCompile(`(?m)^\s*(?://|#) (` + regexp.QuoteMeta(row[0]) + `: .+)$`)
		found := comment.FindStringSubmatch(sources["Go"])
		require.NotNil(t, found, row[0])
		for i, language := range languages {
			assert.Contains(t, sources[language], " "+found[1]+"\n", language)
			assert.Contains(t, sources[language], strings.Trim(row[2+i], "`"), language)
		}
	}
}
