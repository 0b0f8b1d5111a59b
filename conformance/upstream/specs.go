package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// specsFolder is the folder of the end-to-end tests, whose specs are run by -specs.
const specsFolder = "test/e2e"

// needPods matches the specs that need Pods whose programs run: webhooks, converters and an
// aggregated API server. The kubelet of fakeapi runs no programs.
const needPods = `AdmissionWebhook \[|CustomResourceConversionWebhook|CustomResourceFieldSelectors|Aggregator`

// node is the only Node. The kubelet of fakeapi keeps it ready, and runs Pods by saying so.
const node = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node"},"status":{"capacity":{"cpu":"8","memory":"16Gi","pods":"110"}}}`

// runSpecs runs the specs of e2e.test that match an expression, unchanged, against the program
// fakeapi with its scheduler and kubelet, and a stock kube-controller-manager of the release.
func (m module) runSpecs(ctx context.Context, source, focus string) ([]result, error) {
	bin := filepath.Join(source, "bin", "e2e")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	if err := buildSpecs(ctx, source, bin); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubefake-upstream")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	stop, err := startCluster(ctx, dir, bin)
	if err != nil {
		return nil, err
	}
	defer stop()

	report := filepath.Join(dir, "report.json")
	cmd := command(ctx, filepath.Join(bin, testsProgram), "--kubeconfig", filepath.Join(dir, kubeconfig), "--kubectl-path", filepath.Join(bin, kubectlProgram),
		"--provider=local", "--num-nodes=1", "--minStartupPods=-1", "--dump-logs-on-failure=false",
		"--ginkgo.focus", focus, "--ginkgo.skip", needPods, "--ginkgo.json-report", report, "--ginkgo.v")
	log, err := os.Create(filepath.Join(bin, "e2e.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(source, specsFolder), log, log
	if failure := cmd.Run(); failure != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	} // that specs fail is in the report
	b, err := os.ReadFile(report)
	if err != nil {
		return nil, fmt.Errorf("%w; see %s", err, log.Name())
	}
	return m.specResults(b)
}

// The programs of Kubernetes that specs need, and the file with the credentials of the cluster.
const (
	managerProgram = "kube-controller-manager"
	kubectlProgram = "kubectl"
	testsProgram   = "e2e.test"
	kubeconfig     = "kubeconfig"
)

// buildSpecs builds the programs that are not in the folder bin yet.
func buildSpecs(ctx context.Context, source, bin string) error {
	for program, args := range map[string][]string{
		managerProgram: {"build", "./cmd/kube-controller-manager"},
		kubectlProgram: {"build", "./cmd/kubectl"},
		testsProgram:   {"test", "-vet=off", "-c", "./" + specsFolder},
	} {
		executable := filepath.Join(bin, program)
		if _, err := os.Stat(executable); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		build := command(ctx, "go", slices.Insert(args, len(args)-1, "-ldflags=-s -w", "-o", executable)...)
		build.Dir = source
		build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", executable, err, out)
		}
	}
	return nil
}

// startCluster builds the program fakeapi, and starts it and kube-controller-manager. stop ends
// them.
func startCluster(ctx context.Context, dir, bin string) (stop func(), err error) {
	fakeapi, objects, credentials := filepath.Join(dir, "fakeapi"), filepath.Join(dir, "node.json"), filepath.Join(dir, kubeconfig)
	if out, err := command(ctx, "go", "build", "-C", "..", "-o", fakeapi, "./cmd/fakeapi").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := os.WriteFile(objects, []byte(node), 0o644); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var waits []func()
	end := func() {
		cancel()
		for _, wait := range waits {
			wait()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	start := func(cmd *exec.Cmd) error {
		wait, err := startLogged(cmd, filepath.Join(bin, filepath.Base(cmd.Path)+".log"))
		if err == nil {
			waits = append(waits, wait)
		}
		return err
	}

	server := command(ctx, fakeapi, "serve", "--tls", "--cert-dir", dir, "--kubeconfig", credentials, "--listen", "127.0.0.1:0", "--quiet", "--release", "v1."+version,
		"--controllers=scheduler,kubelet", "--objects", objects,
		"--compact-every=1m", "--compact-keep=1m") // kube-apiserver compacts every five minutes, and a spec waits for it
	url, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := start(server); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(url, make([]byte, 1)); err != nil { // it serves once it prints the URL
		return nil, fmt.Errorf("fakeapi serve: %w", err)
	}
	return end, start(command(ctx, filepath.Join(bin, managerProgram), "--kubeconfig", credentials, "--use-service-account-credentials",
		"--kube-api-qps=500", "--kube-api-burst=500", "--root-ca-file", filepath.Join(dir, "apiserver.crt"), "--secure-port=0"))
}

// startLogged starts a program that writes to a file. wait waits until it has ended.
func startLogged(cmd *exec.Cmd, file string) (wait func(), err error) {
	log, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = log
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	if err := cmd.Start(); err != nil {
		log.Close()
		return nil, err
	}
	return func() {
		cmd.Wait()
		log.Close()
	}, nil
}

// specResults returns the results in a report of Ginkgo in JSON. It leaves out the specs that
// were not to run.
func (m module) specResults(report []byte) ([]result, error) {
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts    []string
			LeafNodeType, LeafNodeText string
			State                      string
			RunTime                    time.Duration
		}
	}
	if err := json.NewDecoder(bytes.NewReader(report)).Decode(&suites); err != nil {
		return nil, err
	}
	var results []result
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			name := strings.Join(append(slices.Clone(spec.ContainerHierarchyTexts), spec.LeafNodeText), " ")
			r := result{Module: m.path, Folder: specsFolder, Test: name}
			switch {
			case spec.LeafNodeType != "It":
				if spec.State == "failed" {
					return nil, fmt.Errorf("%s of the suite failed", spec.LeafNodeType)
				}
				continue
			case spec.State == "passed":
				r.Outcome = passed
			case spec.State == "skipped" && spec.RunTime == 0, spec.State == "pending":
				continue
			case spec.State == "skipped":
				r.Outcome = skipped
			}
			r.print(spec.RunTime)
			results = append(results, r)
		}
	}
	return results, nil
}
