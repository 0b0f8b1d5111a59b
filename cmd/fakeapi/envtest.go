package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/release"
)

// markerFile is in each folder of binaries that install writes. It distinguishes them from
// those of setup-envtest.
const markerFile = "fakeapi.txt"

// An envtestCommand holds the flags of the subcommands of envtest.
type envtestCommand struct {
	dir     string
	version string
}

// newEnvtestCommand returns the command envtest.
func newEnvtestCommand() *cobra.Command {
	c := &envtestCommand{}
	cmd := &cobra.Command{
		Use:   "envtest COMMAND",
		Short: "manage binaries for suites that use envtest: kube-apiserver, etcd, kubectl",
		Long: `Envtest manages folders with the executables that suites of controller-runtime's
envtest start: kube-apiserver, etcd and kubectl, each of which is this executable.
The folders have the layout of setup-envtest.`,
		Example: `  eval "$(fakeapi envtest env)"
  go test ./...`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	add := func(name, short string, run func(w io.Writer) error, flags func(flagSet)) {
		sub := &cobra.Command{
			Use: name, Short: short, Args: noArguments,
			RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.OutOrStdout()) },
		}
		setFlags(sub, flagGroup{"Flags", func(fs flagSet) {
			fs.StringVar(&c.dir, "dir", defaultEnvtestDir(), "use the folders in `DIR`/k8s")
			if flags != nil {
				flags(fs)
			}
		}})
		cmd.AddCommand(sub)
	}
	version := func(fs flagSet) {
		fs.StringVar(&c.version, "version", strings.TrimPrefix(release.Default, "v"), "serve the minor release of `VERSION`, such as 1.36.3, which names the folder, or 1.36.x, ~1.36.1 or latest, as with setup-envtest")
	}
	add("install", "write a folder, and print the line that sets KUBEBUILDER_ASSETS", c.install, version)
	add("env", "print the line that sets KUBEBUILDER_ASSETS, and write the folder if there is none", c.env, version)
	add("list", "list the folders", c.list, nil)
	add("cleanup", "remove the folders that install wrote", c.cleanup, nil)
	return cmd
}

// defaultEnvtestDir returns the folder that setup-envtest uses; "" if the environment
// has no home directory.
func defaultEnvtestDir() string {
	var base, name string
	switch home, _ := os.UserHomeDir(); runtime.GOOS {
	case "windows":
		base, name = os.Getenv("LocalAppData"), "kubebuilder-envtest"
	case "darwin":
		base, name = filepath.Join(home, "Library", "Application Support"), "io.kubebuilder.envtest"
	default:
		base, name = os.Getenv("XDG_DATA_HOME"), "kubebuilder-envtest"
		if base == "" && home != "" {
			base = filepath.Join(home, ".local", "share")
		}
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, name)
}

// folder returns the folder of the binaries.
func (c *envtestCommand) folder() (string, error) {
	if c.dir == "" {
		return "", &usageError{errors.New("there is no home directory: --dir is needed")}
	}
	version, err := folderVersion(c.version)
	if err != nil {
		return "", &usageError{fmt.Errorf("--version: %w", err)}
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "k8s", version+"-"+runtime.GOOS+"-"+runtime.GOARCH), nil
}

// versionSelector matches the selectors of setup-envtest that choose a version to use.
var versionSelector = regexp.MustCompile(`^(~?)v?(1\.\d+)(?:\.(\d+|x|\*))?!?$`)

// folderVersion returns the version in the name of the folder that a version or a selector
// of setup-envtest chooses. 1.36.1 is itself, because every patch release of a minor release
// is served by the same data. 1.36, 1.36.x and 1.36.* are the patch release of the data,
// ~1.36.1 is the newer one of the two, and latest is the newest release. A ! at the end, with
// which setup-envtest looks for newer downloads, has no effect.
func folderVersion(selector string) (string, error) {
	if selector == "latest" {
		return strings.TrimPrefix(release.Newest, "v"), nil
	}
	m := versionSelector.FindStringSubmatch(selector)
	if m == nil {
		return "", fmt.Errorf("%q is not a version, such as 1.36.3, nor a selector, such as 1.36.x, ~1.36.1 or latest", selector)
	}
	tilde, minor, patch := m[1], m[2], m[3]
	r, err := release.Open("v" + minor)
	if err != nil {
		return "", err
	}
	served := strings.TrimPrefix(r.Version(), "v")
	asked, err := strconv.Atoi(patch)
	if err != nil { // it has no patch release
		return served, nil
	}
	own, err := strconv.Atoi(strings.TrimPrefix(served, minor+"."))
	if err == nil && tilde != "" && asked <= own {
		return served, nil
	}
	return minor + "." + patch, nil
}

// install writes the folder.
func (c *envtestCommand) install(w io.Writer) error {
	dir, err := c.folder()
	if err != nil {
		return err
	}
	if err := installBinaries(dir); err != nil {
		return err
	}
	return printAssets(w, dir)
}

// env prints the variable for the folder, which it writes if there is none.
func (c *envtestCommand) env(w io.Writer) error {
	dir, err := c.folder()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, markerFile)); err != nil {
		return c.install(w)
	}
	return printAssets(w, dir)
}

// printAssets prints the command of a shell that sets KUBEBUILDER_ASSETS.
func printAssets(w io.Writer, dir string) error {
	form := "export KUBEBUILDER_ASSETS='%s'\n"
	dir = strings.ReplaceAll(dir, "'", `'\''`)
	if runtime.GOOS == "windows" {
		form = "$Env:KUBEBUILDER_ASSETS = '%s'\n"
	}
	_, err := fmt.Fprintf(w, form, dir)
	return err
}

// installBinaries writes the binaries to a folder. It does not replace binaries of
// others.
func installBinaries(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, markerFile)); errors.Is(err, fs.ErrNotExist) {
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			return fmt.Errorf("%s has binaries that fakeapi did not install; --dir names another folder", dir)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	note := "The executables in this folder are fakeapi " + programVersion() + ". \"fakeapi envtest cleanup\" removes them.\n"
	if err := outputfile.WriteText(filepath.Join(dir, markerFile), []byte(note), 0o644); err != nil {
		return err
	}
	for name := range programs {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := linkOrCopy(self, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// linkOrCopy makes to a hard link of from, or a copy on another file system.
func linkOrCopy(from, to string) error {
	temporary := to + ".new"
	os.Remove(temporary)
	if os.Link(from, temporary) == nil {
		return os.Rename(temporary, to)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return outputfile.WriteText(to, text, 0o755)
}

// list lists the folders.
func (c *envtestCommand) list(w io.Writer) error {
	for dir, own := range c.folders() {
		kind := "setup-envtest"
		if own {
			kind = "fakeapi"
		}
		if _, err := fmt.Fprintf(w, "%-14s %s\n", kind, dir); err != nil {
			return err
		}
	}
	return nil
}

// cleanup removes the folders that install wrote.
func (c *envtestCommand) cleanup(w io.Writer) error {
	for dir, own := range c.folders() {
		if !own {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		fmt.Fprintln(w, "removed", dir)
	}
	return nil
}

// folders returns the folders in the order of their names, and whether install wrote
// them.
func (c *envtestCommand) folders() func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		dirs, _ := filepath.Glob(filepath.Join(c.dir, "k8s", "*"))
		slices.Sort(dirs)
		for _, dir := range dirs {
			if !folder.MatchString(filepath.Base(dir)) {
				continue
			}
			_, err := os.Stat(filepath.Join(dir, markerFile))
			if !yield(dir, err == nil) {
				return
			}
		}
	}
}
