package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// TestExploredProgram is the program that TestExplore explores. It creates a ConfigMap with
// a generated name each time it starts, which is a bug. A workload without steps lets it
// run.
func TestExploredProgram(t *testing.T) {
	if os.Getenv("FAKEAPI_EXPLORED") == "" {
		t.Skip("TestExplore runs it")
	}
	url := os.Args[len(os.Args)-1]
	if name, ok := strings.CutPrefix(url, "context:"); ok {
		url = serverOf(t, name)
	}
	for range 2 { // a connection that is lost has nothing to do with the bug
		body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"run-"}}`)
		resp, err := http.Post(url+"/api/v1/namespaces/default/configmaps", "application/json", body)
		if err == nil {
			resp.Body.Close()
			break
		}
	}
	time.Sleep(time.Minute) // until it is killed
}

func TestExplore(t *testing.T) {
	t.Setenv("FAKEAPI_EXPLORED", "yes")
	dir := t.TempDir()
	workload := filepath.Join(dir, "workload.yaml")
	require.NoError(t, os.WriteFile(workload, []byte("name: nothing\nsteps: [{pause: 1ms}]\n"), 0o666))
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{
		"explore", "--workload", workload, "--dir", filepath.Join(dir, "plans"), "--quiet=200ms", "--hold=200ms", "--plans=4", "--parallel=1",
		"--", os.Args[0], "-test.run=^TestExploredProgram$", "{url}",
	}, nil, &out, &errs)
	assert.Equal(t, 1, code, "%s%s", &out, &errs)
	assert.Contains(t, errs.String(), "findings: 1")
	assert.Contains(t, out.String(), "configmaps default/run-*: 2 exist in the end, 1 in the reference run")
	saved, err := filepath.Glob(filepath.Join(dir, "plans", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, saved, 1, fmt.Sprint(&out))

	for format, want := range map[string]string{
		"text":  "searches: 1\nfinding 1: ",
		"json":  `"subject": "configmaps default/run-*"`,
		"junit": `<failure message="2 exist in the end, 1 in the reference run" type="end-state">`,
		"html":  `<h2>end-state: configmaps default/run-*: 2 exist in the end, 1 in the reference run</h2>`,
	} {
		out.Reset()
		errs.Reset()
		assert.Equal(t, 1, run(context.Background(), []string{"explore", "merge", "-o", format, dir}, nil, &out, &errs))
		assert.Contains(t, out.String(), want)
		assert.Contains(t, errs.String(), "findings: 1")
	}

	real := fakeapi.Start(t)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, real.Kubeconfig(), 0o600))
	for want, flags := range map[string][]string{"": nil, " against " + real.URL: {"--real", kubeconfig}} {
		out.Reset()
		code = run(context.Background(), slices.Concat(
			[]string{"explore", "--workload", workload, "--plan", saved[0], "--quiet=200ms", "--hold=200ms"}, flags,
			[]string{"--", os.Args[0], "-test.run=^TestExploredProgram$", "{url}"},
		), nil, &out, &errs)
		assert.Equal(t, 1, code, "%s%s", &out, &errs)
		assert.Contains(t, out.String(), "the plan of "+saved[0]+" fails"+want)
		assert.Contains(t, out.String(), " (repeated ")
	}
	left, err := real.List("configmaps", "default")
	require.NoError(t, err)
	assert.Empty(t, left, "what the program has created remains")
	errs.Reset()
	assert.Equal(t, 1, run(context.Background(), []string{"play", saved[0]}, nil, &out, &errs))
	assert.Contains(t, errs.String(), "fakeapi explore --plan "+saved[0]+" --workload FILE -- PROGRAM")
}

// serverOf returns the URL of the server of a cluster in the file that KUBECONFIG names.
func serverOf(t *testing.T, name string) string {
	text, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	require.NoError(t, err)
	var config struct {
		Clusters []struct {
			Name    string
			Cluster struct{ Server string }
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	for _, c := range config.Clusters {
		if c.Name == name {
			return c.Cluster.Server
		}
	}
	t.Fatalf("no cluster %s in %s", name, text)
	return ""
}

// The program writes to the second cluster, and so does the workload.
func TestExploreClusters(t *testing.T) {
	t.Setenv("FAKEAPI_EXPLORED", "yes")
	dir := t.TempDir()
	workload := filepath.Join(dir, "workload.yaml")
	steps := "name: two clusters\nsteps:\n- {in: west, apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: a}}}\n- pause: 1ms\n" +
		"- {in: west, delete: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: a}}}\n"
	require.NoError(t, os.WriteFile(workload, []byte(steps), 0o666))
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{
		"explore", "--workload", workload, "--clusters", "east,west", "--dir", filepath.Join(dir, "plans"), "--quiet=200ms", "--hold=200ms", "--plans=4", "--parallel=1",
		"--", os.Args[0], "-test.run=^TestExploredProgram$", "context:west",
	}, nil, &out, &errs)
	assert.Equal(t, 1, code, "%s%s", &out, &errs)
	assert.Contains(t, errs.String(), "findings: 1")
	assert.Contains(t, out.String(), "configmaps default/run-* in west: 2 exist in the end, 1 in the reference run")
}

func TestExploreUsage(t *testing.T) {
	for args, want := range map[string]string{
		"explore --workload w.yaml":                                                   "no program",
		"explore -- true":                                                             "--workload is missing",
		"explore --workload w.yaml -- /no/such/program":                               "/no/such/program: no such file",
		"explore --workload w.yaml -- " + os.Args[0]:                                  "w.yaml: no such file",
		"explore --workload testdata/tokens.csv -- " + os.Args[0]:                     "fakeapi explore: --workload: testdata/tokens.csv: ",
		"explore --workload w.yaml --shard 9/8 -- " + os.Args[0]:                      "--shard: shard 9/8: a shard is written as 2/8, from 1/8 to 8/8",
		"explore --workload w.yaml --resume -- " + os.Args[0]:                         "--resume and --new-only need --dir",
		"explore --workload w.yaml --real k -- " + os.Args[0]:                         "--real needs --plan",
		"explore --workload w.yaml --real k --plan p --clusters a,b -- " + os.Args[0]: "--real and --clusters exclude each other",
		"explore merge":                                          "no directories",
		"explore merge -o yaml testdata":                         `--output: "yaml" is not one of text, json, junit, html`,
		"explore merge testdata":                                 "testdata: no search has left anything in it",
		"explore --workload w.yaml --controllers nosuch -- true": `"nosuch" is not in the list of known controllers: `,
	} {
		var out, errs bytes.Buffer
		assert.NotZero(t, run(context.Background(), strings.Fields(args), nil, &out, &errs))
		assert.Contains(t, errs.String(), want)
	}
}

func TestSearchError(t *testing.T) {
	other := errors.New("other")
	assert.Equal(t, other, searchError(other, "manager"))
	assert.EqualError(t, searchError(&explore.NoRequestError{Exit: "exit status 1"}, "manager"), "manager makes no request to its server, and has ended: exit status 1")
	assert.ErrorContains(t, searchError(&explore.NoRequestError{}, "manager"), "manager makes no request to its server; {kubeconfig} and {url} in its arguments")
}
