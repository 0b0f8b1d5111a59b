// Gen writes the OpenAPI document of the control endpoint and the clients that are
// generated from the same description: the operations of internal/control, the types
// of their requests and answers, and the comments of these types. Run it in the root of
// the module:
//
//	go run ./internal/control/gen
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"github.com/kubefake/kubefake/internal/control"
)

//go:generate go run -C ../../.. ./internal/control/gen

func main() {
	log.SetFlags(0)
	files, err := generate(".")
	if err != nil {
		log.Fatal("gen: ", err)
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal("gen: ", err)
		}
	}
}

const javaPackage = "clients/java/src/main/java/io/github/kubefake"

// generate returns the generated files of the module at root, by their paths.
func generate(root string) (map[string][]byte, error) {
	d, err := describe(root, control.Operations)
	if err != nil {
		return nil, err
	}
	document, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		filepath.Join(root, "internal/control/openapi.json"):           append(document, '\n'),
		filepath.Join(root, "clients/python/src/kubefake/_control.py"): python(d),
		filepath.Join(root, "clients/javascript/src/control.js"):       javascript(d),
		filepath.Join(root, "clients/javascript/src/control.d.ts"):     typescript(d),
		filepath.Join(root, javaPackage, "Control.java"):               java(d),
		filepath.Join(root, "clients/rust/src/control.rs"):             rust(d),
	}, nil
}
