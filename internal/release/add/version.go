package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release/modules"
)

// minorOf returns the minor release of a version: "v1.38" for "v1.38.0-rc.0".
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return parts[0] + "." + parts[1]
}

// recordedVersions returns the releases that have data, the oldest minor release first.
func recordedVersions() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(surfacesDir, "*-all.txt"))
	if err != nil {
		return nil, err
	}
	var versions []string
	for _, file := range files {
		versions = append(versions, strings.TrimSuffix(filepath.Base(file), "-all.txt"))
	}
	slices.SortFunc(versions, func(a, b string) int { return cmp.Compare(modules.Minor(a), modules.Minor(b)) })
	return versions, nil
}

// previousOf returns the newest recorded release before the minor release of a version, "" if
// there is none.
func previousOf(version string) (previous string, err error) {
	versions, err := recordedVersions()
	for _, v := range versions {
		if modules.Minor(v) < modules.Minor(version) {
			previous = v
		}
	}
	return previous, err
}

// newestConstant is the line of the newest release in release.go.
var newestConstant = regexp.MustCompile(`(?m)^const Newest = "(v[^"]+)"$`)

// corpusVersion matches the release that a scenario was recorded from.
var corpusVersion = regexp.MustCompile(`(?m)^recorded: (\S+)$`)

// firstMatch returns the first submatch of an expression in a file.
func firstMatch(file string, expression *regexp.Regexp) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	m := expression.FindSubmatch(text)
	if m == nil {
		return "", &noMatchError{file, expression}
	}
	return string(m[1]), nil
}

type noMatchError struct {
	file       string
	expression *regexp.Regexp
}

func (e *noMatchError) Error() string { return e.file + ": no line matches " + e.expression.String() }
