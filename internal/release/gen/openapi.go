package main

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release/descriptions"
)

// These files hold the OpenAPI v3 documents of all recordings without their
// descriptions, and the descriptions. They are part of the recordings and of the
// data.
const (
	openAPIFile      = "openapi.zip"
	descriptionsFile = "descriptions.zip"
)

// documentID is the name of a document in openAPIFile.
func documentID(bare []byte) string {
	sum := sha256.Sum256(bare)
	return hex.EncodeToString(sum[:8])
}

// documentHash is the hash that kube-apiserver publishes for a document.
func documentHash(document []byte) string { return fmt.Sprintf("%X", sha512.Sum512(document)) }

// readIndex returns openapi.json of a release, with the documents of versions that only feature
// gates add.
func readIndex(recordings fs.FS, name string) (map[string]documentEntry, error) {
	index := map[string]documentEntry{}
	if gated := gatedRecording(recordings, name); gated != "" {
		if err := readJSON(recordings, gated+"/openapi.json", &index); err != nil {
			return nil, err
		}
	}
	err := readJSON(recordings, name+"/openapi.json", &index) // takes the place of what both have
	return index, err
}

// readDocuments returns the documents of all recordings by their hashes.
func readDocuments(recordings, data fs.FS) (map[string][]byte, error) {
	bare, err := readArchive(data, openAPIFile)
	if err != nil {
		return nil, err
	}
	described, err := readArchive(data, descriptionsFile)
	if err != nil {
		return nil, err
	}
	table, err := descriptions.Parse(string(described[descriptions.File]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", descriptionsFile, err)
	}
	names, err := surfaceNames(recordings)
	if err != nil {
		return nil, err
	}
	documents := map[string][]byte{}
	for _, name := range names {
		index, err := readIndex(recordings, name)
		if err != nil {
			return nil, err
		}
		for path, entry := range index {
			if documents[entry.Hash] != nil {
				continue
			}
			document, ok := bare[entry.Document]
			if !ok {
				return nil, fmt.Errorf("%s has no document %s", openAPIFile, entry.Document)
			}
			if document, err = table.Insert(document, descriptions.Key(entry.Hash)); err != nil {
				return nil, err
			}
			if documentHash(document) != entry.Hash {
				return nil, fmt.Errorf("document %s of %s is not the one that was recorded", path, name)
			}
			documents[entry.Hash] = document
		}
	}
	return documents, nil
}

// readArchive returns the entries of an archive.
func readArchive(data fs.FS, name string) (map[string][]byte, error) {
	archive, err := fs.ReadFile(data, name)
	if err != nil {
		return nil, err
	}
	_, entries, err := unpack(archive)
	return entries, err
}

// packDocuments returns the two archives of the documents that the recordings
// list.
func packDocuments(recordings fs.FS, documents map[string][]byte) (openAPI, described []byte, err error) {
	names, err := surfaceNames(recordings)
	if err != nil {
		return nil, nil, err
	}
	byPath := map[string][]documentEntry{} // of the newest release first: texts that differ little are close together
	for _, name := range slices.Backward(names) {
		index, err := readIndex(recordings, name)
		if err != nil {
			return nil, nil, err
		}
		for path, entry := range index {
			byPath[path] = append(byPath[path], entry)
		}
	}
	entries := map[string][]byte{}
	keys := map[string]string{} // to hashes
	var table descriptions.Builder
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		for _, entry := range byPath[path] {
			key := descriptions.Key(entry.Hash)
			if hash, ok := keys[key]; ok {
				if hash != entry.Hash {
					return nil, nil, fmt.Errorf("two documents have the key %s", key)
				}
				continue
			}
			keys[key] = entry.Hash
			document, ok := documents[entry.Hash]
			if !ok {
				return nil, nil, fmt.Errorf("no document with the hash %s", entry.Hash)
			}
			bare, all, err := descriptions.Cut(document)
			if err != nil {
				return nil, nil, err
			}
			if documentID(bare) != entry.Document {
				return nil, nil, fmt.Errorf("document %s has the name %s in openapi.json", documentID(bare), entry.Document)
			}
			entries[entry.Document] = bare
			table.Add(key, all)
		}
	}
	comment := marker("recordings of kube-apiserver " + strings.Join(names, ", "))
	if openAPI, err = pack(comment, entries); err != nil {
		return nil, nil, err
	}
	described, err = pack(comment, map[string][]byte{descriptions.File: []byte(table.String())})
	return openAPI, described, err
}
