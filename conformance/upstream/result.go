package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// An outcome is what came of a test.
type outcome int

const (
	failed outcome = iota
	passed
	skipped
)

// A result is a test that ran.
type result struct {
	Module, Folder, Test string
	Outcome              outcome
}

// name is the name of the test in reasons.txt and in the table.
func (r result) name() string {
	return r.folder() + "." + r.Test
}

// folder is the name of the test's package in reasons.txt and in the table.
func (r result) folder() string { return strings.TrimPrefix(r.Module, "k8s.io/") + "/" + r.Folder }

// run runs the test and sets its outcome.
func (r *result) run(ctx context.Context, executable, dir string, env []string) {
	ctx, cancel := context.WithTimeout(ctx, *timeout+10*time.Second)
	defer cancel()
	cmd := command(ctx, executable, "-test.v", "-test.run", "^"+r.Test+"$", "-test.timeout", timeout.String())
	cmd.Dir, cmd.Env = dir, env
	if tmp, err := os.MkdirTemp("", "t"); err == nil { // tests write files of the same names to it
		defer os.RemoveAll(tmp)
		cmd.Env = append(slices.Clone(env), "TMPDIR="+tmp)
	}
	start := time.Now()
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		r.Outcome = failed
	case bytes.Contains(out, []byte("\n--- SKIP: "+r.Test)):
		r.Outcome = skipped
	default:
		r.Outcome = passed
	}
	r.print(time.Since(start))
	if err := os.WriteFile(executable+"."+r.Test+".log", out, 0o644); err != nil {
		log.Print(err)
	}
}

// print prints the outcome of the test.
func (r *result) print(took time.Duration) {
	fmt.Printf("%s %s %.1fs\n", [...]string{"FAIL", "ok  ", "skip"}[r.Outcome], r.name(), took.Seconds())
}

// A reason is why a test fails.
type reason struct {
	text string
	// http is whether the test needs nothing but HTTP: neither etcd nor a server in its own
	// process.
	http bool
	// atTimes is whether the test also passes.
	atTimes bool
}

// readReasons reads the tests that fail, with the reason of each: lines "test: reason" below a
// line [http], [timing] or [process].
func readReasons(file string) (map[string]reason, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	reasons := map[string]reason{}
	section := ""
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case line == "[http]" || line == "[timing]" || line == "[process]":
			section = line
			continue
		}
		name, text, ok := strings.Cut(line, ": ")
		if _, again := reasons[name]; !ok || again || section == "" {
			return nil, fmt.Errorf("%s:%d: not a new test and its reason, below [http], [timing] or [process]", file, n)
		}
		reasons[name] = reason{text, section != "[process]", section == "[timing]"}
	}
	return reasons, nil
}

// counts are the numbers of tests by outcome.
type counts [3]int

// add adds numbers.
func (n *counts) add(more counts) {
	for outcome := range more {
		n[outcome] += more[outcome]
	}
}

// A page is docs/upstream-tests.md: the outcomes by package, and the tests that fail.
type page struct {
	packages map[string]counts
	failures []string
}

var (
	packageRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\d+) \\| (\\d+) \\| (\\d+) \\|$")
	failureRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| \\D[^|]* \\|$")
)

// readPage reads the page of earlier runs. It is empty if there is no file.
func readPage(file string) (*page, error) {
	p := &page{packages: map[string]counts{}}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	} else if err != nil {
		return nil, err
	}
	for _, row := range packageRow.FindAllStringSubmatch(string(b), -1) {
		var n counts
		for i, outcome := range []outcome{passed, failed, skipped} {
			n[outcome], _ = strconv.Atoi(row[2+i]) // the expression matches digits
		}
		p.packages[row[1]] = n
	}
	for _, row := range failureRow.FindAllStringSubmatch(string(b), -1) {
		p.failures = append(p.failures, row[1])
	}
	slices.Sort(p.failures) // they are in several tables
	return p, nil
}

// folderOf returns the package of a test, by its name.
func folderOf(name string) string {
	folder, _, _ := strings.Cut(name, ".")
	return folder
}

// replace replaces the packages of the results.
func (p *page) replace(results []result) {
	ran := map[string]counts{}
	for _, r := range results {
		n := ran[folderOf(r.name())]
		n[r.Outcome]++
		ran[folderOf(r.name())] = n
	}
	maps.Copy(p.packages, ran)
	p.failures = slices.DeleteFunc(p.failures, func(name string) bool { _, again := ran[folderOf(name)]; return again })
	for _, r := range results {
		if r.Outcome == failed {
			p.failures = append(p.failures, r.name())
		}
	}
	slices.Sort(p.failures)
}

