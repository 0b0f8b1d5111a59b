package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// A block is a fenced block of code.
type block struct {
	line     int // of the opening fence
	language string
	args     map[string]string // "file=NAME" is file: NAME, "output" is output: ""
	text     string
}

// A page is a Markdown file.
type page struct {
	name   string // from the root of the repository
	text   string
	blocks []block
}

// pages returns the pages that the tests cover.
func pages(t *testing.T) []page {
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "conformance/README.md", "examples/README.md"} {
		names = append(names, filepath.Join(root, name))
	}
	var out []page
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		rel, err := filepath.Rel(root, name)
		require.NoError(t, err)
		p := page{name: filepath.ToSlash(rel), text: string(text)}
		p.blocks, err = parse(p.text)
		require.NoError(t, err, p.name)
		out = append(out, p)
	}
	return out
}

// parse returns the fenced blocks of a page.
func parse(text string) ([]block, error) {
	var out []block
	var open *block
	for i, line := range strings.SplitAfter(text, "\n") {
		info, fence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case open == nil && fence:
			words := strings.Fields(info)
			if len(words) == 0 {
				return nil, fmt.Errorf("line %d: the block has no language", i+1)
			}
			open = &block{line: i + 1, language: words[0], args: map[string]string{}}
			for _, w := range words[1:] {
				key, value, _ := strings.Cut(w, "=")
				open.args[key] = value
			}
		case open == nil:
		case fence:
			out = append(out, *open)
			open = nil
		default:
			open.text += line
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block has no end", open.line)
	}
	return out, nil
}

// goName returns a Go identifier for the block of a page.
func (p page) goName(b block) string {
	return fmt.Sprintf("%s_%d", notLetters.ReplaceAllString(strings.TrimSuffix(p.name, ".md"), "_"), b.line)
}

var notLetters = regexp.MustCompile(`\W`)

// Each block has a language that the package comment describes, and each file of
// a page is used in the page.
func TestBlocksAreRun(t *testing.T) {
	for _, p := range pages(t) {
		for i, b := range p.blocks {
			at := fmt.Sprintf("%s:%d", p.name, b.line)
			switch b.language {
			case "go", "sh", "text", "diff", "java", "javascript", "python", "rust", "xml":
			case "yaml":
				name, ok := b.args["file"]
				if !ok {
					t.Errorf("%s: a yaml block needs file=NAME", at)
					continue
				}
				used := false
				for _, later := range p.blocks[i+1:] {
					used = used || later.language != "text" &&
						(strings.Contains(later.text, name) || strings.Contains(name, "/") && strings.Contains(later.text, filepath.Dir(name)))
				}
				if !used {
					t.Errorf("%s: no later block uses %s", at, name)
				}
			default:
				t.Errorf("%s: unknown language %q", at, b.language)
			}
		}
	}
}

var links = regexp.MustCompile(`(?:\]\(|src="|srcset=")([^)"\s]+)[)"]`)

// Each relative link leads to a file, and each anchor to a heading.
func TestLinks(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range links.FindAllStringSubmatch(p.text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := filepath.Join(root, p.name)
			if file != "" {
				target = filepath.Join(root, filepath.Dir(p.name), file)
			}
			text, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: broken link %s", p.name, m[1])
				continue
			}
			if anchor != "" && !hasHeading(string(text), anchor) {
				t.Errorf("%s: %s has no heading %s", p.name, file, anchor)
			}
		}
	}
}

func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			id := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")
			if regexp.MustCompile(`[^\w-]`).ReplaceAllString(id, "") == anchor {
				return true
			}
		}
	}
	return false
}

// The README is short.
func TestReadmeIsShort(t *testing.T) {
	for _, p := range pages(t) {
		if p.name == "README.md" {
			require.LessOrEqual(t, strings.Count(p.text, "\n"), 150)
		}
	}
}
