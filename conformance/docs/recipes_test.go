package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var changedFile = regexp.MustCompile(`(?m)^--- a/(.*)$`)

// Each recipe of CONTRIBUTING.md works: its changes apply, and its commands succeed
// with them. The repository itself does not change: the commands see the changes by
// the -overlay flag of go.
func TestRecipes(t *testing.T) {
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	var p page
	for _, p = range pages(t) {
		if p.name == "CONTRIBUTING.md" {
			break
		}
	}
	recipes := 0
	for _, section := range strings.Split(p.text, "\n### ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		blocks, err := parse(section)
		require.NoError(t, err)
		tmp := t.TempDir()
		overlay := struct{ Replace map[string]string }{map[string]string{}}
		replace := func(name, text string) {
			file := filepath.Join(tmp, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			overlay.Replace[filepath.Join(here, name)] = file
		}
		commands := ""
		for _, b := range blocks {
			switch {
			case b.language == "diff":
				for _, m := range changedFile.FindAllStringSubmatch(b.text, -1) {
					text, err := os.ReadFile(filepath.Join(here, m[1]))
					require.NoError(t, err)
					replace(m[1], string(text))
				}
				apply := exec.CommandContext(t.Context(), "git", "apply", "--recount", "--verbose", "-")
				apply.Dir, apply.Stdin = tmp, strings.NewReader(b.text)
				apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(tmp))
				out, err := apply.CombinedOutput()
				require.NoError(t, err, "%s: %s", title, out)
			case b.language == "go":
				replace(b.args["file"], b.text)
			case b.args["name"] == "recipe":
				commands += b.text
			}
		}
		if commands == "" {
			continue
		}
		recipes++
		t.Run(title, func(t *testing.T) {
			config, err := json.Marshal(overlay)
			require.NoError(t, err)
			file := filepath.Join(tmp, "overlay.json")
			require.NoError(t, os.WriteFile(file, config, 0o644))
			cmd := exec.CommandContext(t.Context(), "bash", "-euc", commands)
			cmd.Dir = here
			cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off -overlay="+file)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
	require.GreaterOrEqual(t, recipes, 4)
}
