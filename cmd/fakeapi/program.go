package main

import (
	"context"
	"fmt"
	"io"
	"os"
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

// failureOutput returns where a program writes why it fails: to stderr, or if that is the null
// device, as it is in a suite that envtest runs, to the standard error of the process that has
// started the program, which is the test. Only Linux has a name for that.
func failureOutput(stderr io.Writer) io.Writer {
	own, ok := stderr.(*os.File)
	if !ok || !isNullDevice(own) {
		return stderr
	}
	parent, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", os.Getppid()), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return stderr
	}
	return parent // the process ends, which closes it
}

func isNullDevice(f *os.File) bool {
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err == nil && nullErr == nil && os.SameFile(info, null)
}
