package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/modules"
	"github.com/kubefake/kubefake/internal/table"
)

// columnsJSON returns the file columns.json. It leaves out the kinds that have
// table.Default's columns, and in older releases those that have the columns of the next
// release.
func columnsJSON(recordings fs.FS) ([]byte, error) {
	name := columnsFolder(recordings, release.Newest)
	older, err := olderReleases(recordings)
	if err != nil {
		return nil, err
	}
	f := columnsFile{texts: map[string]string{}}
	next := map[string][]table.Column{}
	if err := readJSON(recordings, name+"/columns.json", &next); err != nil {
		return nil, err
	}
	newest, err := f.kinds(next, false)
	if err != nil {
		return nil, err
	}
	var changed bytes.Buffer
	for _, older := range slices.Backward(older) {
		recorded, differ := map[string][]table.Column{}, map[string][]table.Column{}
		if err := readJSON(recordings, columnsFolder(recordings, older)+"/columns.json", &recorded); err != nil {
			return nil, err
		}
		for kind, columns := range recorded {
			if after, ok := next[kind]; ok && !slices.Equal(columns, after) {
				differ[kind] = columns
			}
			next[kind] = columns
		}
		kinds, err := f.kinds(differ, true)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&changed, ",\n\"%d\": %s", modules.Minor(older), bytes.TrimSpace(kinds))
	}
	head, err := indented(f.texts)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n\"generated\": %q,\n\"texts\": %s,\n\"kinds\": %s,\n\"older\": {%s}}\n",
		marker("recordings of kube-apiserver "+name+" and older"), bytes.TrimSpace(head), bytes.TrimSpace(newest), bytes.TrimPrefix(changed.Bytes(), []byte(",")))
	return out.Bytes(), nil
}

// olderReleases returns the recorded releases before release.Newest, oldest first.
func olderReleases(recordings fs.FS) ([]string, error) {
	files, err := fs.Glob(recordings, "*-all/bootstrap.json")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		if name := strings.TrimSuffix(path.Dir(file), "-all"); name != release.Newest {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return modules.Minor(a) - modules.Minor(b) })
	return names, nil
}

// columnsFolder returns the name of the recording that has the columns of a release: the one
// with the most resources.
func columnsFolder(recordings fs.FS, version string) string {
	return cmp.Or(gatedRecording(recordings, version+"-all"), version+"-all")
}

// A columnsFile collects the descriptions that many columns share.
type columnsFile struct{ texts map[string]string }

// kinds encodes the columns of kinds. Those that have table.Default's are left out, or have
// no columns if others take their place in newer releases.
func (f columnsFile) kinds(recorded map[string][]table.Column, older bool) ([]byte, error) {
	kinds := map[string][]json.RawMessage{}
	for _, kind := range slices.Sorted(maps.Keys(recorded)) {
		columns := recorded[kind]
		if slices.Equal(columns, table.Default.Columns()) {
			if older {
				kinds[kind] = []json.RawMessage{}
			}
			continue
		}
		for _, c := range columns {
			if key := strings.ToLower(c.Name); (key == "name" || key == "age") && len(c.Description) > 100 {
				if f.texts[key] == "" {
					f.texts[key] = c.Description
				}
				if f.texts[key] == c.Description {
					c.Description = "@" + key
				}
			}
			text, err := columnJSON(c)
			if err != nil {
				return nil, err
			}
			kinds[kind] = append(kinds[kind], text)
		}
	}
	return linePerItem(kinds)
}

// columnJSON encodes a column without the fields that are zero.
func columnJSON(c table.Column) (json.RawMessage, error) {
	var out bytes.Buffer
	err := writeJSON(&out, struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Format      string `json:"format,omitempty"`
		Description string `json:"description,omitempty"`
		Priority    int    `json:"priority,omitempty"`
	}(c))
	return out.Bytes(), err
}
