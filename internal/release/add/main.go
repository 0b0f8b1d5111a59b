// Command add adds a Kubernetes release, or records one again. From the root of the repository:
//
//	go run ./internal/release/add v1.38.0
//	go run ./internal/release/add -kube-apiserver PATH -etcd PATH v1.38.0-rc.0
//	go run ./internal/release/add -default v1.38.0
//	go run ./internal/release/add -drop v1.32.13
//
// It takes these steps, all of them or those of -steps:
//
//	types   the constant Newest, the requirements and the packages of internal/release/gen, for a
//	        release that is newer than the newest one; the Go types of one that is not
//	data    the recordings of three servers, with default flags, with all API versions and with
//	        all feature gates, and the data that is generated from them
//	flags   the flags of kube-apiserver
//	corpus  the scenarios of the corpus as the release answers them
//	docs    the tables in the documentation
//	play    plays the scenarios, and notes for the report which fail
//	report  docs/release-report-v1.38.md: what changed, and what is left to do by hand
//
// Without paths it builds kube-apiserver and etcd from the Go module proxy, in the user's cache.
// Another patch release, or a pre-release, of the same minor release is replaced.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/release/controlplane"
	"github.com/kubefake/kubefake/internal/release/modules"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("add: ")
	a := &adder{}
	flag.StringVar(&a.programs.APIServer, "kube-apiserver", os.Getenv("KUBE_APISERVER"), "`PATH` of the kube-apiserver of the release; the default is KUBE_APISERVER in the environment")
	flag.StringVar(&a.programs.Etcd, "etcd", os.Getenv("ETCD"), "`PATH` of its etcd; the default is ETCD in the environment")
	names := flag.String("steps", strings.Join(stepNames(), ","), "the `STEPS` to take")
	byDefault := flag.Bool("default", false, "make a release that has data the default one instead")
	drop := flag.Bool("drop", false, "remove a release instead")
	flag.Parse()
	a.version = flag.Arg(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case flag.NArg() != 1 || !versionPattern.MatchString(a.version) || (a.programs.APIServer == "") != (a.programs.Etcd == ""):
		flag.Usage()
		os.Exit(2)
	case *drop:
		err = a.drop(ctx)
	case *byDefault:
		err = a.setDefault(ctx)
	default:
		err = a.run(ctx, strings.Split(*names, ","))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// versionPattern matches a release or a pre-release.
var versionPattern = regexp.MustCompile(`^v1\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

// An adder adds the release of a version. Its paths are those from the root of the repository,
// which is the working directory.
type adder struct {
	version  string
	programs controlplane.Executables // empty until they are needed, unless flags name them
}

// A step is a part of the work.
type step struct {
	name string
	do   func(*adder, context.Context) error
}

var steps = []step{
	{"types", (*adder).addTypes},
	{"data", (*adder).recordData},
	{"flags", (*adder).listFlags},
	{"corpus", (*adder).recordCorpus},
	{"docs", (*adder).writeTables},
	{"play", (*adder).play},
	{"report", (*adder).report},
}

func stepNames() (names []string) {
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

// run takes the steps of the given names.
func (a *adder) run(ctx context.Context, names []string) error {
	for _, name := range names {
		if !slices.Contains(stepNames(), name) {
			return fmt.Errorf("no step %q: there are %s", name, strings.Join(stepNames(), ", "))
		}
	}
	for _, s := range steps {
		if !slices.Contains(names, s.name) {
			continue
		}
		fmt.Printf("== %s\n", s.name)
		begin := time.Now()
		if err := s.do(a, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("   %s took %s\n", s.name, time.Since(begin).Round(time.Second))
	}
	return nil
}

// executables returns the programs of the release, which it builds unless flags name them.
func (a *adder) executables(ctx context.Context) (controlplane.Executables, error) {
	if a.programs.APIServer == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return a.programs, err
		}
		if a.programs, err = controlplane.Build(ctx, filepath.Join(cache, "kubefake-controlplane"), a.version); err != nil {
			return a.programs, err
		}
	}
	version, err := a.programs.Version(ctx)
	if err == nil && version != a.version {
		err = fmt.Errorf("%s is %s, not %s", a.programs.APIServer, version, a.version)
	}
	var absolute controlplane.Executables
	if err == nil {
		absolute.APIServer, err = filepath.Abs(a.programs.APIServer)
	}
	if err == nil {
		absolute.Etcd, err = filepath.Abs(a.programs.Etcd)
	}
	return absolute, err
}

// command runs a command in a folder, without a workspace. Its output is that of this program.
func command(ctx context.Context, dir, name string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	cmd.Env = modules.Environment()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s in %s: %w", strings.Join(cmd.Args, " "), dir, err)
	}
	return nil
}
