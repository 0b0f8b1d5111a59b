package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// openAPIFile holds the OpenAPI v3 documents of all recordings. It is part of
// the recordings and of the data.
const openAPIFile = "openapi.zip"

// documentID is the name of a document in openAPIFile.
func documentID(document []byte) string {
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:8])
}

// readDocuments returns the documents of the archive by name.
func readDocuments(archive []byte) (map[string][]byte, error) {
	_, documents, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	for id, document := range documents {
		if documentID(document) != id {
			return nil, fmt.Errorf("%s: entry %s is not the document that was recorded", openAPIFile, id)
		}
	}
	return documents, nil
}

// packDocuments returns the archive of the used documents, for the releases of
// those names.
func packDocuments(documents map[string][]byte, used, releases []string) ([]byte, error) {
	entries := map[string][]byte{}
	for _, id := range used {
		document, ok := documents[id]
		if !ok {
			return nil, fmt.Errorf("no document %s", id)
		}
		entries[id] = document
	}
	return pack(marker("recordings of kube-apiserver "+strings.Join(releases, ", ")), entries)
}

// withoutDescriptions returns a JSON document without the members that are named
// description and are strings, on one line. Everything else keeps its order.
func withoutDescriptions(document []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var out bytes.Buffer
	if err := copyValue(&out, d); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// copyValue copies the next value of d.
func copyValue(out *bytes.Buffer, d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		out.WriteByte('[')
		for i := 0; d.More(); i++ {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := copyValue(out, d); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case json.Delim('{'):
		return copyObject(out, d)
	default:
		return writeJSON(out, token)
	}
	_, err = d.Token()
	return err
}

// copyObject copies the rest of an object whose brace has been read.
func copyObject(out *bytes.Buffer, d *json.Decoder) error {
	out.WriteByte('{')
	separator := ""
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value bytes.Buffer
		if err := copyValue(&value, d); err != nil {
			return err
		}
		if key == "description" && value.Bytes()[0] == '"' {
			continue
		}
		out.WriteString(separator)
		separator = ","
		if err := writeJSON(out, key); err != nil {
			return err
		}
		out.WriteByte(':')
		out.Write(value.Bytes())
	}
	out.WriteByte('}')
	_, err := d.Token()
	return err
}

// writeJSON appends a value as JSON that keeps <, > and &.
func writeJSON(out *bytes.Buffer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	out.Truncate(out.Len() - 1) // the newline
	return err
}