// specsRow is the row of the specs of e2e.test.
var specsRow = result{Module: kubernetes.path, Folder: specsFolder}.folder()

const pageText = `<!-- Code generated by go run ./upstream in conformance, from Kubernetes v1.{{.Version}}; DO NOT EDIT. -->

# Kubernetes' own tests
{{if .Specs}}
## Conformance tests

These are specs of Kubernetes' end-to-end tests with the label Conformance that belong to SIG API Machinery. Nothing is
replaced: they run against ` + "`fakeapi serve --controllers=scheduler,kubelet`" + ` with one Node, and a stock
kube-controller-manager. Specs that call a program in a Pod are left out: webhooks, converters of custom resources, an
aggregated API server.

` + "```text" + `
go -C conformance run ./upstream -specs '\[sig-api-machinery\].*\[Conformance\]' -table ../docs/upstream-tests.md
` + "```" + `

| Package | pass | fail | skipped |
| --- | ---: | ---: | ---: |
{{with .Specs}}| {{code .Name}} | {{passed .Counts}} | {{failed .Counts}} | {{skipped .Counts}} |
{{end}}{{with .SpecsThatFail}}
| Spec that fails | Reason |
| --- | --- |
{{range .}}| {{code .Name}} | {{.Reason}} |
{{end}}{{end}}{{end}}
## Integration tests

` + "`go run ./upstream`" + ` in ` + "`conformance`" + ` runs these tests of Kubernetes v1.{{.Version}} unchanged. Only the functions that start a
kube-apiserver in the process of a test are replaced: they start this server. Packages that are not
in the table were not run, nor were the benchmarks of scheduler_perf. Of {{total .Total}} tests {{passed .Total}} pass,
{{failed .Total}} fail and {{skipped .Total}} are skipped.

{{len .Process}} of those that fail need more than HTTP: etcd, or a server in their own process. Of the {{total .HTTP}} others that are not
skipped, {{passed .HTTP}} pass: {{percent .HTTP}}.

| Package | pass | fail | skipped |
| --- | ---: | ---: | ---: |
{{range .Packages}}| {{code .Name}} | {{passed .Counts}} | {{failed .Counts}} | {{skipped .Counts}} |
{{end}}
## Tests that fail

| Test | Reason |
| --- | --- |
{{range .Fail}}| {{code .Name}} | {{.Reason}} |
{{end}}
## Tests that need etcd or a server in their own process

| Test | Reason |
| --- | --- |
{{range .Process}}| {{code .Name}} | {{.Reason}} |
{{end -}}
`

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"code":    func(s string) string { return "`" + s + "`" },
	"passed":  func(n counts) int { return n[passed] },
	"failed":  func(n counts) int { return n[failed] },
	"skipped": func(n counts) int { return n[skipped] },
	"total":   func(n counts) int { return n[passed] + n[failed] + n[skipped] },
	"percent": func(n counts) string {
		return fmt.Sprintf("%.1f%%", 100*float64(n[passed])/float64(n[passed]+n[failed]))
	},
}).Parse(pageText))

// write writes the page, with the reason of each test that fails.
func (p *page) write(file string, reasons map[string]reason) error {
	type packageLine struct {
		Name   string
		Counts counts
	}
	type failure struct{ Name, Reason string }
	var data struct {
		Version                      string
		Specs                        *packageLine
		SpecsThatFail, Fail, Process []failure
		Total, HTTP                  counts
		Packages                     []packageLine
	}
	data.Version = version
	for _, folder := range slices.Sorted(maps.Keys(p.packages)) {
		n := p.packages[folder]
		if folder == specsRow {
			data.Specs = &packageLine{folder, n}
			continue
		}
		data.Total.add(n)
		data.Packages = append(data.Packages, packageLine{folder, n})
	}
	for _, name := range p.failures {
		f := failure{name, cmp.Or(reasons[name].text, "unexplained")}
		switch {
		case folderOf(name) == specsRow:
			data.SpecsThatFail = append(data.SpecsThatFail, f)
		case reasons[name].http || reasons[name].text == "":
			data.Fail = append(data.Fail, f)
		default:
			data.Process = append(data.Process, f)
		}
	}
	data.HTTP = counts{failed: len(data.Fail), passed: data.Total[passed]}
	var text bytes.Buffer
	if err := pageTemplate.Execute(&text, data); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}
