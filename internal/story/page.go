package story

import (
	"embed"
	"encoding/json"
	"html"
	"io"
	"io/fs"
	"strings"
	"sync"
)

// The page is written by hand: a frame, a style, and scripts that are put after
// one another. The story is data in it.
//
//go:embed page
var page embed.FS

// scripts are the page's scripts, in the order in which they need each other.
var scripts = []string{"data.js", "scale.js", "chart.js", "panels.js", "main.js"}

// frame is the page but for what is the story's own.
var frame = sync.OnceValue(func() string {
	var all strings.Builder
	for _, name := range scripts {
		all.WriteString(part(name))
	}
	return strings.NewReplacer("{{style}}", part("page.css"), "{{script}}", all.String()).Replace(part("page.html"))
})

func part(name string) string {
	b, err := fs.ReadFile(page, "page/"+name)
	if err != nil {
		panic("story: " + err.Error()) // unreachable: the file is embedded
	}
	return string(b)
}

// WritePage writes the story as one page of HTML that needs nothing beside it.
func (s *Story) WritePage(w io.Writer) error {
	data, err := json.Marshal(s) // which escapes what could end a script
	if err != nil {
		return err
	}
	title := s.Title
	if title == "" {
		title = "fakeapi"
	}
	_, err = strings.NewReplacer("{{title}}", html.EscapeString(title), "{{story}}", string(data)).WriteString(w, frame())
	return err
}
