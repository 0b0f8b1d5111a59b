package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// helper is a file of the suite, of a package. The manager is the user of MANAGER_USER; the tests
// stay administrators. A test that has the client of the manager reads from its cache still, because
// it relies on seeing what the manager sees, and writes as an administrator.
const helper = `package %s

import (
	"context"
	"os"

	operatorrest "k8s.io/client-go/rest"
	operatorclient "sigs.k8s.io/controller-runtime/pkg/client"
)

func asManager(cfg *operatorrest.Config) *operatorrest.Config {
	cfg = operatorrest.CopyConfig(cfg)
	cfg.Impersonate.UserName = os.Getenv("MANAGER_USER")
	return cfg
}

type testClient struct {
	operatorclient.Client
	manager operatorclient.Client
}

func (c testClient) Get(ctx context.Context, key operatorclient.ObjectKey, obj operatorclient.Object, opts ...operatorclient.GetOption) error {
	return c.manager.Get(ctx, key, obj, opts...)
}

func (c testClient) List(ctx context.Context, list operatorclient.ObjectList, opts ...operatorclient.ListOption) error {
	return c.manager.List(ctx, list, opts...)
}

func asTest(cfg *operatorrest.Config, manager operatorclient.Client) operatorclient.Client {
	c, err := operatorclient.New(cfg, operatorclient.Options{})
	if err != nil {
		panic(err)
	}
	return testClient{c, manager}
}
`

// A suite is a compiled suite of an operator.
type suite struct {
	operator *operator
	folder   string // of the package
	program  string
	assets   string // the folder of kube-apiserver and etcd
	work     string
}

// clone clones the version of an operator into a folder, if that does not exist.
func (o *operator) clone(ctx context.Context, folder string) error {
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	return command(ctx, "", "git", "clone", "--quiet", "--depth", "1", "--branch", o.version, o.repository, folder).Run()
}

// compile compiles the suite. The files in folder stay as they are: the compiler reads changed
// copies, in the folder work, in their place.
func (s *suite) compile(ctx context.Context) error {
	changed := map[string]string{}
	files, err := filepath.Glob(filepath.Join(s.folder, "*_test.go"))
	if err != nil {
		return err
	}
	count := make([]int, 2)
	name := ""
	for _, file := range files {
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := string(before)
		for i, list := range [][]replacement{s.operator.manager, s.operator.tests} {
			for _, r := range list {
				pattern := regexp.MustCompile(r.pattern)
				count[i] += len(pattern.FindAllString(text, -1))
				text = pattern.ReplaceAllString(text, r.by)
			}
		}
		if text == string(before) {
			continue
		}
		name = packageClause.FindStringSubmatch(text)[1]
		copied := filepath.Join(s.work, filepath.Base(file))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return err
		}
		changed[file] = copied
	}
	if count[0] == 0 || len(s.operator.tests) > 0 && count[1] == 0 {
		return errors.New("the suite has nothing to replace")
	}
	copied := filepath.Join(s.work, "helper.go")
	if err := os.WriteFile(copied, fmt.Appendf(nil, helper, name), 0o600); err != nil {
		return err
	}
	changed[filepath.Join(s.folder, "kubefake_manager_test.go")] = copied
	overlay, err := json.Marshal(map[string]any{"Replace": changed})
	if err != nil {
		return err
	}
	overlayFile := filepath.Join(s.work, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		return err
	}
	return command(ctx, s.folder, "go", "test", "-vet=off", "-overlay", overlayFile, "-c", "-o", s.program, ".").Run()
}

var packageClause = regexp.MustCompile(`(?m)^package (\w+)`)

// A result is what a run of a suite has ended with.
type result struct {
	passed int
	failed []string
}

// run runs the suite with objects that exist from the start. What was asked is in the folder usage.
func (s *suite) run(ctx context.Context, objects, usage string) (*result, error) {
	report := usage + ".json"
	test := command(ctx, s.folder, s.program, "-test.timeout", "30m", "-ginkgo.json-report", report)
	test.Env = append(os.Environ(),
		"KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=2m", "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=2m",
		"KUBEBUILDER_ASSETS="+s.assets, "MANAGER_USER="+s.operator.account,
		"FAKEAPI_USAGE_DIR="+usage, "FAKEAPI_FLAGS=--create-namespaces --objects "+objects)
	output, err := test.CombinedOutput()
	if err := os.WriteFile(usage+".log", output, 0o600); err != nil {
		return nil, err
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, fmt.Errorf("the suite has no report: %w\n%s", err, output)
	}
	return parseReport(text)
}

// parseReport reads a JSON report of Ginkgo.
func parseReport(text []byte) (*result, error) {
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts           []string
			LeafNodeType, LeafNodeText, State string
		}
	}
	if err := json.Unmarshal(text, &suites); err != nil {
		return nil, err
	}
	out := &result{}
	for _, one := range suites {
		for _, spec := range one.SpecReports {
			switch spec.State {
			case "passed":
				if spec.LeafNodeType == "It" {
					out.passed++
				}
			case "pending", "skipped":
			default:
				name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
				if spec.LeafNodeType != "It" {
					name = strings.TrimSpace(spec.LeafNodeType + " " + name)
				}
				out.failed = append(out.failed, name)
			}
		}
	}
	return out, nil
}

// command returns a command whose errors are seen.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if name == "git" || name == "go" {
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	}
	return cmd
}
