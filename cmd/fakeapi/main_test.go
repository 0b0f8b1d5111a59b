//go:build go1.24

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asCommand is the environment variable with which the test binary is fakeapi.
const asCommand = "FAKEAPI_TEST_COMMAND"

func TestRun(t *testing.T) {
	tests := []struct {
		name   string
		args   string
		code   int
		stdout string // a part of the output; "" if there is none
		stderr string
	}{
		{"no command", "", 2, "", "Commands:"},
		{"help", "help", 0, "run a server", ""},
		{"help flag", "--help", 0, "run a server", ""},
		{"unknown command", "server", 2, "", "fakeapi: unknown command \"server\"; did you mean serve?\n\"fakeapi --help\" lists the commands.\n"},
		{"misspelled command", "repaly x.yaml --listen y", 2, "", `unknown command "repaly"; did you mean replay?`},
		{"command that is suggested", "run", 2, "", `unknown command "run"; did you mean serve?`},
		{"short command unlike any", "foo", 2, "", "unknown command \"foo\"\n"},
		{"command unlike any", "kubectl --x", 2, "", "unknown command \"kubectl\"\n"},
		{"help of a command", "help log", 0, "--lines NUMBER", ""},
		{"help of an unknown command", "help foo", 2, "", "fakeapi help: unknown command \"foo\"\n\"fakeapi --help\" lists the commands.\n"},
		{"help of help", "help help", 0, "help [COMMAND]", ""},
		{"help of a misspelled command", "help lgo", 2, "", `unknown command "lgo"; did you mean log?`},
		{"misspelled subcommand", "envtest instal", 2, "", "fakeapi envtest: unknown command \"instal\"; did you mean install?\n\"fakeapi envtest --help\" lists the commands.\n"},
		{"command with subcommands", "envtest", 0, "\n\"fakeapi help envtest COMMAND\" lists the flags of a command.\n", ""},
		{"help of a flag", "help --serve", 2, "", "unknown flag: --serve"},
		{"version", "version", 0, "v1.37.2 (default)", ""},
		{"version flag", "--version", 0, "fakeapi " + programVersion() + "\n", ""},
		{"root flag", "--verbose", 2, "", "unknown flag: --verbose"},
		{"version with argument", "version 2", 2, "", `unexpected argument "2"`},
		{"version help", "version -h", 0, "fakeapi version", ""},

		{"serve help", "serve --help", 0, "--token-auth-file FILE", ""},
		{"unknown flag", "serve --etcd-servers x", 2, "", "fakeapi serve: unknown flag: --etcd-servers\n\"fakeapi serve --help\" lists the flags.\n"},
		{"misspelled flag", "serve --kubconfig x", 2, "", "unknown flag: --kubconfig; did you mean --kubeconfig?"},
		{"beginning of a flag", "serve --authorization-m=RBAC", 2, "", "unknown flag: --authorization-m; did you mean --authorization-mode?"},
		{"flag with one dash", "serve -listen=x", 2, "", "unknown flag: -listen; did you mean --listen?"},
		{"flag without value", "serve --listen", 2, "", "flag needs an argument: --listen"},
		{"argument", "serve now", 2, "", `unexpected argument "now"`},
		{"certificate without TLS", "serve --cert-dir x", 2, "", "--cert-dir needs --tls"},
		{"authorization mode", "serve --authorization-mode ABAC", 2, "", "authorization-mode ABAC's authorization policy file not passed"},
		{"allowed host", "serve --allowed-hosts http://a", 2, "", `"http://a" is not a host name`},
		{"release", "serve --release v1.2", 2, "", `unknown release "v1.2": there are v1.32`},
		{"runtime config entry", "serve --runtime-config foo/v1=true", 2, "", `--runtime-config: unknown api groups foo/v1`},
		{"runtime config value", "serve --runtime-config apps/v1=maybe", 2, "", `invalid value of apps/v1: maybe, err: strconv.ParseBool`},
		{"unknown gate", "serve --feature-gates Magic=true", 2, "", `--feature-gates: unrecognized feature gate: Magic`},
		{"gate value", "serve --feature-gates CBORServingAndStorage=maybe", 2, "", `invalid value of CBORServingAndStorage=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax`},
		{"service range", "serve --service-cluster-ip-range 10.0.0.0", 2, "", `for "--service-cluster-ip-range" flag: "10.0.0.0" is not a CIDR, such as 10.0.0.0/24`},
		{"service ranges of one family", "serve --service-cluster-ip-range 10.0.0.0/24,10.1.0.0/24", 2, "", "two ranges of service addresses of one IP family"},
		{"three service ranges", "serve --service-cluster-ip-range 10.0.0.0/24,fd00::/108,10.1.0.0/24", 2, "", "more than two ranges of service addresses"},
		{"unknown plugins", "serve --listen 127.0.0.1:0 --enable-admission-plugins=A,B", 2, "", `fakeapi serve: [--enable-admission-plugins plugin "A" is unknown, --enable-admission-plugins plugin "B" is unknown]`},
		{"unknown plugin to disable", "serve --disable-admission-plugins=A", 2, "", `fakeapi serve: --disable-admission-plugins plugin "A" is unknown`},
		{"controller", "serve --controllers nosuch", 2, "", `for "--controllers" flag: "nosuch" is not in the list of known controllers: bootstrap-signer-controller, `},
		{"short controller", "serve --controllers gc", 2, "", `"gc" is not in the list of known controllers; did you mean garbage-collector-controller?` + "\n"},
		{"misspelled release", "serve --release 1.53", 2, "", `unknown release "1.53": there are v1.32.13, `},
		{"misspelled gate", "serve --feature-gates CborServingAndStorage=true", 2, "", "did you mean CBORServingAndStorage?\n"},
		{"gate of a later release", "serve --release 1.32 --feature-gates APIServerWebhookAuthenticationToken=true", 2, "", "; it comes with v1.3"},
		{"misspelled plugin", "serve --enable-admission-plugins podnodeselector", 2, "", `plugin "podnodeselector" is unknown; did you mean PodNodeSelector?` + "\n"},
		{"misspelled mode", "serve --authorization-mode rbac", 2, "", "did you mean RBAC?\n"},
		{"misspelled version", "serve --runtime-config batch/v2=true", 2, "", "did you mean batch/v1"},
		{"name of a flag elsewhere", "serve --port 80", 2, "", "did you mean --listen?\n"},
		{"seed", "serve --seed -1", 2, "", `invalid argument "-1" for "--seed" flag: it must be a whole number that is not negative, such as 7` + "\n"},
		{"chaos", "serve --chaos abc", 2, "", `invalid argument "abc" for "--chaos" flag: it must be a whole number that is not negative, such as 7` + "\n"},
		{"number", "log --lines x", 2, "", `invalid argument "x" for "--lines" flag: it must be a whole number, such as 40` + "\n"},
		{"factor", "serve --speed x", 2, "", `for "--speed" flag: it must be a number, such as 1.5` + "\n"},
		{"duration", "serve --history 5", 2, "", `for "--history" flag: it must be a duration, such as 500ms, 30s or 1h30m` + "\n"},
		{"boolean", "serve --tls=x", 2, "", `for "--tls" flag: it must be true or false` + "\n"},
		{"manual clock", "serve --manual-clock noon", 2, "", `for "--manual-clock" flag: it must be a time in RFC 3339, such as 2030-01-01T09:00:00Z` + "\n"},
		{"history", "serve --history 0s", 2, "", "--history must be positive"},
		{"history bytes", "serve --history-bytes 0", 2, "", "it must be a positive number of bytes"},
		{"history quantity", "serve --history-bytes 1x", 2, "", "history-bytes"},
		{"event TTL", "serve --event-ttl 0s", 2, "", "--event-ttl must be positive"},
		{"compaction interval", "serve --compact-every -1m", 2, "", "must not be negative"},
		{"kept history without compaction", "serve --compact-keep 1m", 2, "", "--compact-keep needs --compact-every"},
		{"speed of nothing", "serve --speed 2", 2, "", "--speed needs --reenact"},
		{"namespaces of no objects", "serve --create-namespaces", 2, "", "--create-namespaces needs --objects"},
		{"kubeconfig in no directory", "serve --listen 127.0.0.1:0 --kubeconfig testdata/none/config", 1, "", "fakeapi serve: --kubeconfig: write testdata/none/config: no such file"},
		{"unknown plugin with a profile", "serve --profile testdata/profile.yaml --enable-admission-plugins A", 2, "", `fakeapi serve: --enable-admission-plugins plugin "A" is unknown`},
		{"lag", "serve --lag slow", 2, "", `"slow" is neither a duration`},
		{"lag of no resource", "serve --lag =3s", 2, "", `"=3s" is neither a duration`},
		{"lag of an unknown resource", "serve --listen 127.0.0.1:0 --lag widgets=3s", 2, "", "fakeapi serve: --lag: not found: resource widgets"},

		{"play help", "play --help", 0, "--server URL", ""},
		{"play nothing", "play --seed 1", 2, "", "no files"},
		{"play a missing file", "play testdata/none.yaml", 1, "", "testdata/none.yaml: no such file"},
		{"play a directory", "play testdata/scenarios --run demo/greet", 0, "testdata/scenarios/right.yaml: scenarios 1/1, answers 2/2\n", ""},
		{"play a pattern", "play testdata/scenarios/r*.yaml --run demo/greet", 0, "testdata/scenarios/right.yaml: scenarios 1/1, answers 2/2\n", ""},
		{"play update of standard input", "play --update -", 2, "", "--update cannot rewrite the standard input"},
		{"play, no URL", "play --server http:// testdata/scenarios/right.yaml", 2, "", `"http://" is not a URL`},
		{"play, unknown release", "play testdata/scenarios/right.yaml --release v1.2", 1, "", "demo/greeting: "},
		{"play, no certificate", "play --server http://127.0.0.1:1 --certificate-authority testdata/scenarios/right.yaml testdata/scenarios/right.yaml", 1, "", "right.yaml: no certificate"},
		{"play", "play testdata/scenarios/right.yaml", 0, "testdata/scenarios/right.yaml: scenarios 2/2, answers 3/3\n", ""},
		{"play one", "play testdata/scenarios/right.yaml --run demo/greet", 0, "right.yaml: scenarios 1/1, answers 2/2\n", ""},
		{"play none", "play testdata/scenarios/right.yaml --run nomatch", 1, "right.yaml: scenarios 0/0", `fakeapi play: no scenario's area/name contains "nomatch"`},
		{"play, no clock", "play testdata/scenarios/right.yaml --manual-clock noon", 2, "", "it must be a time in RFC 3339"},
		{"play without a server", "play --server http://127.0.0.1:1 testdata/scenarios/right.yaml", 1, "connection refused", "2 of 2 scenarios differ"},
		{"play with differences", "play testdata/scenarios/right.yaml testdata/scenarios/wrong.yaml", 1, "    body.data.a: want \"c\", got \"b\"\n", "1 of 3 scenarios differ"},
		{"replay help", "replay --help", 0, "--concurrent", ""},
		{"replay nothing", "replay", 2, "", "fakeapi replay: expected one FILE, got 0\n"},
		{"replay at no address", "replay x.yaml --listen 19150", 2, "", `--listen: "19150" is not HOST:PORT, such as 127.0.0.1:19150`},
		{"replay several", "replay testdata/scenarios/right.yaml", 1, "", "2 scenarios instead of one"},
		{"replay a directory", "replay testdata/scenarios", 1, "", "testdata/scenarios: 3 files instead of one"},
		{"replay incomplete answers", "replay testdata/scenarios/wrong.yaml", 1, "", "step 0 (POST /api/v1/namespaces/${ns}/configmaps): its want has only a part of the answer"},

		{"record help", "record --help", 0, "--proxy-kubeconfig FILE", ""},
		{"record an argument", "record now", 2, "", `unexpected argument "now"`},
		{"record state with faults", "record --state pods --faults x", 2, "", "cannot be combined with --faults"},
		{"record without a kubeconfig", "record --kubeconfig testdata/none", 1, "", "testdata/none: no such file"},
		{"record at no address", "record --listen nowhere", 2, "", `--listen: "nowhere" is not HOST:PORT`},
		{"record for other machines", "record --listen 0.0.0.0:0", 2, "", "--allow-remote permits it"},
		{"record without a proxy kubeconfig", "record --proxy-kubeconfig=", 2, "", "without its token no client can use the proxy"},
		{"record without retries", "record --retry 0s", 2, "", "--retry must be positive"},
		{"record a secret", "record --secret data", 2, "", `"data" is not RESOURCE:PATH`},
		{"history missing", "serve --listen 127.0.0.1:0 --reenact testdata/none.yaml", 1, "", "testdata/none.yaml: no such file"},
		{"speed", "serve --speed 0", 2, "", "--speed must be positive"},

		{"token file missing", "serve --token-auth-file testdata/none.csv", 1, "", "testdata/none.csv: no such file"},
		{"token file short", "serve --token-auth-file testdata/short.csv", 1, "", "testdata/short.csv: line 2: 2 columns"},
		{"token empty", "serve --token-auth-file testdata/empty-token.csv", 1, "", "line 1: the token is empty"},
		{"objects missing", "serve --objects testdata/none", 1, "", "testdata/none: no such file"},
		{"objects none", "serve --objects testdata/empty", 1, "", "testdata/empty: the directory has no .yaml, .yml or .json file"},
		{"objects broken", "serve --listen 127.0.0.1:0 --objects testdata/broken", 1, "", "fakeapi serve: --objects: testdata/broken/widget.yaml: "},
		{"objects missing file", "serve --objects testdata/none.yaml", 1, "", "testdata/none.yaml: no such file"},
		{"standard input twice", "serve --objects - --crds -", 2, "", "only one flag can read the standard input"},
		{"reenact a directory of several files", "serve --listen 127.0.0.1:0 --reenact testdata/scenarios", 1, "", "testdata/scenarios: 3 files instead of one"},
		{"crds none", "serve --crds testdata/empty", 1, "", "testdata/empty: the directory has no .yaml, .yml or .json file"},
		{"faults none", "serve --faults testdata/empty/*.yaml", 1, "", `no file matches "testdata/empty/*.yaml"`},
		{"objects, a text", "serve --listen 127.0.0.1:0 --objects testdata/tokens.csv", 1, "", "fakeapi serve: --objects: testdata/tokens.csv: document 1: not a Kubernetes object: a mapping with kind and apiVersion is expected, not a value of the type string"},
		{"port", "serve --listen 127.0.0.1:99999", 2, "", "fakeapi serve: --listen: port 99999 is not from 0 to 65535"},
		{"port without a host", "serve --listen 19150", 2, "", `fakeapi serve: --listen: "19150" is not HOST:PORT, such as 127.0.0.1:19150`},
		{"address", "serve --listen nowhere", 2, "", `fakeapi serve: --listen: "nowhere" is not HOST:PORT, such as 127.0.0.1:8080`},
		{"completion nothing", "completion", 2, "", "fakeapi completion: expected one shell (bash, zsh, fish or powershell), got 0\n"},
		{"kubeconfig", "serve --listen 127.0.0.1:0 --kubeconfig testdata/none/kubeconfig", 1, "", "testdata/none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(t.Context(), strings.Fields(tt.args), strings.NewReader(""), &stdout, &stderr)
			assert.Equal(t, tt.code, code)
			for _, out := range []struct{ what, want, got string }{
				{"stdout", tt.stdout, stdout.String()},
				{"stderr", tt.stderr, stderr.String()},
			} {
				if out.want == "" {
					assert.Empty(t, out.got, out.what)
				} else {
					assert.Contains(t, out.got, out.want, out.what)
				}
			}
		})
	}
}

