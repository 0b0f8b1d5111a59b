package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// runKubectl runs the kubectl on PATH, which is not this executable. The folder of
// envtest binaries has one of that name, because suites expect it.
func runKubectl(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	path, err := findKubectl()
	if err != nil {
		fmt.Fprintln(stderr, "kubectl:", err)
		return 1
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(stderr, "kubectl:", err)
		return 1
	}
	return 0
}

// findKubectl returns the first kubectl on PATH that is another executable.
func findKubectl() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	own, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path, err := exec.LookPath(filepath.Join(dir, "kubectl"))
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && !os.SameFile(own, info) {
			return path, nil
		}
	}
	return "", errors.New("fakeapi has no kubectl of its own, and there is none on PATH: see https://kubernetes.io/docs/tasks/tools/")
}
