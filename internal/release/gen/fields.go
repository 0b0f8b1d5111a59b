package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release/modules"
)

// fieldsText returns the file fields.txt: the fields that the oldest recorded release
// with their type does not have. A line is the minor number of the release that
// introduced the field, the Go type with the path of its package, and the field.
func fieldsText(recordings fs.FS, documents map[string][]byte) ([]byte, error) {
	names, err := surfaceNames(recordings)
	if err != nil {
		return nil, err
	}
	releases := map[int]map[string]map[string]bool{} // fields by minor number and type
	for _, name := range names {
		minor := modules.Minor(name)
		if releases[minor] == nil {
			releases[minor] = map[string]map[string]bool{}
		}
		if err := readFields(recordings, name, documents, releases[minor]); err != nil {
			return nil, err
		}
	}
	fields := map[string]map[string]bool{} // of all releases, by type
	for _, types := range releases {
		for typ, have := range types {
			if fields[typ] == nil {
				fields[typ] = map[string]bool{}
			}
			maps.Copy(fields[typ], have)
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", marker("recordings of kube-apiserver "+names[0]+" to "+names[len(names)-1]))
	for _, typ := range slices.Sorted(maps.Keys(fields)) {
		for _, field := range slices.Sorted(maps.Keys(fields[typ])) {
			if since := fieldSince(releases, typ, field); since > 0 {
				fmt.Fprintf(&out, "%d %s %s\n", since, typ, field)
			}
		}
	}
	return out.Bytes(), nil
}

// fieldSince returns the minor number of the first release that has a field, 0 if it is the
// first one that has the type.
func fieldSince(releases map[int]map[string]map[string]bool, typ, field string) int {
	isNew := false
	for _, minor := range slices.Sorted(maps.Keys(releases)) {
		switch have := releases[minor][typ]; {
		case have[field] && isNew:
			return minor
		case have[field]:
			return 0
		case have != nil:
			isNew = true
		}
	}
	return 0
}

// readFields adds the fields in the OpenAPI documents of a recording.
func readFields(recordings fs.FS, name string, documents map[string][]byte, fields map[string]map[string]bool) error {
	var index map[string]documentEntry
	if err := readJSON(recordings, name+"/openapi.json", &index); err != nil {
		return err
	}
	for path, entry := range index {
		var document struct {
			Components struct {
				Schemas map[string]struct {
					Properties map[string]json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(documents[entry.Hash], &document); err != nil {
			return fmt.Errorf("%s %s: %w", name, path, err)
		}
		for schema, s := range document.Components.Schemas {
			typ, ok := goTypeOf(schema)
			if !ok {
				continue
			}
			if fields[typ] == nil {
				fields[typ] = map[string]bool{}
			}
			for field := range s.Properties {
				fields[typ][field] = true
			}
		}
	}
	return nil
}

// goTypeOf returns the Go type of a schema: k8s.io/api/core/v1.Pod for
// io.k8s.api.core.v1.Pod.
func goTypeOf(schema string) (string, bool) {
	rest, ok := strings.CutPrefix(schema, "io.k8s.")
	if !ok {
		return "", false
	}
	dot := strings.LastIndexByte(rest, '.')
	return "k8s.io/" + strings.ReplaceAll(rest[:dot], ".", "/") + rest[dot:], true
}
