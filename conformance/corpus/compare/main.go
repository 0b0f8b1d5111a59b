// Command compare writes what the recordings of a release differ in from the corpus:
//
//	go run ./corpus/compare -release v1.32.13 -recordings DIR
//
// DIR has the scenarios of testdata/corpus in the same form, recorded from a
// kube-apiserver of the release. The file is testdata/releases/RELEASE.yaml.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/kubefake/kubefake/conformance/corpus"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("compare: ")
	release := flag.String("release", "", "the `VERSION` that answered, such as v1.32.13")
	recordings := flag.String("recordings", "", "the `DIR` with its recordings")
	flag.Parse()
	if *release == "" || *recordings == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*release, *recordings); err != nil {
		log.Fatal(err)
	}
}

func run(release, recordings string) error {
	base, err := corpus.Read("testdata/corpus")
	if err != nil {
		return err
	}
	recorded, err := corpus.Read(recordings)
	if err != nil {
		return err
	}
	d, err := corpus.Compare(base, recorded, release)
	if err != nil {
		return err
	}
	text, err := d.Format()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d scenarios differ, %d are not recorded\n", release, len(d.Answers), len(d.Without))
	return os.WriteFile(filepath.Join("testdata", "releases", release+".yaml"), text, 0o644)
}
