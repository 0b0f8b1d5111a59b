package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubefake/kubefake/internal/inputfile"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// An object is one of a file, or a variant of it.
type object struct {
	origin                            string // the file and the number of the document
	apiVersion, kind, namespace, name string
	body                              []byte // JSON
	variant                           bool
}

// An objectHeader has the identity of an object.
type objectHeader struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
	Metadata   struct {
		Name, Namespace string
	} `json:"metadata"`
}

// read returns the objects of files and folders, without those of the same name. What is no object
// is left out.
func read(paths []string) (out []*object, err error) {
	seen := map[string]bool{}
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !inputfile.HasObjects(path) {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, o := range objectsOf(path, text) {
				key := strings.Join([]string{o.apiVersion, o.kind, o.namespace, o.name}, "/")
				if !seen[key] {
					seen[key] = true
					out = append(out, o)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// objectsOf returns the objects of a file.
func objectsOf(path string, text []byte) (out []*object) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			return out
		}
		body, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			continue
		}
		out = append(out, expand(fmt.Sprintf("%s#%d", path, number), body)...)
	}
}

// expand returns the object of a body, or those of a List.
func expand(origin string, body []byte) (out []*object) {
	var h objectHeader
	if json.Unmarshal(body, &h) != nil || h.APIVersion == "" || h.Kind == "" {
		return nil
	}
	if h.Kind == "List" && h.APIVersion == "v1" {
		for i, item := range h.Items {
			out = append(out, expand(fmt.Sprintf("%s items[%d]", origin, i), item)...)
		}
		return out
	}
	if h.Metadata.Name == "" || leftOut(h.APIVersion, h.Kind) {
		return nil
	}
	return []*object{{origin: origin, apiVersion: h.APIVersion, kind: h.Kind, namespace: h.Metadata.Namespace, name: h.Metadata.Name, body: body}}
}

// leftOut reports whether objects of a kind make the servers ask others.
func leftOut(apiVersion, kind string) bool {
	return kind == "APIService" || kind == "Status" || strings.HasSuffix(kind, "WebhookConfiguration") ||
		strings.Contains(apiVersion, "kustomize") || strings.HasSuffix(kind, "List")
}
