package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/gen/scheme"
	"github.com/kubefake/kubefake/internal/release/modules"
)

// These files are the recordings of the Go types of a release. This program writes those of
// release.Newest, which it is built with; when another release takes its place, they say what
// the older one had. With -types, and built with the modules of an older release, it writes those
// of that release. Releases before the first one that has a types.txt have no fields and types of
// the API that this one does not have.
const (
	typesFile       = "types.txt"       // of the API, with their deprecations
	unversionedFile = "unversioned.txt" // of the internal version; of all releases
)

// recordedTypes returns the files of the release that this program is built with.
func recordedTypes(version string) (map[string][]byte, error) {
	lines, err := unversionedLines(version)
	return map[string][]byte{typesFile: newestTypes().format(), unversionedFile: lines}, err
}

// apiTypes are the Go types of the API of a release.
type apiTypes struct {
	// entries are those of wiretypes.zip.
	entries map[string][]byte
	// deprecations are the lines of deprecations.txt, by API version and kind.
	deprecations map[string]string
}

// deprecationsSection is the name under which types.txt has the deprecations.
const deprecationsSection = "deprecations"

// newestTypes returns the types that this program is built with.
func newestTypes() apiTypes {
	types := scheme.New()
	return apiTypes{describe(types), deprecationLines(types)}
}

// format returns the file types.txt: a section for each entry and one for the deprecations.
func (t apiTypes) format() []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		fmt.Fprintf(&out, "-- %s --\n%s", name, t.entries[name])
	}
	fmt.Fprintf(&out, "-- %s --\n", deprecationsSection)
	for _, kind := range slices.Sorted(maps.Keys(t.deprecations)) {
		out.WriteString(t.deprecations[kind])
	}
	return out.Bytes()
}

// parseTypes reads what format writes.
func parseTypes(text []byte) apiTypes {
	t := apiTypes{map[string][]byte{}, map[string]string{}}
	section := ""
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			section = strings.TrimSuffix(name, " --\n")
			continue
		}
		if section == deprecationsSection {
			words := strings.Fields(line)
			t.deprecations[words[0]+" "+words[1]] = line
			continue
		}
		t.entries[section] = append(t.entries[section], line...)
	}
	return t
}

// recognizes reports whether there is a Go type of a kind.
func (t apiTypes) recognizes(kind schema.GroupVersionKind) bool {
	for line := range strings.Lines(string(t.entries[indexFile])) {
		if gv, pkg, _ := strings.Cut(strings.TrimSpace(line), " "); gv == kind.GroupVersion().String() {
			return strings.HasPrefix(declarationsOf(pkg, t.entries[pkg])[kind.Kind], "struct "+kind.Kind+" kind")
		}
	}
	return false
}

// declarationsOf splits an entry of wiretypes.zip by the names of the types, or by the group
// versions of the index.
func declarationsOf(name string, text []byte) map[string]string {
	out := map[string]string{}
	key := ""
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); {
		case name == indexFile:
			key = words[0]
		case line[0] != ' ':
			key = words[1]
		}
		out[key] += line
	}
	return out
}

