// Package flags lists the command line flags of kube-apiserver by release, and
// those of etcd.
package flags

import (
	_ "embed"
	"iter"
	"slices"
	"strconv"
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

// KubeAPIServer returns the flags of kube-apiserver in a minor release, such as 36,
// sorted by name. There are none for an unknown release.
func KubeAPIServer(minor int) iter.Seq[Flag] {
	return list("kube-apiserver", "1."+strconv.Itoa(minor))
}

// Etcd returns the flags of etcd, sorted by name.
func Etcd() iter.Seq[Flag] { return list("etcd", "") }

// list returns the flags of a program. Each line of the table has the program, the
// name, the type and the releases of a flag.
func list(program, release string) iter.Seq[Flag] {
	return func(yield func(Flag) bool) {
		for _, line := range strings.Split(table, "\n") {
			columns := strings.Fields(line)
			if len(columns) < 3 || columns[0] != program || release != "" && !slices.Contains(columns[3:], release) {
				continue
			}
			if !yield(Flag{Name: columns[1], Type: columns[2]}) {
				return
			}
		}
	}
}
