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

// A field whose name is a keyword of Python is in a base of the class.
func TestPythonKeywords(t *testing.T) {
	var b bytes.Buffer
	text := &schema{Type: "string"}
	pythonType(&b, "Path", &schema{
		Description: "A Path is a path.",
		Required:    []string{"from"},
		Properties:  object[*schema]{{"from", text}, {"in", &schema{Type: "string", Description: "The place."}}, {"to", text}},
	})
	want := `
_Keywords_Path = TypedDict("_Keywords_Path", {"from": str}, total=True)


class _Path(_Keywords_Path, TypedDict):
    """A Path is a path."""


# The place.
_KeywordsPath = TypedDict("_KeywordsPath", {"in": str}, total=False)


class Path(_KeywordsPath, _Path, total=False):
    """A Path is a path."""
    to: str

`
	if got := b.String(); got != want {
		t.Errorf("got %s", got)
	}
}