// olderThan returns what the entries of an older release differ in from those of the next
// one: declarations and lines of the index that differ, and the names of those that the
// older release does not have.
func (t apiTypes) olderThan(next apiTypes) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range t.entries {
		var b bytes.Buffer
		have, newer := declarationsOf(name, text), declarationsOf(name, next.entries[name])
		for _, key := range slices.Sorted(maps.Keys(have)) {
			if have[key] != newer[key] {
				b.WriteString(have[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(newer)) {
			if have[key] == "" {
				fmt.Fprintf(&b, "absent %s\n", key)
			}
		}
		if b.Len() > 0 {
			out[name] = b.Bytes()
		}
	}
	return out
}

// A typesOfRelease are the recorded types of a release.
type typesOfRelease struct {
	minor int
	apiTypes
}

// typesOfReleases returns the types of the releases that have them, the newest release first.
func typesOfReleases(recordings fs.FS) ([]typesOfRelease, error) {
	files, err := fs.Glob(recordings, "*/"+typesFile)
	if err != nil {
		return nil, err
	}
	var all []typesOfRelease
	for _, file := range files {
		version := path.Dir(file)
		if version == release.Newest {
			continue
		}
		text, err := fs.ReadFile(recordings, file)
		if err != nil {
			return nil, err
		}
		all = append(all, typesOfRelease{modules.Minor(version), parseTypes(text)})
	}
	slices.SortFunc(all, func(a, b typesOfRelease) int { return b.minor - a.minor })
	return all, nil
}

// recognizer returns a function that reports whether there is a Go type of a kind: in the
// release or, if its types are not recorded, in the oldest release whose types are.
func recognizer(recordings fs.FS, name string) (func(schema.GroupVersionKind) bool, error) {
	older, err := typesOfReleases(recordings)
	if err != nil {
		return nil, err
	}
	recognizes := goTypes().Recognizes
	for _, t := range older {
		if modules.Minor(name) <= t.minor {
			recognizes = t.recognizes
		}
	}
	return recognizes, nil
}

// wireTypesZIP returns the file wiretypes.zip: the entries of the newest release and, below
// the minor number of an older one, what that differs in from the next release.
func wireTypesZIP(recordings fs.FS) ([]byte, error) {
	older, err := typesOfReleases(recordings)
	if err != nil {
		return nil, err
	}
	next := newestTypes()
	entries := maps.Clone(next.entries)
	for _, t := range older {
		for name, text := range t.olderThan(next) {
			entries[fmt.Sprintf("%d/%s", t.minor, name)] = text
		}
		next = t.apiTypes
	}
	return pack(marker("the Go types of Kubernetes "+release.Newest+" and recordings of older ones"), entries)
}

// unversionedText returns the file unversioned.txt: the types of the newest release and, in
// sections with the minor numbers of older ones, the types that differ in the next release.
func unversionedText(recordings fs.FS) ([]byte, error) {
	next, err := unversionedLines(release.Newest)
	if err != nil {
		return nil, err
	}
	versions, err := recordedVersions(recordings)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n%s", marker("the source of k8s.io/kubernetes "+release.Newest+" and recordings of older ones"), next)
	slices.SortFunc(versions, func(a, b string) int { return modules.Minor(b) - modules.Minor(a) })
	for _, version := range versions {
		if version == release.Newest {
			continue
		}
		lines, err := fs.ReadFile(recordings, version+"/"+unversionedFile)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "-- %d --\n", modules.Minor(version))
		newer := strings.SplitAfter(string(next), "\n")
		for line := range strings.Lines(string(lines)) {
			if !slices.Contains(newer, line) {
				out.WriteString(line)
			}
		}
		next = lines
	}
	return out.Bytes(), nil
}

// deprecationsText returns the file deprecations.txt: what the Go types of the kinds that
// any recorded release serves say about their deprecation. Those of the newest release that
// has the kind count. A replacement has the minor number of the first recorded release that
// serves it.
func deprecationsText(recordings fs.FS) ([]byte, error) {
	older, err := typesOfReleases(recordings)
	if err != nil {
		return nil, err
	}
	known := newestTypes().deprecations
	for _, t := range older {
		for kind, line := range t.deprecations {
			if gv, name, _ := strings.Cut(kind, " "); known[kind] == "" && !goTypes().Recognizes(schema.FromAPIVersionAndKind(gv, name)) {
				known[kind] = line
			}
		}
	}
	names, err := surfaceNames(recordings)
	if err != nil {
		return nil, err
	}
	served := map[string]int{} // the first release that serves a kind
	for _, name := range names {
		surface, err := readSurface(recordings, name)
		if err != nil {
			return nil, err
		}
		for _, t := range surface.Types {
			kind := t.GroupVersion.String() + " " + t.Kind
			served[kind] = min(cmp.Or(served[kind], modules.Minor(name)), modules.Minor(name))
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", marker("the Go types of Kubernetes "+release.Newest+" and recordings of older ones"))
	for _, kind := range slices.Sorted(maps.Keys(known)) {
		line := strings.TrimSpace(known[kind])
		if f := strings.SplitN(line, " ", 5); len(f) == 5 && served[f[4]] > 0 {
			line += fmt.Sprintf(" %d", served[f[4]])
		}
		if served[kind] > 0 {
			out.WriteString(line + "\n")
		}
	}
	return out.Bytes(), nil
}

// deprecationLines returns the lines of deprecations.txt of all kinds, by API version and kind.
func deprecationLines(types *runtime.Scheme) map[string]string {
	lines := map[string]string{}
	for gvk := range types.AllKnownTypes() {
		obj, err := types.New(gvk)
		if err != nil {
			continue // unreachable: the kind is known
		}
		if line := deprecationLine(gvk, obj); line != "" {
			lines[gvk.GroupVersion().String()+" "+gvk.Kind] = line
		}
	}
	return lines
}
