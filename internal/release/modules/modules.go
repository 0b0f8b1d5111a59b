// Package modules finds the Go modules of a Kubernetes release.
package modules

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Staging returns the version of k8s.io/api and its siblings that goes with a release.
func Staging(version string) string { return "v0" + strings.TrimPrefix(version, "v1") }

// Go runs the go command in a folder without a workspace, and returns what it prints.
func Go(ctx context.Context, dir string, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	var message bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &message
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, &message)
	}
	return out, nil
}

// Dirs returns the folders of modules at versions, such as k8s.io/api@v0.36.3, by their paths. Each
// module has one version. It downloads those that are not in the module cache.
func Dirs(ctx context.Context, modules ...string) (map[string]string, error) {
	out, err := Go(ctx, "", append([]string{"mod", "download", "-json"}, modules...)...)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var module struct{ Path, Dir string }
		if err := d.Decode(&module); err != nil {
			return nil, err
		}
		dirs[module.Path] = module.Dir
	}
	return dirs, nil
}
