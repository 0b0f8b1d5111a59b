package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var changedFile = regexp.MustCompile(`(?m)^--- a/(.*)$`)

// Each recipe of CONTRIBUTING.md works: its changes apply, and its commands succeed
// with them. The changes of all recipes are there together, so that packages are compiled
// once. The repository itself does not change: the commands see the changes by the -overlay
// flag of go.
func TestRecipes(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	i := slices.IndexFunc(pages(t), func(p page) bool { return p.name == "CONTRIBUTING.md" })
	tmp := t.TempDir()
	changed := overlay{here: here, dir: tmp, Replace: map[string]string{}}
	type recipe struct{ title, commands string }
	var recipes []recipe
	for _, section := range strings.Split(pages(t)[i].text, "\n### ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		blocks, err := parse(section)
		require.NoError(t, err)
		r := recipe{title: title}
		for _, b := range blocks {
			switch {
			case b.language == "diff":
				changed.apply(t, title, b.text)
			case b.language == "go":
				changed.replace(t, b.args["file"], b.text)
			case b.args["name"] == "recipe":
				r.commands += b.text
			}
		}
		if r.commands != "" {
			recipes = append(recipes, r)
		}
	}
	require.GreaterOrEqual(t, len(recipes), 5)
	config, err := json.Marshal(changed)
	require.NoError(t, err)
	file := filepath.Join(tmp, "overlay.json")
	require.NoError(t, os.WriteFile(file, config, 0o644))
	for _, r := range recipes {
		t.Run(r.title, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "bash", "-euc", r.commands)
			cmd.Dir = here
			cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off -overlay="+file)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

// An overlay is the content of a file for the -overlay flag of go: files of dir in place of
// those of here.
type overlay struct {
	here, dir string
	Replace   map[string]string
}

// replace gives a file another content.
func (o *overlay) replace(t *testing.T, name, text string) {
	file := filepath.Join(o.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	o.Replace[filepath.Join(o.here, name)] = file
}

// apply applies a diff. Files may have changes of others already.
func (o *overlay) apply(t *testing.T, title, diff string) {
	for _, m := range changedFile.FindAllStringSubmatch(diff, -1) {
		if o.Replace[filepath.Join(o.here, m[1])] != "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(o.here, m[1]))
		require.NoError(t, err)
		o.replace(t, m[1], string(text))
	}
	apply := exec.CommandContext(t.Context(), "git", "apply", "--recount", "--verbose", "-")
	apply.Dir, apply.Stdin = o.dir, strings.NewReader(diff)
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(o.dir))
	out, err := apply.CombinedOutput()
	require.NoError(t, err, "%s: %s", title, out)
}
