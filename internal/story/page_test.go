package story

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pageOf returns the page of a story.
func pageOf(t *testing.T, s *Story) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, s.WritePage(&b))
	return b.String()
}

// The page contains the whole story, and no text in it can end the script element.
func TestPageStory(t *testing.T) {
	s := exampleStory()
	s.Title = `</script><b title="x">&{{story}}`
	s.Revisions[0].Changes[0].Fields[0].New = "</script><!-- {{title}} \u2028"
	html := pageOf(t, s)
	assert.Equal(t, 2, strings.Count(html, "</script>"), "the text does not end a script element")
	assert.Contains(t, html, "<title>&lt;/script&gt;&lt;b title=&#34;x&#34;&gt;&amp;{{story}}</title>")

	_, data, _ := strings.Cut(html, `<script type="application/json" id="story">`)
	data, _, _ = strings.Cut(data, "</script>")
	want, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, string(want), data)
}

// A page can be read again.
func TestReadPage(t *testing.T) {
	s := exampleStory()
	s.Title = `</script><b>`
	html := pageOf(t, s)
	again, err := ReadPage([]byte(html))
	require.NoError(t, err)
	assert.Equal(t, html, pageOf(t, again))
	for text, want := range map[string]string{
		"<p>": "the page has no story",
		`<script type="application/json" id="story">null</script>`: "the story of the page has the format 0, not 1",
		`<script type="application/json" id="story">[</script>`:    "the story of the page: unexpected end of JSON input",
	} {
		_, err := ReadPage([]byte(text))
		assert.EqualError(t, err, want)
	}
}

// The page loads nothing else and contains every script.
func TestPageIsSelfContained(t *testing.T) {
	html := pageOf(t, &Story{})
	assert.Empty(t, regexp.MustCompile(`(?i)https?://[^\s"'<]+|@import|\burl\(|<link rel="stylesheet"|\ssrc=`).FindAllString(html, -1))
	assert.NotContains(t, html, "{{")
	names, err := fs.Glob(page, "page/*.js")
	require.NoError(t, err)
	assert.Len(t, names, len(scripts))
}
