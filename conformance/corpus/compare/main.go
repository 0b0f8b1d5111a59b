// Command compare writes what the recordings of a release differ in from the corpus:
//
//	go run ./corpus/compare -release v1.32.13 -recordings DIR
//
// DIR has the scenarios of testdata/corpus in the same form, recorded from a
// kube-apiserver of the release. The file is testdata/releases/RELEASE.yaml.
//
// A new default release becomes the one of the corpus, and the others differ from it:
//
//	go run ./corpus/compare -default v1.37.2
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
	byDefault := flag.String("default", "", "the `VERSION` in testdata/releases that becomes the one of the corpus")
	flag.Parse()
	var err error
	switch {
	case flag.NArg() == 0 && *byDefault != "" && *release == "" && *recordings == "":
		err = rebase(*byDefault)
	case flag.NArg() == 0 && *byDefault == "" && *release != "" && *recordings != "":
		err = run(*release, *recordings)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// rebase makes a release the one of the corpus.
func rebase(release string) error {
	base, err := corpus.Read("testdata/corpus")
	if err != nil {
		return err
	}
	files, err := filepath.Glob("testdata/releases/*.yaml")
	if err != nil {
		return err
	}
	var chosen *corpus.Differences
	var all []*corpus.Differences
	for _, file := range files {
		d, err := corpus.Load(file)
		if err != nil {
			return err
		}
		if all = append(all, d); d.Release == release {
			chosen = d
		}
	}
	if chosen == nil {
		return fmt.Errorf("no %s", fileOf(release))
	}
	fresh, others, err := corpus.Rebase(base, chosen, all)
	if err != nil {
		return err
	}
	for _, d := range others {
		if err := write(d); err != nil {
			return err
		}
	}
	if err := corpus.Write(fresh); err != nil {
		return err
	}
	return os.Remove(fileOf(release))
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
	return write(d)
}

func fileOf(release string) string { return filepath.Join("testdata", "releases", release+".yaml") }

// write writes the differences of a release.
func write(d *corpus.Differences) error {
	text, err := d.Format()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d scenarios differ, %d are not recorded\n", d.Release, len(d.Answers), len(d.Without))
	return os.WriteFile(fileOf(d.Release), text, 0o644)
}
