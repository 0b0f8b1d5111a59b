// Package flags lists the command line flags of kube-apiserver by release, and
// those of etcd.
package flags

import (
	_ "embed"
	"iter"
	"strings"
)

//go:generate go run ./gen

// A Flag is a command line flag.
type Flag struct {
	Name string
	// Type is what the help shows after the name, such as "int", "strings" or
	// "duration". It is "bool" for a flag that needs no value.
	Type string
}

//go:embed flags.txt
var table string

// KubeAPIServer returns the flags of kube-apiserver in a minor release such as
// "1.36", sorted by name. There are none for an unknown release.
func KubeAPIServer(release string) iter.Seq[Flag] { return list("kube-apiserver", release) }

// Etcd returns the flags of etcd, sorted by name.
func Etcd() iter.Seq[Flag] { return list("etcd", "") }

// list returns the flags of a program. Each line of the table has the program, the
// name, the type and the releases of a flag.
func list(program, release string) iter.Seq[Flag] {
	return func(yield func(Flag) bool) {
		for line := range strings.Lines(table) {
			columns := strings.Fields(line)
			if len(columns) < 3 || columns[0] != program || release != "" && !contains(columns[3:], release) {
				continue
			}
			if !yield(Flag{Name: columns[1], Type: columns[2]}) {
				return
			}
		}
	}
}

func contains(releases []string, release string) bool {
	for _, r := range releases {
		if r == release {
			return true
		}
	}
	return false
}
