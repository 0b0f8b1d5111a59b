package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A module is one whose tests run.
type module struct {
	path, version string
	fakeserver    string            // the folder for the package fakeserver
	replaced      map[string]string // files of the module, by our files in testdata
	root          string            // the folder of the packages with tests
	uses          []module          // those whose sources it is built with
}

var apiextensions = module{
	path: "k8s.io/apiextensions-apiserver", version: "v0." + version,
	fakeserver: "test/fakeserver",
	replaced:   map[string]string{"apiextensions/testserver.go": "pkg/cmd/server/testing/testserver.go"},
	root:       "test/integration",
}

var kubernetes = module{
	path: "k8s.io/kubernetes", version: "v1." + version,
	fakeserver: "test/utils/fakeserver",
	replaced: map[string]string{
		"kubernetes/kube-apiserver.go": "cmd/kube-apiserver/app/testing/testserver.go",
		"kubernetes/framework.go":      "test/integration/framework/test_server.go",
	},
	root: "test/integration",
	uses: []module{apiextensions},
}

var modules = []module{apiextensions, kubernetes}

// folder returns the name of the folder for the sources.
func (m module) folder() string { return filepath.Base(m.path) + "-" + m.version }

// prepare returns a folder with the sources of the module and our files in them.
func (m module) prepare(ctx context.Context, dir string) (string, error) {
	out, err := command(ctx, "go", "mod", "download", "-json", m.path+"@"+m.version).Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", m.path, err)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", err
	}
	source := filepath.Join(dir, m.folder())
	if _, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) {
		if err := copyTree(source, downloaded.Dir); err != nil {
			return "", err
		}
	}
	if err := requireReleased(filepath.Join(source, "go.mod")); err != nil {
		return "", err
	}
	for _, used := range m.uses {
		edit := command(ctx, "go", "mod", "edit", "-replace", used.path+"=../"+used.folder())
		edit.Dir = source
		if out, err := edit.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go mod edit: %w\n%s", err, out)
		}
	}
	if err := copyFile(filepath.Join(source, m.fakeserver, "server.go"), "upstream/testdata/fakeserver/server.go"); err != nil {
		return "", err
	}
	for ours, theirs := range m.replaced {
		if err := copyFile(filepath.Join(source, theirs), filepath.Join("upstream/testdata", ours)); err != nil {
			return "", err
		}
	}
	return source, nil
}

// staging matches what a go.mod file of Kubernetes says about the folders of its repository.
var (
	staging  = regexp.MustCompile(`(?m)^.* => \./staging/.*\n`)
	unset    = regexp.MustCompile(`(?m)^(\tk8s\.io/\S+) v0\.0\.0$`)
	emptySet = regexp.MustCompile(`(?m)^replace \(\n\)\n`)
)

// requireReleased makes a go.mod file require the released modules of Kubernetes instead of
// the folders of its repository.
func requireReleased(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	b = staging.ReplaceAll(b, nil)
	b = emptySet.ReplaceAll(b, nil)
	b = unset.ReplaceAll(b, []byte("$1 v0."+version))
	return os.WriteFile(file, b, 0o644)
}

// run runs the tests of the module.
func (m module) run(ctx context.Context, source string, env []string, packages, tests *regexp.Regexp) ([]result, error) {
	var folders []string
	err := filepath.WalkDir(filepath.Join(source, m.root), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		folder, err := filepath.Rel(source, filepath.Dir(path))
		if err == nil && packages.MatchString(folder) && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var results []result
	for _, folder := range folders {
		r, err := m.runPackage(ctx, source, folder, env, tests)
		if err != nil {
			return nil, err
		}
		results = append(results, r...)
	}
	return results, nil
}

// runPackage runs the tests of a package, each in a process of its own.
func (m module) runPackage(ctx context.Context, source, folder string, env []string, tests *regexp.Regexp) ([]result, error) {
	executable := filepath.Join(source, "bin", folder, filepath.Base(folder)+".test") // tests compare its name
	defer os.Remove(executable)                                                       // it has more than 100 MB
	build := command(ctx, "go", "test", "-vet=off", "-ldflags=-s -w", "-c", "-o", executable, "./"+folder)
	build.Dir = source
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c %s: %w\n%s", folder, err, out)
	}
	if _, err := os.Stat(executable); err != nil {
		return nil, nil // no test has the constraints of this build
	}
	list := command(ctx, executable, "-test.list", ".")
	list.Dir, list.Env = filepath.Join(source, folder), env
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s -test.list: %w", executable, err)
	}

	var results []result
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, "Test") && tests.MatchString(name) {
			results = append(results, result{Module: m.path, Folder: folder, Test: name})
		}
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, *parallel)
	for i := range results {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			results[i].run(ctx, executable, list.Dir, env)
			<-slots
		}()
	}
	wg.Wait()
	return results, ctx.Err()
}

// startPrograms builds the programs kube-apiserver and etcd in a temporary folder, and starts
// etcd. It returns the environment for tests; stop removes the folder.
func startPrograms(ctx context.Context) (env []string, stop func(), err error) {
	bin, err := os.MkdirTemp("", "kubefake-upstream")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(bin)
		}
	}()
	fakeapi := filepath.Join(bin, "fakeapi")
	if out, err := command(ctx, "go", "build", "-C", "..", "-trimpath", "-o", fakeapi, "./cmd/fakeapi").CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	link := func(names ...string) {
		name := filepath.Join(append([]string{bin}, names...)...)
		os.MkdirAll(filepath.Dir(name), 0o755)
		os.Remove(name)
		err = errors.Join(err, os.Link(fakeapi, name))
	}
	link("etcd")
	for minor := 32; minor <= 37; minor++ {
		link(fmt.Sprintf("1.%d.0-local", minor), "kube-apiserver")
	}
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	url := "http://" + l.Addr().String()
	l.Close()
	etcd := command(ctx, filepath.Join(bin, "etcd"), "--listen-client-urls", url)
	if err := etcd.Start(); err != nil {
		return nil, nil, err
	}
	env = append(os.Environ(), "FAKESERVER_BIN="+bin, "KUBE_INTEGRATION_ETCD_URL="+url, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return env, func() {
		etcd.Process.Kill()
		etcd.Wait()
		os.RemoveAll(bin)
	}, nil
}

// command returns a command that ends with ctx.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// copyTree copies a folder of the module cache, whose files are read-only. It leaves out
// what makes it another module: the workspace and vendored packages.
func copyTree(to, from string) error {
	parts := to + ".part"
	if err := os.RemoveAll(parts); err != nil {
		return err
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "vendor" || name == "staging"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(parts, name), 0o755)
		case name == "go.work" || name == "go.work.sum":
			return nil
		}
		return copyFile(filepath.Join(parts, name), path)
	})
	if err != nil {
		return err
	}
	return os.Rename(parts, to)
}

// copyFile copies a file. It does not write one that has the bytes already.
func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if have, err := os.ReadFile(to); err == nil && bytes.Equal(have, b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644) // the module proxy keeps none
	if bytes.HasPrefix(b, []byte("#!")) && !strings.Contains(to, "not-executable") {
		mode = 0o755
	}
	return os.WriteFile(to, b, mode)
}
