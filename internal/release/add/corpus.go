package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release/modules"
)

// Files of the corpus. Its commands run in conformanceDir.
const (
	conformanceDir = "conformance"
	corpusDir      = "conformance/testdata/corpus"
	corpusFile     = "conformance/testdata/corpus/smoke.yaml"
	pendingFile    = "conformance/testdata/releases-pending.txt"
)

// differencesFile returns the file with the answers of a release that is not the one of the corpus.
func differencesFile(version string) string {
	return filepath.Join("conformance/testdata/releases", version+".yaml")
}

// isOfCorpus reports whether the corpus is of the release.
func (a *adder) isOfCorpus() (bool, error) {
	version, err := firstMatch(corpusFile, corpusVersion)
	return version == a.version, err
}

// recordCorpus records the scenarios: the corpus itself if it is of the release, else what differs
// from it.
func (a *adder) recordCorpus(ctx context.Context) error {
	programs, err := a.executables(ctx)
	if err != nil {
		return err
	}
	ofCorpus, err := a.isOfCorpus()
	if err != nil {
		return err
	}
	dir := filepath.Join(conformanceDir, "testdata", "corpus")
	if !ofCorpus {
		if dir, err = os.MkdirTemp("", "add-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := command(ctx, conformanceDir, "go", "run", "./corpus/record", "-kube-apiserver", programs.APIServer, "-etcd", programs.Etcd, "-out", dir); err != nil {
		return err
	}
	if ofCorpus {
		return nil
	}
	return command(ctx, conformanceDir, "go", "run", "./corpus/compare", "-release", a.version, "-recordings", dir)
}

// playedFile keeps what the step play found until the report is written.
func (a *adder) playedFile() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "kubefake-controlplane", "played-"+a.version+".json"), err
}

// A failure is a scenario whose recorded answers this server does not give.
type failure struct{ Scenario, Difference string }

// play plays the scenarios as the release answers them.
func (a *adder) play(ctx context.Context) error {
	ofCorpus, err := a.isOfCorpus()
	if err != nil {
		return err
	}
	run := "^TestReleases$/^" + regexp.QuoteMeta(a.version) + "$"
	if ofCorpus {
		run = "^TestCorpus$"
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", ".", "-run", run)
	cmd.Dir = conformanceDir
	cmd.Env = modules.Environment()
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || len(out) == 0) {
		return err
	}
	failures, played, err := readFailures(out)
	if err != nil {
		return err
	}
	if played == 0 {
		return fmt.Errorf("no scenario was played:\n%s", out)
	}
	fmt.Printf("%d of %d scenarios fail\n", len(failures), played)
	file, err := a.playedFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(failures)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// readFailures reads the output of go test -json: the scenarios that failed or are pending, with
// the first difference of each, and the number of all.
func readFailures(output []byte) (failures []failure, played int, err error) {
	differences := map[string]string{} // by scenario
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, 0, fmt.Errorf("go test: %s", lines.Text())
		}
		m := scenarioTest.FindStringSubmatch(event.Test)
		if m == nil {
			continue
		}
		name, text := m[1], strings.TrimSpace(event.Output)
		switch event.Action {
		case "output":
			if differences[name] == "" && stepDifference.MatchString(text) {
				differences[name] = text
			}
		case "pass":
			played++
		case "fail", "skip":
			played++
			failures = append(failures, failure{name, differences[name]})
		}
	}
	slices.SortFunc(failures, func(a, b failure) int { return strings.Compare(a.Scenario, b.Scenario) })
	return failures, played, lines.Err()
}

var (
	// scenarioTest matches the test of a scenario, whose name is the submatch: AREA/NAME.
	scenarioTest = regexp.MustCompile(`^(?:TestCorpus|TestReleases/[^/]+)/([^/]+/[^/]+)$`)

	// stepDifference matches a line that says how an answer differs.
	stepDifference = regexp.MustCompile(`^(status|header|warning|body|events)[^:]*: `)
)
