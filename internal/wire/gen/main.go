// Command gen writes the type table of package wire, ../types.zip, from the Go
// types of Kubernetes that this module's go.mod requires.
//
// Run it in its own folder, outside any workspace, after changing a version:
//
//	GOWORK=off go run .
package main

import (
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	archive, err := pack(describe(builtins()))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("../types.zip", archive, 0o644); err != nil {
		log.Fatal(err)
	}
}
