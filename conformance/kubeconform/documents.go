package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
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

// documents returns the documents of patterns.
func documents() [][]byte { return bytes.Split(patterns, []byte("\n---\n")) }

// documentOf returns the document of a kind.
func documentOf(kind string) (string, error) {
	for _, d := range documents() {
		if bytes.Contains(d, []byte("kind: "+kind+"\n")) {
			return string(d), nil
		}
	}
	return "", fmt.Errorf("no document of kind %s", kind)
}

// writeDocuments writes n documents to files in a new folder.
func writeDocuments(dir string, n int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	all := documents()
	var text bytes.Buffer
	for i := range n {
		number := strconv.Itoa(i / len(all))
		d := bytes.ReplaceAll(all[i%len(all)], []byte("n0"), []byte("n"+number))
		d = bytes.ReplaceAll(d, []byte(`"0"`), []byte(`"`+number+`"`))
		fmt.Fprintf(&text, "---\n%s\n", d)
		if (i+1)%documentsInFile == 0 || i == n-1 {
			name := filepath.Join(dir, fmt.Sprintf("%06d.yaml", i/documentsInFile))
			if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
				return err
			}
			text.Reset()
		}
	}
	return nil
}
