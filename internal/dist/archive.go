package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"time"
)

// An entry is a file in an archive.
type entry struct {
	name string
	mode int64
	data []byte
}

// must panics for an error of writing to memory, which does not happen.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// tarball returns a tar archive.
func tarball(at time.Time, entries []entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		must(w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: at, Format: tar.FormatPAX}))
		_, err := w.Write(e.data)
		must(err)
	}
	must(w.Close())
	return b.Bytes()
}

// gzipped returns data in gzip's format.
func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	must(err)
	must(w.Close())
	return b.Bytes()
}

func tarGzip(at time.Time, entries []entry) []byte { return gzipped(tarball(at, entries)) }

// zipped returns a zip archive.
func zipped(at time.Time, entries []entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		header.SetMode(fs.FileMode(e.mode))
		f, err := w.CreateHeader(header)
		must(err)
		_, err = f.Write(e.data)
		must(err)
	}
	must(w.Close())
	return b.Bytes()
}
