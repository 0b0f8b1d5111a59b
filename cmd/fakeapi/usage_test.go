//go:build go1.24

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serve --usage writes what usage reads.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "usage.json")
	s := start(t, "--listen", "127.0.0.1:0", "--usage", file)
	s.do(t, "GET", "/api/v1/pods", "", "")
	s.do(t, "GET", "/api/v1/namespaces/default/secrets/tls", "", "")
	s.cancel()
	require.Equal(t, 0, <-s.code)
	role := filepath.Join(dir, "role.yml")
	require.NoError(t, os.WriteFile(role, []byte("kind: ClusterRole\nmetadata: {name: m}\nrules: [{apiGroups: [''], resources: [pods], verbs: [list, watch]}]\n"), 0o600))
	const missing = "  get secrets tls in default: 1 request, as in GET /api/v1/namespaces/default/secrets/tls\n" +
		"    // +kubebuilder:rbac:groups=\"\",namespace=default,resources=secrets,resourceNames=tls,verbs=get\n"

	for _, tt := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"text", nil, 0, "clients:\n  Go-http-client/1.1, user admin: 2 requests\nneeded:\n  ClusterRole:\n    list pods\n  Role in default:\n    get secrets for tls\n", ""},
		{"markers", []string{"-o", "markers", "--user-agent", "Go-*"}, 0,
			"// +kubebuilder:rbac:groups=\"\",resources=pods,verbs=list\n// +kubebuilder:rbac:groups=\"\",namespace=default,resources=secrets,resourceNames=tls,verbs=get\n", ""},
		{"yaml", []string{"-o", "yaml", "--name", "x"}, 0, `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: x
rules:
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - list
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: x
  namespace: default
rules:
- apiGroups:
  - ""
  resourceNames:
  - tls
  resources:
  - secrets
  verbs:
  - get
`, ""},
		{"roles that differ", []string{"--roles", role}, 1, "asked and not granted:\n" + missing +
			"granted and never asked:\n  " + role + ": ClusterRole m: watch pods\n", ""},
		{"unused is allowed", []string{"--roles", role, "--allow-unused"}, 1, "asked and not granted:\n" + missing, ""},
		{"junit", []string{"--roles", role, "--allow-unused", "-o", "junit"}, 1, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="fakeapi usage" tests="20" failures="1" skipped="0" time="0.000">
  <testsuite name="roles" tests="1" failures="1" skipped="0">
    <testcase name="get secrets" classname="asked and not granted">
      <failure message="get secrets tls in default: 1 request, as in GET /api/v1/namespaces/default/secrets/tls; // +kubebuilder:rbac:groups=&#34;&#34;,namespace=default,resources=secrets,resourceNames=tls,verbs=get">get secrets tls in default: 1 request, as in GET /api/v1/namespaces/default/secrets/tls; // +kubebuilder:rbac:groups=&#34;&#34;,namespace=default,resources=secrets,resourceNames=tls,verbs=get</failure>
    </testcase>
  </testsuite>
  <testsuite name="findings" tests="19" failures="0" skipped="0">
    <testcase name="stale-write" classname="findings"></testcase>
    <testcase name="owner-reference" classname="findings"></testcase>
    <testcase name="status-ignored" classname="findings"></testcase>
    <testcase name="expired-watch" classname="findings"></testcase>
    <testcase name="finalizer-late" classname="findings"></testcase>
    <testcase name="finalizer-left" classname="findings"></testcase>
    <testcase name="conflict-not-retried" classname="findings"></testcase>
    <testcase name="loop" classname="findings"></testcase>
    <testcase name="unpaged-list" classname="findings"></testcase>
    <testcase name="polling-list" classname="findings"></testcase>
    <testcase name="list-beside-watch" classname="findings"></testcase>
    <testcase name="polling-get" classname="findings"></testcase>
    <testcase name="asks-at-rest" classname="findings"></testcase>
    <testcase name="requests-per-change" classname="findings"></testcase>
    <testcase name="idle-write" classname="findings"></testcase>
    <testcase name="events-flood" classname="findings"></testcase>
    <testcase name="all-namespaces" classname="findings"></testcase>
    <testcase name="watch-without-bookmarks" classname="findings"></testcase>
    <testcase name="deprecated-version" classname="findings"></testcase>
  </testsuite>
</testsuites>
`, ""},
		{"another client", []string{"--user", "bob"}, 1, "", "fakeapi usage: the client has made no requests; there are those of\n  Go-http-client/1.1 as admin\n"},
		{"no such format", []string{"-o", "x"}, 2, "", "fakeapi usage: --output: \"x\" is not one of text, yaml, markers, json, junit\n\"fakeapi usage --help\" lists the flags.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			assert.Equal(t, tt.code, run(t.Context(), append([]string{"usage", file}, tt.args...), nil, &stdout, &stderr))
			assert.Equal(t, tt.stdout, stdout.String())
			assert.Equal(t, tt.stderr, stderr.String())
		})
	}
}
