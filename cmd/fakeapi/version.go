package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/internal/release"
)

// newVersionCommand returns the command version.
func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of fakeapi and the supported Kubernetes releases",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "fakeapi %s\n\nreleases:\n", programVersion())
			for _, name := range release.Names() {
				if name == release.Default {
					name += " (default)"
				}
				fmt.Fprintf(w, "  %s\n", name)
			}
			return nil
		},
	}
}

// version is the version of a release; the linker sets it.
var version string

// programVersion returns the version of the module that the program was built from.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
