package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubefake/kubefake/internal/release/controlplane"
	"github.com/kubefake/kubefake/internal/release/modules"
)

// recordData records the servers and generates the data.
func (a *adder) recordData(ctx context.Context) error {
	programs, err := a.executables(ctx)
	if err != nil {
		return err
	}
	for _, v := range controlplane.Variants(a.version) {
		if err := a.recordVariant(ctx, programs, v); err != nil {
			return fmt.Errorf("variant %q: %w", v.Name, err)
		}
	}
	return generate(ctx)
}

// recordVariant starts a server and records it.
func (a *adder) recordVariant(ctx context.Context, programs controlplane.Executables, v controlplane.Variant) error {
	s, err := controlplane.Start(ctx, programs, v.Flags...)
	if err != nil {
		return err
	}
	defer s.Stop()
	return command(ctx, genDir, "go", "run", ".", "-server", s.URL, "-token", controlplane.AdminToken, "-variant", v.Name)
}

// generate generates the data until nothing changes: the generator reads some of what it writes.
func generate(ctx context.Context) error {
	for range 5 {
		out, err := modules.Go(ctx, genDir, "run", ".")
		fmt.Printf("%s", out)
		if err != nil || len(out) == 0 {
			return err
		}
	}
	return fmt.Errorf("the data still changes")
}

// listFlags adds the flags of the kube-apiserver.
func (a *adder) listFlags(ctx context.Context) error {
	programs, err := a.executables(ctx)
	if err != nil {
		return err
	}
	return command(ctx, "internal/release/flags", "go", "run", "./gen", programs.APIServer)
}

// writeTables writes the tables of differences and feature gates in the documentation.
func (a *adder) writeTables(ctx context.Context) error {
	return command(ctx, ".", "go", "run", "./internal/differences")
}

// removeOtherPatches removes the recordings of other versions of a minor release.
func removeOtherPatches(version string) error {
	versions, err := recordedVersions()
	if err != nil {
		return err
	}
	for _, other := range versions {
		if minorOf(other) == minorOf(version) && other != version {
			if err := removeRecordings(other); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeRecordings removes what is recorded of a release, but for its share in files of all
// releases.
func removeRecordings(version string) error {
	for _, pattern := range []string{
		filepath.Join(recordingsDir, version), filepath.Join(recordingsDir, version+"-*"),
		filepath.Join(surfacesDir, version+".txt"), filepath.Join(surfacesDir, version+"-all.txt"),
		differencesFile(version),
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if name := filepath.Base(path); strings.HasPrefix(name, version+"-") && !strings.HasPrefix(name, version+"-all") && name != version+"-gates" {
				continue // of a pre-release, such as v1.38.0-rc.0 beside v1.38.0
			}
			fmt.Println("removed", path)
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaultConstant is the line of the default release in release.go.
var defaultConstant = regexp.MustCompile(`(?m)^const Default = "(v[^"]+)"$`)

// setDefault makes a release the default one, and its answers the corpus.
func (a *adder) setDefault(ctx context.Context) error {
	previous, err := firstMatch(corpusFile, corpusVersion)
	if err != nil {
		return err
	}
	if previous != a.version {
		if err := command(ctx, conformanceDir, "go", "run", "./corpus/compare", "-default", a.version); err != nil {
			return err
		}
		// The page of the corpus names its release.
		if err := changeLines(filepath.Join(corpusDir, "README.md"), func(line string) (string, bool) {
			return strings.ReplaceAll(line, previous, a.version), true
		}); err != nil {
			return err
		}
	}
	if err := setConstant(defaultConstant, "Default", a.version); err != nil {
		return err
	}
	return a.writeTables(ctx)
}

// drop removes a release. If it is the newest or the default one, the release before takes its
// place. What is left is to delete the behaviors that all other releases have, or the rules that
// ask for what only the newest one had.
func (a *adder) drop(ctx context.Context) error {
	newest, err := firstMatch(releaseFile, newestConstant)
	if err != nil {
		return err
	}
	byDefault, err := firstMatch(releaseFile, defaultConstant)
	if err != nil {
		return err
	}
	if a.version == newest || a.version == byDefault {
		previous, err := previousOf(a.version)
		if err != nil {
			return err
		}
		if a.version == byDefault {
			before := &adder{version: previous}
			if err := before.setDefault(ctx); err != nil {
				return err
			}
		}
		if a.version == newest {
			if err := setNewest(ctx, previous); err != nil {
				return err
			}
		}
	}
	if err := removeRecordings(a.version); err != nil {
		return err
	}
	if err := changeLines("internal/release/flags/flags.txt", func(line string) (string, bool) { return withoutRelease(line, a.version) }); err != nil {
		return err
	}
	if err := changeLines(pendingFile, func(line string) (string, bool) { return line, !strings.HasPrefix(line, a.version+"/") }); err != nil {
		return err
	}
	if a.version == newest {
		// Rules ask for feature gates that only this release has. The program that is built before
		// they are gone can generate.
		return command(ctx, genDir, "go", "run", ".")
	}
	if err := generate(ctx); err != nil {
		return err
	}
	return a.writeTables(ctx)
}

// changeLines replaces each line of a file by what keep returns, or removes it.
func changeLines(file string, keep func(line string) (string, bool)) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, line := range linesOf(text) {
		if line, ok := keep(line); ok {
			out.WriteString(line + "\n")
		}
	}
	return os.WriteFile(file, []byte(out.String()), 0o644)
}

// linesOf returns the lines of a text.
func linesOf(text []byte) []string {
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// withoutRelease returns a line of the table of flags without a release, and whether it has others.
func withoutRelease(line, version string) (string, bool) {
	if strings.HasPrefix(line, "#") {
		return strings.Replace(line, "Kubernetes "+version+", ", "", 1), true
	}
	words := strings.Fields(line)
	minor := strings.TrimPrefix(minorOf(version), "v")
	kept := words[:0]
	for i, word := range words {
		if i < 3 || word != minor {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " "), len(kept) > 3 || words[0] == "etcd"
}
