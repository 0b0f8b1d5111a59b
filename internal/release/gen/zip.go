package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"maps"
	"slices"
)

// pack returns a zip archive of entries by name. The same entries and comment
// give the same archive.
func pack(comment string, entries map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	if err := z.SetComment(comment); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(entries[name]); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack is the inverse of pack.
func unpack(archive []byte) (comment string, entries map[string][]byte, err error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return "", nil, err
	}
	entries = map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return "", nil, err
		}
		if entries[f.Name], err = io.ReadAll(r); err != nil {
			return "", nil, err
		}
		if err := r.Close(); err != nil {
			return "", nil, err
		}
	}
	return z.Comment, entries, nil
}
