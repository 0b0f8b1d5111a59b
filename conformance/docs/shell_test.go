package docs

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
)

var update = flag.Bool("update", false, "rewrite the flags in the pages")

// bin is the directory of the commands that blocks use.
var bin string

// TestMain runs kubectl if the test binary is called by that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "kubectl" {
		kubectlutil.CheckErr(kubectl.NewDefaultKubectlCommand().Execute())
		return
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	flag.Parse()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var err error
	if bin, err = os.MkdirTemp("", "docs"); err != nil {
		return fail(err)
	}
	defer os.RemoveAll(bin)
	self, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "kubectl")); err != nil {
		return fail(err)
	}
	build := exec.Command("go", append([]string{"build", "-C", root, "-o", filepath.Join(bin, "fakeapi")}, append(raceFlag(), "./cmd/fakeapi")...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return fail(fmt.Errorf("%w: %s", err, out))
	}
	return m.Run()
}

// prologue starts the long-running commands in the background. It waits until they
// print the URL on which they listen.
const prologue = `
set -euo pipefail
servers=()
trap '[ ${#servers[@]} = 0 ] || kill ${servers[@]}; wait' EXIT
fakeapi() {
	case $* in # the default address is for other tests on this machine
	serve*--listen*) ;;
	serve*) set -- "$@" --listen 127.0.0.1:8080 ;;
	log*--server* | log*--kubeconfig*) ;;
	log*) set -- "$@" --server 127.0.0.1:8080 ;;
	esac
	case "$1 $*" in
	record*--profile* | record*--objects*) command fakeapi "$@" ;;
	serve* | record* | replay*)
		local log=.server${#servers[@]}
		command fakeapi "$@" >$log 2>&1 &
		servers+=($!)
		until grep -q :// $log; do
			kill -0 $! 2>/dev/null || { cat $log >&2; return 1; }
			sleep 0.01
		done
		cat $log ;;
	*) command fakeapi "$@" ;;
	esac
}
interrupt() {
	kill -INT ${servers[-1]}
	wait ${servers[-1]}
	unset 'servers[-1]'
}
curl() { command curl --silent --show-error --fail-with-body --max-time 20 "$@"; }
`

var localPort = regexp.MustCompile(`(127\.0\.0\.1|localhost):(\d+)`)

// freePorts replaces each port of the loopback address by a free one.
func freePorts(t *testing.T, script string) string {
	ports := map[string]string{"0": "0"}
	return localPort.ReplaceAllStringFunc(script, func(addr string) string {
		m := localPort.FindStringSubmatch(addr)
		if ports[m[2]] == "" {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			_, ports[m[2]], _ = net.SplitHostPort(l.Addr().String())
		}
		return m[1] + ":" + ports[m[2]]
	})
}

// skipped are pages whose commands are about the repository itself. A recipe
// changes it, and "./check" runs this test.
var skipped = map[string]bool{"CONTRIBUTING.md": true, "conformance/README.md": true, "examples/README.md": true}

// The sh blocks of a page succeed one after the other.
func TestShellBlocks(t *testing.T) {
	for _, p := range pages(t) {
		script, outputs := prologue, map[int]string{}
		last := 0
		for _, b := range p.blocks {
			_, named := b.args["name"]
			_, output := b.args["output"]
			switch {
			case b.language == "sh" && !named:
				last = b.line
				script += fmt.Sprintf("echo '== %d'\n%s", b.line, b.text)
				if _, ok := b.args["interrupt"]; ok {
					script += "interrupt\n"
				}
			case output:
				outputs[last] += b.text
			}
		}
		if last == 0 || skipped[p.name] {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p.writeFiles(t, dir)
			cmd := exec.CommandContext(t.Context(), "bash", "-c", freePorts(t, script))
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_CACHE_HOME=", "KUBECONFIG=")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			for section := range strings.SplitSeq("\n"+string(out), "\n== ") {
				var line int
				fmt.Sscan(section, &line)
				for want := range strings.Lines(outputs[line]) {
					want = regexp.QuoteMeta(strings.TrimSpace(want))
					assert.Regexp(t, strings.ReplaceAll(want, `\.\.\.`, ".*"), section, "%s:%d", p.name, line)
				}
			}
		})
	}
}

// The blocks with the flags of the commands are the help of the commands.
func TestFlags(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range pages(t) {
		text := p.text
		for _, b := range p.blocks {
			name, ok := b.args["help"]
			if !ok {
				continue
			}
			seen[name] = true
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "fakeapi"), name, "--help")
			cmd.Env = append(os.Environ(), "HOME=/home/me")
			out, err := cmd.Output()
			require.NoError(t, err)
			if *update {
				fence := "```text help=" + name + "\n"
				text = strings.Replace(text, fence+b.text, fence+string(out), 1)
				continue
			}
			if string(out) != b.text {
				t.Errorf("%s:%d: not the help of fakeapi %s: run go test -update in conformance/docs", p.name, b.line, name)
			}
		}
		if text != p.text {
			require.NoError(t, os.WriteFile(filepath.Join(root, p.name), []byte(text), 0o644))
		}
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "fakeapi"), "help").Output()
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^  (\w+)  `).FindAllStringSubmatch(string(out), -1) {
		assert.True(t, seen[m[1]], "no page has the flags of fakeapi %s", m[1])
	}
}
