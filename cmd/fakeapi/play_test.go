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

// runs runs a command line to its end and returns its output.
func runs(t *testing.T, code int, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	require.Equal(t, code, run(t.Context(), args, nil, &stdout, &stderr), &stderr)
	return stdout.String()
}

func TestPlayServer(t *testing.T) {
	s := start(t, "--token-auth-file", "testdata/tokens.csv", "--authorization-mode", "RBAC", "--feature-gates", "CBORServingAndStorage=true")
	out := runs(t, 0, "play", "testdata/scenarios/right.yaml", "--server", s.url, "--token", "roottoken", "--run", "cbor")
	assert.Equal(t, "testdata/scenarios/right.yaml: scenarios 1/1, answers 1/1\n", out)
	out = runs(t, 1, "play", "testdata/scenarios/right.yaml", "--server", s.url, "--token", "x")
	assert.Contains(t, out, "creating a namespace: 401")
	runs(t, 0, "play", "testdata/scenarios/right.yaml", "--server", s.url, "--run", "cbor") // with the token that serve wrote
	runs(t, 0, "play", "testdata/scenarios/right.yaml", "--server", strings.TrimPrefix(s.url, "http://"), "--run", "cbor")
}

func TestPlayTranscript(t *testing.T) {
	var transcripts [2]string
	for i := range transcripts {
		name := filepath.Join(t.TempDir(), "transcript")
		runs(t, 0, "play", "testdata/scenarios/right.yaml", "--seed", "7", "--manual-clock", "2026-01-02T03:04:05Z", "--transcript", name)
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		transcripts[i] = string(b)
	}
	assert.Contains(t, transcripts[0], "> POST /api/v1/namespaces/${ns}/configmaps\n< 201\n")
	assert.Equal(t, transcripts[0], transcripts[1])
}

func TestPlayUpdate(t *testing.T) {
	b, err := os.ReadFile("testdata/scenarios/wrong.yaml")
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "wrong.yaml")
	require.NoError(t, os.WriteFile(name, b, 0o644))
	runs(t, 0, "play", name, "--update")
	assert.Contains(t, runs(t, 0, "play", name), "scenarios 1/1")
}

func TestReplay(t *testing.T) {
	s := startCommand(t, "replay", "testdata/scenarios/client.yaml")
	code, version := s.do(t, "GET", "/version", "", "")
	assert.Equal(t, 200, code)
	assert.Equal(t, map[string]any{"gitVersion": "v9"}, version)
	code, _ = s.do(t, "GET", "/readyz", "", "")
	assert.Equal(t, 200, code)
	s.cancel()
	assert.Equal(t, 0, <-s.code)
}

func TestReplayUnexpectedRequest(t *testing.T) {
	s := startCommand(t, "replay", "testdata/scenarios/client.yaml")
	code, got := s.do(t, "GET", "/readyz", "", "")
	assert.Equal(t, 500, code)
	assert.Contains(t, got["message"], "must come before it")
	s.cancel()
	assert.Equal(t, 1, <-s.code)
	assert.Equal(t, "fakeapi replay: unexpected requests: 1; requests not made: step 0, GET /version; step 1, GET /readyz\n", s.stderr.String())
}

// Policies are tested in files of their own. --min-coverage fails, and -o chooses the report.
func TestPlayPolicies(t *testing.T) {
	const file = "../../scenarios/testdata/policies/policies_test.yaml"
	out := runs(t, 0, "play", file, "--coverage")
	assert.Contains(t, out, file+": scenarios 3/3, answers 15/15\n")
	assert.Contains(t, out, "coverage 100.0%: 16 of 16 results\n")
	runs(t, 0, "play", file, "--min-coverage", "100")
	out = runs(t, 0, "play", file, "--run", "ConfigMaps", "--min-coverage", "100", "-o", "json")
	assert.Contains(t, out, `"coveragePercent": 100`)
}

func TestPlayReports(t *testing.T) {
	dir := t.TempDir()
	policies, err := filepath.Abs("../../scenarios/testdata/policies/team.yaml")
	require.NoError(t, err)
	file := filepath.Join(dir, "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: a\nfiles: ["+policies+"]\nsteps:\n"+
		"- create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n  as: bob\n  rows:\n"+
		"  - {name: one, expect: allowed}\n  - {name: two, expect: denied}\n- do: GET /nothing\n  expect: allowed\n- pause: 1ms\n"), 0o600))
	for format, want := range map[string][]string{
		"text": {file + ":8: step 0 (create ConfigMap a), row 1 (two)\n    expect: want denied, got allowed (201)\n", "scenarios 0/1, answers 1/3\n", "coverage 66.7%"},
		"json": {`"position": "` + file + `:8",` + "\n          \"passed\": false", `"coveragePercent": 66.6`},
		"junit": {
			`<testsuites name="fakeapi play" tests="5" failures="2" skipped="1"`,
			`<testcase name="one" classname="a" file="` + file + `" line="7"></testcase>`,
			`<failure message="expect: want denied, got allowed (201)">`,
			`<skipped message="never false"></skipped>`,
		},
	} {
		t.Run(format, func(t *testing.T) {
			out := runs(t, 1, "play", file, "-o", format, "--coverage")
			for _, s := range want {
				assert.Contains(t, out, s)
			}
		})
	}
	var stderr strings.Builder
	assert.Equal(t, 2, run(t.Context(), []string{"play", file, "-o", "xml"}, nil, &strings.Builder{}, &stderr))
	assert.Contains(t, stderr.String(), `--output: "xml" is not one of text, json, junit`)
	assert.Equal(t, 1, run(t.Context(), []string{"play", "testdata/scenarios/right.yaml", "--min-coverage", "1"}, nil, &strings.Builder{}, &stderr))
	assert.Contains(t, stderr.String(), "--min-coverage: the scenarios have no policies")
}
