package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newCompletionCommand returns the command completion.
func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print a script that completes commands and flags in a shell",
		Long: `Completion prints a script that completes commands and flags in a shell.
Put the line of your shell into its startup file:

  source <(fakeapi completion bash)
  source <(fakeapi completion zsh)
  fakeapi completion fish | source
  fakeapi completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{fmt.Errorf("expected one shell (bash, zsh, fish or powershell), got %d", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, w := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(w, true)
			case "zsh":
				return root.GenZshCompletion(w)
			case "fish":
				return root.GenFishCompletion(w, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(w)
			}
			return &usageError{fmt.Errorf("unknown shell %q: there are bash, zsh, fish and powershell", args[0])}
		},
	}
}
