package story

import (
	"embed"
	"encoding/json"
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
var scripts = []string{"data.js", "scale.js", "chart.js", "panels.js", "main.js"}

// template is the page without the title, the policy and the story.
var template = sync.OnceValue(func() string {
	var all strings.Builder
	for _, name := range scripts {
		all.WriteString(pageFile(name))
	}
	return strings.NewReplacer("{{style}}", pageFile("page.css"), "{{script}}", all.String()).Replace(pageFile("page.html"))
})

var pagePolicy = sync.OnceValue(func() string {
	return csp.Policy(csp.Element(template(), "script"), csp.Element(template(), "style"))
})

// PagePolicy returns the Content-Security-Policy of the page.
func (s *Story) PagePolicy() string { return pagePolicy() }

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
	title := s.Title
	if title == "" {
		title = "fakeapi"
	}
	_, err = strings.NewReplacer("{{title}}", html.EscapeString(title), "{{policy}}", pagePolicy(), "{{story}}", string(data)).WriteString(w, template())
	return err
}
