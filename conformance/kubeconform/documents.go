package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// patterns has a document of each kind. Each copy has another number for the 0 of "n0" and "0".
//
//go:embed testdata/documents.yaml
var patterns []byte

// customKinds has the definitions of the custom ones.
//
//go:embed testdata/definitions.yaml
var customKinds []byte

// documentsInFile is how many documents a file has.
const documentsInFile = 10

// classKinds are the kinds of which a cluster has few objects.
var classKinds = []string{"StorageClass", "IngressClass", "PriorityClass", "RuntimeClass", "CSIDriver", "LimitRange"}

// documents returns the documents of patterns.
func documents() [][]byte { return bytes.Split(patterns, []byte("\n---\n")) }

// documentOf returns the document of a kind.
func documentOf(kind string) (string, error) {
	for _, d := range documents() {
		if isOfKind(d, kind) {
			return string(d), nil
		}
	}
	return "", fmt.Errorf("no document of kind %s", kind)
}

func isOfKind(document []byte, kind string) bool {
	return bytes.Contains(document, []byte("\nkind: "+kind+"\n"))
}

// copies yields the documents of patterns again and again, with other numbers, and those of
// classKinds up to limit times; 0 is no limit.
func copies(limit int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for n := 0; ; n++ {
			number := strconv.Itoa(n)
			for _, d := range documents() {
				if limit > 0 && n >= limit && slices.ContainsFunc(classKinds, func(kind string) bool { return isOfKind(d, kind) }) {
					continue
				}
				d = bytes.ReplaceAll(d, []byte("n0"), []byte("n"+number))
				if !yield(bytes.ReplaceAll(d, []byte(`"0"`), []byte(`"`+number+`"`))) {
					return
				}
			}
		}
	}
}

// writeDocuments writes n documents to files in a new folder, with up to classes objects of each of
// classKinds.
func writeDocuments(dir string, n, classes int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	next, stop := iter.Pull(copies(classes))
	defer stop()
	for written := 0; written < n; {
		var text bytes.Buffer
		for range min(documentsInFile, n-written) {
			d, _ := next()
			fmt.Fprintf(&text, "---\n%s\n", d)
			written++
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.yaml", written)), text.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
