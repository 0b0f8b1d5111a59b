// Command upstream runs integration tests of Kubernetes against this server, unchanged: those
// of k8s.io/kubernetes and of k8s.io/apiextensions-apiserver, as they are in the Go module
// proxy. Only the functions that start a kube-apiserver in the process of a test are replaced,
// by the files in testdata, which start the program kube-apiserver of this project.
//
//	go run ./upstream                                        # all packages, hours
//	go run ./upstream -packages 'apiserver/apply$' -run TestApply
//	go run ./upstream -packages 'integration/auth$' -table ../docs/upstream-tests.md
//
// The last one also replaces the rows of its packages in the page; those of others stay.
//
//	go run ./upstream -specs '\[sig-api-machinery\].*\[Conformance\]' -table ../docs/upstream-tests.md
//
// runs specs of e2e.test instead, with fakeapi serve and a stock kube-controller-manager, and
// replaces all specs in the page. Those whose Pods must run a program are left out.
//
// Each test runs in a process of its own. Its output is in the folder bin of the module's
// sources, that of the specs in bin/e2e. The exit status is 1 if a test fails that
// reasons.txt does not list, or passes that it lists, except for those that fail at times.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

// version is the release whose tests run; that of the modules beside k8s.io/kubernetes has
// the major version 0.
const version = "37.2"

var (
	dir      = flag.String("dir", "", "the folder for sources and executables; they are kept for the next run (default: in the user's cache)")
	packages = flag.String("packages", ".", "run the packages that match this expression")
	run      = flag.String("run", ".", "run the tests that match this expression")
	parallel = flag.Int("parallel", 2, "run so many tests at a time")
	timeout  = flag.Duration("timeout", 10*time.Minute, "end a test after this time")
	specs    = flag.String("specs", "", "run the specs of e2e.test that match this expression, instead of tests")
	table    = flag.String("table", "", "replace the rows of the packages of this run in this file, in Markdown; not with -run")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := runAll(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if !ok {
		os.Exit(1)
	}
}

func runAll(ctx context.Context) (ok bool, err error) {
	if *dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return false, err
		}
		*dir = filepath.Join(cache, "kubefake-upstream")
	}
	packagesRE, err := regexp.Compile(*packages)
	if err != nil {
		return false, err
	}
	runRE, err := regexp.Compile(*run)
	if err != nil {
		return false, err
	}
	reasons, err := readReasons("upstream/reasons.txt")
	if err != nil {
		return false, err
	}
	if *table != "" && *run != "." {
		return false, errors.New("-table needs all tests of a package, so that there is no -run")
	}
	results, err := runModules(ctx, packagesRE, runRE)
	if err != nil {
		return false, err
	}
	ok = true
	for _, r := range results {
		why, listed := reasons[r.name()]
		switch {
		case r.Outcome == failed && !listed:
			ok = false
			fmt.Printf("%s fails, and reasons.txt does not list it\n", r.name())
		case r.Outcome == passed && listed && !why.atTimes:
			ok = false
			fmt.Printf("%s passes, and reasons.txt lists it\n", r.name())
		}
	}
	if *table == "" {
		return ok, nil
	}
	p, err := readPage(*table)
	if err != nil {
		return false, err
	}
	p.replace(results)
	return ok, p.write(*table, reasons)
}

// runModules runs the tests of all modules, or the specs of -specs.
func runModules(ctx context.Context, packages, tests *regexp.Regexp) ([]result, error) {
	var env []string
	if *specs == "" {
		started, stop, err := startPrograms(ctx)
		if err != nil {
			return nil, err
		}
		defer stop()
		env = started
	}
	var results []result
	for _, m := range modules {
		source, err := m.prepare(ctx, *dir)
		if err != nil {
			return nil, err
		}
		var r []result
		switch {
		case *specs == "":
			r, err = m.run(ctx, source, env, packages, tests)
		case m.path == kubernetes.path:
			r, err = m.runSpecs(ctx, source, *specs)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, r...)
	}
	return results, nil
}