// docs/command-line.md has the flags of serve. The module conformance compares the help
// of every command with the page.
func TestDocsListFlags(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "command-line.md"))
	require.NoError(t, err)
	var help strings.Builder
	require.Equal(t, 0, run(t.Context(), []string{"serve", "--help"}, nil, &help, io.Discard))
	assert.Contains(t, string(page), help.String())
}

// Commands write the kubeconfigs of servers to a directory of the tests.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	dir, err := os.MkdirTemp("", "fakeapi")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		os.Setenv(name, dir)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// A server is a running command that serves.
type server struct {
	url    string
	stdin  string
	cancel context.CancelFunc // ends the command
	code   chan int           // receives the exit status
	stderr *strings.Builder   // complete after code has received
}

// start runs serve on a free port. See startCommand.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startCommand(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
}

// startCommand runs a command that serves. It returns when the command has printed its
// URL, and fails the test if the command exits.
func startCommand(t *testing.T, args ...string) *server {
	t.Helper()
	return startWithInput(t, "", args...)
}

// startWithInput is startCommand with a text as standard input.
func startWithInput(t *testing.T, stdin string, args ...string) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s := &server{stdin: stdin, cancel: cancel, code: make(chan int, 1), stderr: &strings.Builder{}}
	r, w := io.Pipe()
	go func() {
		code := run(ctx, args, strings.NewReader(s.stdin), w, s.stderr)
		w.CloseWithError(&exited{s.stderr.String()})
		s.code <- code
	}()
	var out strings.Builder
	for !strings.HasSuffix(out.String(), "\n") {
		b := make([]byte, 256)
		n, err := r.Read(b)
		require.NoError(t, err)
		out.Write(b[:n])
	}
	go io.Copy(io.Discard, r)
	s.url = strings.TrimSpace(out.String())
	return s
}

type exited struct{ stderr string }

func (e *exited) Error() string { return "the command has exited: " + e.stderr }
