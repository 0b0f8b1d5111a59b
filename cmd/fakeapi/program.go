package main

import (
	"context"
	"io"
	"path/filepath"
	"runtime"
	"strings"
)

// A program is what the executable does under a name.
type program func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// programs are the names under which the executable is in a folder of envtest
// binaries.
var programs = map[string]func(executable string) program{
	"kube-apiserver": newKubeAPIServer,
	"etcd":           func(string) program { return runEtcd },
	"kubectl":        func(string) program { return runKubectl },
}

// programOf returns what an executable does by its path: the program of its name, or
// the command line of fakeapi.
func programOf(executable string) program {
	if p := programs[programName(executable)]; p != nil {
		return p(executable)
	}
	return run
}

// programName returns the name of an executable without the suffix of Windows.
func programName(executable string) string {
	name := filepath.Base(executable)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	}
	return name
}
