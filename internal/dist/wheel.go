package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// wheelTags are the platform tags of wheels. The executables of Linux are static, so they
// run with every C library. Those of macOS need the release that Go needs.
var wheelTags = map[platform][]string{
	{"linux", "amd64"}:   {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	{"linux", "arm64"}:   {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	{"darwin", "amd64"}:  {"macosx_12_0_x86_64"},
	{"darwin", "arm64"}:  {"macosx_12_0_arm64"},
	{"windows", "amd64"}: {"win_amd64"},
	{"windows", "arm64"}: {"win_arm64"},
}

// prerelease matches the pre-releases that Python has, too.
var prerelease = regexp.MustCompile(`^(alpha|beta|rc)\.?(\d+)$`)

// pythonVersion returns a version in the form of Python. A pre-release that Python does
// not have is a development release.
func pythonVersion(version string) string {
	base, suffix, ok := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	if !ok {
		return base
	}
	if m := prerelease.FindStringSubmatch(suffix); m != nil {
		return base + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[1]] + m[2]
	}
	return base + ".dev0+" + strings.ReplaceAll(suffix, "-", ".")
}

// addWheel adds the wheel of a platform: the package in clients/python with the
// executable.
func (d *dist) addWheel(p platform, program []byte) error {
	const root = "clients/python"
	project, err := readProject(d.source, root+"/pyproject.toml")
	if err != nil {
		return err
	}
	version := pythonVersion(d.version)
	modules, err := d.sourceFiles(root+"/src", "kubefake/*.py", "kubefake/py.typed")
	if err != nil {
		return err
	}
	readme, err := fs.ReadFile(d.source, root+"/README.md")
	if err != nil {
		return err
	}
	license, err := fs.ReadFile(d.source, "LICENSE")
	if err != nil {
		return err
	}

	var tags, entryPoints strings.Builder
	for _, tag := range wheelTags[p] {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	for _, section := range project {
		if group, ok := strings.CutPrefix(section.name, "project.entry-points."); ok {
			fmt.Fprintf(&entryPoints, "[%s]\n", group)
			for _, f := range section.fields {
				fmt.Fprintf(&entryPoints, "%s = %v\n", f.name, f.value)
			}
		}
	}
	info := "kubefake-" + version + ".dist-info/"
	entries := append(modules,
		entry{"kubefake/bin/" + p.executable("fakeapi"), 0o755, program},
		entry{info + "METADATA", 0o644, project.metadata(version, readme)},
		entry{info + "WHEEL", 0o644, []byte("Wheel-Version: 1.0\nGenerator: kubefake-dist\nRoot-Is-Purelib: false\n" + tags.String())},
		entry{info + "entry_points.txt", 0o644, []byte(entryPoints.String())},
		entry{info + "licenses/LICENSE", 0o644, license},
	)
	var record strings.Builder
	for _, e := range entries {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	entries = append(entries, entry{info + "RECORD", 0o644, []byte(record.String())})
	d.files["kubefake-"+version+"-py3-none-"+strings.Join(wheelTags[p], ".")+".whl"] = zipped(d.time, entries)
	return nil
}

// sourceFiles returns the files below a folder of the checkout that match patterns. Their
// names are relative to the folder.
func (d *dist) sourceFiles(root string, patterns ...string) (out []entry, err error) {
	for _, pattern := range patterns {
		names, err := fs.Glob(d.source, path.Join(root, pattern))
		if err != nil || names == nil {
			return nil, cmp.Or(err, fmt.Errorf("no file is %s/%s", root, pattern))
		}
		for _, name := range names {
			text, err := fs.ReadFile(d.source, name)
			if err != nil {
				return nil, err
			}
			out = append(out, entry{name[len(root)+1:], 0o644, text})
		}
	}
	return out, nil
}

// A pyproject has the tables of a pyproject.toml.
type pyproject []table

type table struct {
	name   string
	fields []field
}

type field struct {
	name  string
	value any // a string, a []any of strings, or nil for a value of another form
}

// readProject reads a pyproject.toml. It knows the part of TOML in which a value is one
// line of JSON.
func readProject(source fs.FS, name string) (pyproject, error) {
	text, err := fs.ReadFile(source, name)
	if err != nil {
		return nil, err
	}
	out := pyproject{{}}
	for _, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if section, ok := strings.CutPrefix(line, "["); ok {
			out = append(out, table{name: strings.TrimSuffix(section, "]")})
			continue
		}
		key, text, ok := strings.Cut(line, " = ")
		if !ok {
			continue
		}
		f := field{name: key}
		if json.Unmarshal([]byte(text), &f.value) != nil {
			f.value = nil
		}
		last := &out[len(out)-1]
		last.fields = append(last.fields, f)
	}
	return out, nil
}

// metadata returns the core metadata of the project, with its README.
func (p pyproject) metadata(version string, readme []byte) []byte {
	values := map[string]any{}
	if i := slices.IndexFunc(p, func(t table) bool { return t.name == "project" }); i >= 0 {
		for _, f := range p[i].fields {
			values[f.name] = f.value
		}
	}
	words := func(name string) (out []string) {
		list, _ := values[name].([]any)
		for _, v := range list {
			out = append(out, fmt.Sprint(v))
		}
		return out
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Metadata-Version: 2.1\nName: %v\nVersion: %s\nSummary: %v\nLicense: Apache-2.0\nKeywords: %s\n",
		values["name"], version, values["description"], strings.Join(words("keywords"), ","))
	for _, c := range words("classifiers") {
		fmt.Fprintf(&b, "Classifier: %s\n", c)
	}
	fmt.Fprintf(&b, "Requires-Python: %v\nLicense-File: LICENSE\nDescription-Content-Type: text/markdown\n\n%s", values["requires-python"], readme)
	return b.Bytes()
}
