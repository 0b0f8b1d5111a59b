package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/kubefake/kubefake/internal/release"
)

// version prints the version of the program and the releases that it supports.
func version(_ context.Context, args []string, stdout io.Writer) error {
	flags := &flagSet{synopsis: "fakeapi version"}
	if help, err := flags.parse(args, stdout); help || err != nil {
		return err
	}
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	fmt.Fprintf(stdout, "fakeapi %s\n\nreleases:\n", v)
	for _, name := range release.Names() {
		if name == release.Default {
			name += " (default)"
		}
		fmt.Fprintf(stdout, "  %s\n", name)
	}
	return nil
}
