// Command gen writes the files of package internal/release/data. It generates
// them from the recordings in the folder recordings, from the Go types of this
// module's requirements, and from the source of k8s.io/kubernetes. Run it after
// changing any of these, until it reports no changes:
//
//	go -C internal/release/gen run .
//
// With -server it records a running kube-apiserver first. Each of these records another
// part, so a new release takes three runs:
//
//	-server URL -token TOKEN                 the API surface of a server with default flags
//	-server URL -token TOKEN -variant all    the API surface and the bootstrap objects of
//	                                         a fresh server with --runtime-config=api/all=true
//	-server URL -token TOKEN -variant gates  the table columns of a server that has
//	                                         --feature-gates=AllAlpha=true,AllBeta=true too,
//	                                         and the API versions that only it serves
//
// Of a release before v1.36 only the first two are recorded, and the second records the
// bootstrap objects and the table columns.
//
// The user of the token must be in the group system:masters. For a release that
// is newer than release.Newest, first change that constant, the versions in go.mod, and the
// packages in scheme: the command internal/release/add does all of this.
package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/controlplane"
	"github.com/kubefake/kubefake/internal/release/modules"
)

// The folders, from the one of this module.
const (
	recordingsDir = "recordings"
	dataDir       = "../data"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	s := &server{client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	flag.StringVar(&s.url, "server", "", "record the kube-apiserver at this `URL`")
	flag.StringVar(&s.token, "token", "", "bearer `TOKEN` of an administrator")
	variant := flag.String("variant", "", "`VARIANT` of the server's flags: all or gates; empty for the defaults")
	sources := flag.Bool("sources", false, "read the feature gates and the internal Go types of the recorded releases from their sources again")
	types := flag.String("types", "", "only record the Go types of `VERSION`, which this program is built with")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *types != "" {
		if err := recordTypes(*types); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *sources {
		if err := recordSources(recordingsDir); err != nil {
			log.Fatal(err)
		}
	}
	if err := run(s, *variant); err != nil {
		log.Fatal(err)
	}
}

// run records the server, if it has a URL, and generates the data.
func run(s *server, variant string) error {
	if err := checkRequirements(release.Newest); err != nil {
		return err
	}
	documents, err := readDocuments(os.DirFS(recordingsDir), os.DirFS(dataDir))
	if err != nil {
		return err
	}
	if s.url != "" {
		if err := record(s, variant, documents); err != nil {
			return err
		}
		if err := keepDocuments(documents); err != nil {
			return err
		}
	}
	missing, err := missingRecordings(os.DirFS(recordingsDir))
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		fmt.Println("not generated: record", strings.Join(missing, " and "), "too")
		return nil
	}
	if err := recordTypes(release.Newest); err != nil {
		return err
	}
	files, err := generate(os.DirFS(recordingsDir), documents)
	if err != nil {
		return err
	}
	changed, err := replaceFiles(dataDir, files)
	for _, name := range changed {
		fmt.Println("changed", name)
	}
	if err == nil && len(changed) > 0 {
		fmt.Println("run gen again: it reads some of these files itself")
	}
	return err
}

// recordTypes writes the Go types that this program is built with, those of a release.
func recordTypes(version string) error {
	if err := checkRequirements(version); err != nil {
		return err
	}
	types, err := recordedTypes(version)
	if err != nil {
		return err
	}
	_, err = replaceFiles(filepath.Join(recordingsDir, version), types)
	return err
}

// record records a server into the folder of recordings, and adds its OpenAPI
// documents to documents.
func record(s *server, variant string, documents map[string][]byte) error {
	rec, err := s.record(variant)
	if err != nil {
		return err
	}
	maps.Copy(documents, rec.documents)
	dir := filepath.Join(recordingsDir, rec.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range rec.files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	fmt.Println("recorded", rec.name)
	return nil
}

// keepDocuments writes the OpenAPI documents of all recordings, which are in the data only.
func keepDocuments(documents map[string][]byte) error {
	openAPI, described, err := packDocuments(os.DirFS(recordingsDir), documents)
	if err != nil {
		return err
	}
	_, err = replaceFiles(dataDir, map[string][]byte{openAPIFile: openAPI, descriptionsFile: described})
	return err
}

// missingRecordings returns the recordings that the recorded releases and the newest one lack.
func missingRecordings(recordings fs.FS) (missing []string, err error) {
	names, err := surfaceNames(recordings)
	if err != nil {
		return nil, err
	}
	versions := map[string]bool{release.Newest: true}
	for _, name := range names {
		versions[strings.TrimSuffix(name, "-all")] = true
	}
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		for _, v := range controlplane.Variants(version) {
			name := recordingName(version, v.Name)
			if _, err := fs.Stat(recordings, name+"/discovery.json"); err != nil {
				missing = append(missing, name)
			}
		}
	}
	return missing, nil
}

// generate returns the data by file name.
func generate(recordings fs.FS, documents map[string][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	names, err := surfaceNames(recordings)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := surfaceText(recordings, name)
		if err != nil {
			return nil, fmt.Errorf("recording %s: %w", name, err)
		}
		out["surfaces/"+name+".txt"] = text
	}
	if out[openAPIFile], out[descriptionsFile], err = packDocuments(recordings, documents); err != nil {
		return nil, err
	}
	type file struct {
		name     string
		generate func() ([]byte, error)
	}
	list := []file{
		{"columns.json", func() ([]byte, error) { return columnsJSON(recordings) }},
		{"deprecations.txt", func() ([]byte, error) { return deprecationsText(recordings) }},
		{"fields.txt", func() ([]byte, error) { return fieldsText(recordings, documents) }},
		{"gates.txt", func() ([]byte, error) { return gatesText(recordings) }},
		{"unversioned.txt", func() ([]byte, error) { return unversionedText(recordings) }},
		{"wiretypes.zip", func() ([]byte, error) { return wireTypesZIP(recordings) }},
	}
	if slices.Contains(release.Names(), release.Newest) { // else when this program runs again
		list = append(list, file{"bootstrap.txt", func() ([]byte, error) { return bootstrapText(recordings) }})
	}
	for _, f := range list {
		if out[f.name], err = f.generate(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return out, nil
}

// replaceFiles writes the files whose content changes and returns their names.
// It removes no files. The content of a zip archive is that of its entries: how
// well they are compressed depends on the Go release.
func replaceFiles(dir string, files map[string][]byte) (changed []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		have, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return changed, err
		}
		if sameContent(name, have, files[name]) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return changed, err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return changed, err
		}
		changed = append(changed, name)
	}
	return changed, nil
}

func sameContent(name string, a, b []byte) bool {
	if filepath.Ext(name) != ".zip" {
		return bytes.Equal(a, b)
	}
	commentA, entriesA, errA := unpack(a)
	commentB, entriesB, errB := unpack(b)
	return errA == nil && errB == nil && commentA == commentB && maps.EqualFunc(entriesA, entriesB, bytes.Equal)
}

// marker is the line that a generated file begins with.
func marker(input string) string {
	return "Code generated by go -C internal/release/gen run . from " + input + ". DO NOT EDIT."
}

// checkRequirements fails if this program is built with Go types of another
// release than the given one.
func checkRequirements(version string) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("no build information")
	}
	for _, module := range modules.Types(version) {
		i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == module })
		if i < 0 {
			return fmt.Errorf("not built with %s", module)
		}
		used := info.Deps[i]
		if used.Replace != nil {
			used = used.Replace
		}
		if want := modules.Staging(version); used.Version != want {
			return fmt.Errorf("built with %s %s, not %s: change go.mod, or set GOWORK=off in a workspace", module, used.Version, want)
		}
	}
	return nil
}
