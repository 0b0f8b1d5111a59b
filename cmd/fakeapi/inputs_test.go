package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goType matches what errors about files must not have: types of Go, and names of system calls.
var goType = regexp.MustCompile(`\bGo (struct|value)|\bjson: |unmarshal|\b(open|stat|read) /`)

// Errors about the files of flags and arguments name the flag and the file, and say in words what
// is wrong.
func TestInputErrors(t *testing.T) {
	dir := t.TempDir()
	inputs := map[string]string{
		"missing":     "",
		"directory":   "",
		"broken.yaml": "a: [1\nb: 2\n",
		"list.yaml":   "- 1\n",
		"text.yaml":   "hello\n",
		"types.yaml": "apiVersion: apiserver.config.k8s.io/v1\nkind: [AuthorizationConfiguration]\nmetadata: {name: [a]}\nname: [a]\nformat: [5]\n" +
			"spec: 5\ncode: a\ncurrent-context: [5]\nclusters: {a: b}\njwt: 5\nauthorizers: 5\nrules: [{level: [5]}]\nplugins: 5\nversion: [1]\nsteps: 5\n",
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "directory"), 0o700))
	for name, text := range inputs {
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		inputs["/dev/zero"] = ""
	}
	const serve = "serve --listen 127.0.0.1:0 "
	const apiserver = "kube-apiserver --etcd-servers=http://127.0.0.1:1 "
	commands := []struct{ command, flag string }{ // the file comes last
		{serve, "--token-auth-file"},
		{serve, "--authentication-config"},
		{serve, "--authentication-token-webhook-config-file"},
		{serve + "--oidc-issuer-url https://a --oidc-client-id a", "--oidc-ca-file"},
		{serve, "--authorization-config"},
		{serve + "--authorization-mode ABAC", "--authorization-policy-file"},
		{serve + "--authorization-mode Webhook", "--authorization-webhook-config-file"},
		{serve, "--profile"},
		{serve, "--stages"},
		{serve, "--crds"},
		{serve, "--objects"},
		{serve, "--reenact"},
		{serve, "--faults"},
		{"play", ""},
		{"play testdata/scenarios/right.yaml", "--kubeconfig"},
		{"play testdata/scenarios/right.yaml --server http://127.0.0.1:1", "--certificate-authority"},
		{"replay", ""},
		{"record --out " + filepath.Join(dir, "out"), "--kubeconfig"},
		{"log", "--kubeconfig"},
		{apiserver, "--token-auth-file"},
		{apiserver, "--client-ca-file"},
		{apiserver, "--authentication-config"},
		{apiserver, "--authorization-config"},
		{apiserver + "--audit-log-path=-", "--audit-policy-file"},
		{apiserver, "--admission-control-config-file"},
		{apiserver + "--audit-policy-file=testdata/audit.yaml", "--audit-webhook-config-file"},
	}
	for _, c := range commands {
		for name := range inputs {
			if c.flag == "--token-auth-file" && name == "types.yaml" || strings.HasPrefix(c.command, apiserver) && strings.Contains(c.command, "testdata/audit.yaml") {
				continue
			}
			file := name
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, name)
			}
			t.Run(strings.TrimSpace(c.command+" "+c.flag)+" "+name, func(t *testing.T) {
				args := strings.Fields(c.command)
				if c.flag != "" {
					args = append(args, c.flag)
				}
				args = append(args, file)
				ctx, cancel := context.WithCancel(context.Background())
				cancel() // a server that starts ends at once
				var stderr bytes.Buffer
				start := run
				if args[0] == "kube-apiserver" {
					args = append(args[1:], "--cert-dir="+dir)
					start = newKubeAPIServer("kube-apiserver")
				}
				code := start(ctx, args, strings.NewReader(""), io.Discard, &stderr)
				assert.NotZero(t, code)
				text := strings.ReplaceAll(stderr.String(), `\"`, `"`)
				assert.Contains(t, text, file)
				assert.Contains(t, text, c.flag)
				assert.NotRegexp(t, goType, text)
			})
		}
	}
}
