package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefake/kubefake/internal/release/gen/scheme"
	"github.com/kubefake/kubefake/internal/release/surface"
	"github.com/kubefake/kubefake/internal/resource"
)

// surfaceNames returns the names of the releases that have a surface.
func surfaceNames(recordings fs.FS) ([]string, error) {
	files, err := fs.Glob(recordings, "*/discovery.json")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		if name := path.Dir(file); !strings.HasSuffix(name, "-gates") {
			names = append(names, name)
		}
	}
	return names, nil
}

// gatedRecording returns the name of the recording that has, beside what the surface of a
// release has, the resources of gates that are off by default; "" if there is none.
func gatedRecording(recordings fs.FS, name string) string {
	version, all := strings.CutSuffix(name, "-all")
	if _, err := fs.Stat(recordings, version+"-gates/discovery.json"); !all || err != nil {
		return ""
	}
	return version + "-gates"
}

// gitTreeState describes the checkout that a server was built from. That of unstamped is empty, as
// in a build without the flags of a release.
var gitTreeState = regexp.MustCompile(`"gitTreeState": "[^"]*"`)

const unstamped = "v1.36.3"

// surfaceText returns the file surfaces/NAME.txt.
func surfaceText(recordings fs.FS, name string) ([]byte, error) {
	dir, err := fs.Sub(recordings, name)
	if err != nil {
		return nil, err
	}
	raw, err := fs.ReadFile(dir, "version.json")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n-- version --\n", marker("a recording of kube-apiserver "+name))
	var version bytes.Buffer
	if err := json.Indent(&version, raw, "", "  "); err != nil {
		return nil, fmt.Errorf("version.json: %w", err)
	}
	text := version.Bytes()
	if strings.HasPrefix(name, unstamped) {
		text = gitTreeState.ReplaceAll(text, []byte(`"gitTreeState": ""`))
	}
	out.Write(text)
	out.WriteString("\n-- openapi --\n")
	index, err := readIndex(recordings, name)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(index)) {
		fmt.Fprintln(&out, path, index[path].Hash, index[path].Document)
	}
	out.WriteString("-- scheme --\n")
	var v2 documentV2
	if err := readJSON(dir, "openapi-v2.json", &v2); err != nil {
		return nil, err
	}
	for _, gv := range v2.GroupVersions {
		fmt.Fprintln(&out, gv)
	}
	out.WriteString("-- resources --\n")
	served, err := readSurface(recordings, name)
	if err != nil {
		return nil, err
	}
	out.WriteString(surface.Format(served))
	return out.Bytes(), nil
}

// goTypes are the Go types of release.Newest.
var goTypes = sync.OnceValue(scheme.New)

// readSurface reads the surface of a release, with the resources of gates that are off by
// default, and without those that strategies and recorded Go types do not describe.
//
// Differs from kube-apiserver: kinds of resource.k8s.io/v1alpha3 before v1.34: they are not
// served, DeviceTaintRules excepted. Request: GET
// /apis/resource.k8s.io/v1alpha3/resourceclaims with --release=1.33
// --runtime-config=api/all=true.
func readSurface(recordings fs.FS, name string) (surface.Surface, error) {
	if gated := gatedRecording(recordings, name); gated != "" {
		name = gated
	}
	dir, err := fs.Sub(recordings, name)
	if err != nil {
		return surface.Surface{}, err
	}
	var stored map[string]string
	if err := readJSON(dir, "stored.json", &stored); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return surface.Surface{}, err
	}
	text, err := fs.ReadFile(dir, "discovery.json")
	if err != nil {
		return surface.Surface{}, err
	}
	recognizes, err := recognizer(recordings, name)
	if err != nil {
		return surface.Surface{}, err
	}
	served, err := readDiscovery(text, stored)
	served.Types = slices.DeleteFunc(served.Types, func(t *resource.Type) bool {
		return !recognizes(schema.GroupVersionKind{Group: t.Group, Version: t.Version, Kind: t.Kind})
	})
	return served, err
}

// discovery is the part of an APIGroupDiscoveryList that varies.
type discovery struct {
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version   string
			Resources []struct {
				Resource         string
				ResponseKind     kind
				Scope            string
				SingularResource string
				Verbs            []string
				ShortNames       []string
				Categories       []string
				Subresources     []struct {
					Subresource  string
					ResponseKind kind
					Verbs        []string
				}
			}
		}
	}
}

// A kind is a kind in discovery. Without a version it is of the group version
// that lists it.
type kind struct{ Group, Version, Kind string }

func (k kind) in(gv resource.GroupVersion) resource.Kind {
	if k.Version != "" {
		gv = resource.GroupVersion{Group: k.Group, Version: k.Version}
	}
	return resource.Kind{GroupVersion: gv, Kind: k.Kind}
}

// readDiscovery reads discovery.json and stored.json.
func readDiscovery(text []byte, stored map[string]string) (surface.Surface, error) {
	var docs struct{ API, APIs discovery }
	if err := json.Unmarshal(text, &docs); err != nil {
		return surface.Surface{}, fmt.Errorf("discovery.json: %w", err)
	}
	var s surface.Surface
	for _, g := range slices.Concat(docs.API.Items, docs.APIs.Items) {
		for _, v := range g.Versions {
			gv := resource.GroupVersion{Group: g.Metadata.Name, Version: v.Version}
			s.GroupVersions = append(s.GroupVersions, gv)
			for _, r := range v.Resources {
				t := &resource.Type{
					GroupVersion: gv,
					Name:         r.Resource,
					Singular:     r.SingularResource,
					Kind:         r.ResponseKind.Kind,
					ListKind:     r.ResponseKind.Kind + "List",
					Namespaced:   r.Scope == "Namespaced",
					Verbs:        r.Verbs,
					ShortNames:   r.ShortNames,
					Categories:   r.Categories,
				}
				if slices.Contains(r.Verbs, "watch") { // only these are stored
					t.Stored = gv
					if other, ok := stored[gv.String()+"/"+t.Name]; ok {
						var err error
						if t.Stored, err = resource.ParseGroupVersion(other); err != nil {
							return surface.Surface{}, fmt.Errorf("stored.json: %w", err)
						}
					}
				}
				for _, sub := range r.Subresources {
					t.Subresources = append(t.Subresources, resource.Subresource{
						Name: sub.Subresource, Kind: sub.ResponseKind.in(gv), Verbs: sub.Verbs,
					})
				}
				s.Types = append(s.Types, t)
			}
		}
	}
	return s, nil
}
