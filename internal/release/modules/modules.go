// Package modules finds the Go modules of a Kubernetes release.
package modules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Staging returns the version of k8s.io/api and its siblings that goes with a release.
func Staging(version string) string { return "v0" + strings.TrimPrefix(version, "v1") }

// Minor returns the minor number of a version: 38 for "v1.38.0-rc.0".
func Minor(version string) int {
	_, rest, _ := strings.Cut(version, ".")
	number, _, _ := strings.Cut(rest, ".")
	n, _ := strconv.Atoi(number)
	return n
}

// Types returns the modules with the Go types of a release's kinds. Those of custom resource
// definitions have a module of their own since v1.38.
func Types(version string) []string {
	return []string{"k8s.io/api", Extensions(version), "k8s.io/apimachinery", "k8s.io/kube-aggregator"}
}

// firstExtensions is the minor number of the first release with k8s.io/apiextensions-api.
const firstExtensions = 38

// ExtensionsServer is the module that serves custom resources. It names their Go types, too.
const ExtensionsServer = "k8s.io/apiextensions-apiserver"

// Extensions returns the module with the Go types of custom resource definitions.
func Extensions(version string) string {
	if Minor(version) < firstExtensions {
		return ExtensionsServer
	}
	return "k8s.io/apiextensions-api"
}

// Environment returns the environment of go commands: without a workspace, and with the toolchain
// that a module asks for, which go downloads. A release may need a newer Go than the one before.
func Environment() []string {
	env := append(os.Environ(), "GOWORK=off")
	if os.Getenv("GOTOOLCHAIN") == "" {
		env = append(env, "GOTOOLCHAIN=auto")
	}
	return env
}

// Go runs the go command in a folder, and returns what it prints.
func Go(ctx context.Context, dir string, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	var message bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &message, Environment()
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s: %w\n%s", cmd, err, &message)
	}
	return out, nil
}

// Dirs returns the folders of modules at versions, such as k8s.io/api@v0.36.3, by their paths. Each
// module has one version. It downloads those that are not in the module cache.
func Dirs(ctx context.Context, modules ...string) (map[string]string, error) {
	out, err := Go(ctx, "", append([]string{"mod", "download", "-json"}, modules...)...)
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var module struct{ Path, Dir, Error string }
		if err := d.Decode(&module); err != nil {
			return nil, err
		}
		if module.Error != "" {
			return nil, errors.New(module.Error)
		}
		dirs[module.Path] = module.Dir
	}
	return dirs, err
}
