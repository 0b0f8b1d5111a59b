package main

import (
	"bytes"
	"os"
	"testing"
)

// The generated files are up to date.
func TestGenerated(t *testing.T) {
	files, err := generate("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date: run go generate ./internal/control/gen", name)
		}
	}
}
