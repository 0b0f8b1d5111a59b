package storypage

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// staleCache runs the commands of docs/page.md that start examples/stalecache, with more arguments, and opens the
// page that they name. It waits until the controller has seen all that it has written.
func staleCache(t *testing.T, args string) *tab {
	t.Helper()
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, "docs", "page.md"))
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```sh name=stalecache\n(.*?)\n```\n\n```text\n(.*?)\n```").FindSubmatch(text)
	require.NotNil(t, blocks)
	// The commands have a process group of their own, which is interrupted as Ctrl-C does when the input ends.
	cmd := exec.Command("bash", "-c", "set -m\n{ "+string(blocks[1])+args+"; } </dev/null &\nread -r _\nkill -INT -- -$!\nwait")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		assert.NoError(t, cmd.Wait())
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, "^"+strings.ReplaceAll(regexp.QuoteMeta(string(blocks[2])), `\.\.\.`, `\d+`)+"\n$", line)
	url, _, _ := strings.Cut(line, " ")
	p := openTab(t, url, url)
	p.await(`model.readers.some((r) => r.resource === "pods" && r.marks.some((m) => m.kind === "step" && m.revision >= model.revision))`)
	return p
}

// podCreates returns the events that are a create of a Pod.
func (p *tab) podCreates() []string {
	return eval[[]string](p, `chart.lines.filter((e) => e.revision && e.text.includes("create pods")).map((e) => e.id)`)
}

// TestStaleCache follows the explanation of the bug in docs/page.md.
func TestStaleCache(t *testing.T) {
	t.Run("fixed", func(t *testing.T) {
		assert.Len(t, staleCache(t, " -fixed").podCreates(), 3)
	})
	p := staleCache(t, "")
	writes := p.podCreates()
	require.GreaterOrEqual(t, len(writes), 6)
	assert.Positive(t, p.shapes("behind"), "the blue line is below the grey one")
	assert.Equal(t, 1, p.shapes("span"), "the bar below says why")
	assert.Contains(t, eval[[]string](p, `chart.shapes.filter((s) => s.look === "word").map((s) => s.text)`), "2s behind (pods)")

	p.clickShape(`s.id === "` + writes[3] + `"`)
	assert.Equal(t, []string{writes[3] + " · create by replicasets"}, p.texts("#details h2"))
	assert.Equal(t, 1, p.shapes("ray slow"), "its own watch sees it later")
	assert.Regexp(t, `^replicasetswatch podsafter (1\.\d+|2|2\.\d+) s$`, p.texts("#details h3 + table tr")[0])

	p.click("#details [data-object]")
	p.await(`byId("object").querySelector("pre")`)
	assert.Equal(t, 4, p.count("#table tbody tr"), "the server has four Pods")
	assert.Regexp(t, `replicasetssees nothing of it1 version behindits view is at r\d+ of `+writes[3], p.texts("#object")[0])
	view := regexp.MustCompile(`its view is at (r\d+)`).FindStringSubmatch(p.texts("#object")[0])[1]
	assert.Less(t, view, p.find("create replicasets.apps"), "before the ReplicaSet was created")
}
