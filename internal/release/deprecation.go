package release

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/release/data"
	"github.com/kubefake/kubefake/internal/resource"
)

// A deprecation is what the Go type of a kind says about its life cycle.
type deprecation struct {
	since   int    // minor release
	removed int    // minor release, 0 if unknown
	instead string // API version and kind to use instead, "" if none
	newer   int    // first minor release that names instead
}

// deprecations returns the deprecated kinds by API version and kind.
var deprecations = sync.OnceValue(func() map[string]deprecation {
	all := map[string]deprecation{}
	_, lines, _ := strings.Cut(data.Deprecations(), "\n")
	for lines != "" {
		var line string
		line, lines, _ = strings.Cut(lines, "\n")
		f := strings.SplitN(line, " ", 5)
		since, err := strconv.Atoi(f[2])
		if err != nil {
			panic("release: deprecations.txt: " + err.Error()) // unreachable: a test reads it
		}
		d := deprecation{since: since}
		if d.removed, err = strconv.Atoi(f[3]); err != nil {
			panic("release: deprecations.txt: " + err.Error()) // unreachable: a test reads it
		}
		if len(f) == 5 {
			words := strings.Fields(f[4])
			d.instead = words[0] + " " + words[1]
			if len(words) == 3 {
				if d.newer, err = strconv.Atoi(words[2]); err != nil {
					panic("release: deprecations.txt: " + err.Error()) // unreachable: a test reads it
				}
			}
		}
		all[f[0]+" "+f[1]] = d
	}
	return all
})

// deprecationWarnings returns the warnings that a release, given by its minor
// number, adds to the responses of requests for a kind.
func deprecationWarnings(kind resource.Kind, minor int) []string {
	name := kind.GroupVersion.String() + " " + kind.Kind
	d, ok := deprecations()[name]
	if !ok || d.since > minor {
		return nil
	}
	text := fmt.Sprintf("%s is deprecated in v1.%d+", name, d.since)
	if d.removed > 0 {
		text += fmt.Sprintf(", unavailable in v1.%d+", d.removed)
	}
	if d.instead != "" && d.newer <= minor {
		text += "; use " + d.instead
	}
	return []string{text}
}
