package story

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/csp"
)

// page has the parts of the page: an HTML template, a style sheet and scripts. The
// page holds the story as JSON.
//
//go:embed page
var page embed.FS

// scripts are the scripts of the page, in the order in which they run.
var scripts = []string{
	"text.js", "server.js", "file.js", "model.js", "scale.js", "lanes.js", "paint.js", "chart.js", "list.js", "details.js", "main.js", "objects.js", "actions.js", "findings.js", "explore.js", "start.js",
}

// template is the page without the title, the policy and the story.
var template = sync.OnceValue(func() string {
	var all strings.Builder
	for _, name := range scripts {
		all.WriteString(pageFile(name))
	}
	return strings.NewReplacer("{{style}}", pageFile("page.css"), "{{script}}", all.String()).Replace(pageFile("page.html"))
})

func policy(more ...string) string {
	return csp.Policy(csp.Element(template(), "script"), csp.Element(template(), "style"), more...)
}

// pagePolicy is the policy of the page of a story, and livePolicy that of the page of a server,
// which asks the server for more.
var (
	pagePolicy = sync.OnceValue(func() string { return policy() })
	livePolicy = sync.OnceValue(func() string { return policy(csp.ConnectSelf) })
)

// PagePolicy returns the Content-Security-Policy of the page.
func (s *Story) PagePolicy() string { return pagePolicy() }

// LivePolicy returns the Content-Security-Policy of the page that LivePage returns.
func LivePolicy() string { return livePolicy() }

func pageFile(name string) string {
	b, err := fs.ReadFile(page, "page/"+name)
	if err != nil {
		panic("story: " + err.Error()) // unreachable: the file is embedded
	}
	return string(b)
}

// WritePage writes the story as one HTML page, which loads nothing else.
func (s *Story) WritePage(w io.Writer) error {
	data, err := json.Marshal(s) // Marshal escapes <, so that no text can end the script element
	if err != nil {
		return err
	}
	_, err = fill(cmp.Or(s.Title, "fakeapi"), pagePolicy(), string(data)).WriteString(w, template())
	return err
}

// ReadPage returns the story of a page that WritePage has written. Nothing else of the page is used.
func ReadPage(html []byte) (*Story, error) {
	_, data, _ := bytes.Cut(html, []byte(storyElement))
	data, _, found := bytes.Cut(data, []byte("</script>"))
	if !found {
		return nil, errors.New("the page has no story")
	}
	s := &Story{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("the story of the page: %w", err)
	}
	if s.Format != Format {
		return nil, fmt.Errorf("the story of the page has the format %d, not %d", s.Format, Format)
	}
	return s, nil
}

// storyElement begins the element that has the story.
const storyElement = `<script type="application/json" id="story">`

// LivePage returns the page of a server. It is the page of a story that has no story: it reads
// the parts of a [Follower] from the control endpoint, and what it shows besides.
func LivePage(title string) string { return fill(title, livePolicy(), "null").Replace(template()) }

func fill(title, policy, story string) *strings.Replacer {
	return strings.NewReplacer("{{title}}", html.EscapeString(title), "{{policy}}", policy, "{{story}}", story)
}
