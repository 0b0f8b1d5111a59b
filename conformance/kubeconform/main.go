// Kubeconform measures fakeapi validate beside kubeconform v0.7.0 with schemas in local files.
//
//	go run ./kubeconform
//	go run ./kubeconform -documents 10000 -rounds 5
//
// Both validate the same files, ten documents each, of 40 kinds of which 3 are custom, and must
// find all of them valid. There are equally many of each kind; with -classes 10 there are ten of
// StorageClass and the like, as in a cluster, and the other kinds share the rest. The schemas are
// those of the OpenAPI document of the server, and those of the definitions. The two programs run in
// turn, so that a slow minute of the machine slows both, with two processors each. The rows are: all
// documents, one Deployment from the standard input, and ten times as many documents. A cell has the
// median of the rounds, the shortest and the longest wall time, the median of the time of processors,
// and the largest resident set.
//
// It builds the command of this tree, and kubeconform from the module proxy, or takes the one of
// -kubeconform. It is no test, because it measures time.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// module is the command that is measured beside fakeapi validate.
const module = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0"

func main() {
	documents := flag.Int("documents", 10_000, "validate `NUMBER` documents")
	rounds := flag.Int("rounds", 5, "run each program `NUMBER` times")
	classes := flag.Int("classes", 0, "make at most `NUMBER` objects of StorageClass and other kinds of which a cluster has few; 0 is no limit")
	other := flag.String("kubeconform", "", "measure the executable `FILE` (default v0.7.0, which is built)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *documents, *rounds, *classes, *other); err != nil {
		fmt.Fprintln(os.Stderr, "kubeconform:", err)
		os.Exit(1)
	}
}

// run measures and prints a table.
func run(ctx context.Context, documents, rounds, classes int, other string) error {
	dir, err := os.MkdirTemp("", "kubeconform")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fakeapi := filepath.Join(dir, "fakeapi")
	if err := build(ctx, "", "build", "-o", fakeapi, "github.com/kubefake/kubefake/cmd/fakeapi"); err != nil {
		return err
	}
	if other == "" {
		other = filepath.Join(dir, "kubeconform")
		if err := build(ctx, dir, "install", module); err != nil {
			return err
		}
	}
	definitions, schemas := filepath.Join(dir, "definitions.yaml"), filepath.Join(dir, "schemas")
	if err := os.WriteFile(definitions, customKinds, 0o600); err != nil {
		return err
	}
	if err := writeSchemas(schemas, definitions); err != nil {
		return err
	}
	deployment, err := documentOf("Deployment")
	if err != nil {
		return err
	}
	few, many := filepath.Join(dir, "few"), filepath.Join(dir, "many")
	if err := writeDocuments(few, documents, classes); err != nil {
		return err
	}
	if err := writeDocuments(many, 10*documents, classes); err != nil {
		return err
	}
	ours := []string{fakeapi, "validate", "--crds", definitions}
	theirs := []string{other, "-strict", "-summary", "-schema-location", filepath.Join(schemas, schemaFiles)}
	fmt.Printf("%d rounds, load %s\n\n| | fakeapi validate | kubeconform | times as fast |\n| --- | --- | --- | --- |\n", rounds, load())
	for _, w := range []struct {
		name, path, stdin string
		rounds            int
	}{
		{fmt.Sprintf("%d documents", documents), few, "", rounds},
		{"one Deployment, from the standard input", "-", deployment, 4 * rounds},
		{fmt.Sprintf("%d documents", 10*documents), many, "", (rounds + 1) / 2},
	} {
		var a, b []usage
		for range w.rounds {
			u, err := measure(ctx, append(ours, w.path), w.stdin)
			if err != nil {
				return err
			}
			a = append(a, u)
			if u, err = measure(ctx, append(theirs, w.path), w.stdin); err != nil {
				return err
			}
			b = append(b, u)
		}
		fmt.Printf("| %s | %s | %s | %.2f |\n", w.name, cell(a), cell(b), float64(median(b, wall))/float64(median(a, wall)))
	}
	fmt.Printf("\nload %s\n", load())
	return nil
}

// build runs a command of go, which puts what it installs into a folder.
func build(ctx context.Context, bin string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	if cmd.Env = os.Environ(); bin != "" {
		cmd.Env = append(cmd.Env, "GOBIN="+bin, "GOFLAGS=-mod=mod")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// A usage is what a process took.
type usage struct {
	wall, processor time.Duration
	resident        int64 // the largest resident set, in bytes
}

func wall(u usage) time.Duration      { return u.wall }
func processor(u usage) time.Duration { return u.processor }

// measure runs a program with two processors. It fails if the program does not find everything
// valid.
func measure(ctx context.Context, args []string, stdin string) (usage, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(start)}
	if err != nil {
		return u, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out.Bytes()[:min(out.Len(), 2000)])
	}
	u.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	u.resident = maxResident(cmd.ProcessState)
	return u, nil
}

func median(all []usage, of func(usage) time.Duration) time.Duration {
	times := make([]time.Duration, len(all))
	for i, u := range all {
		times[i] = of(u)
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// cell returns the cell of a table.
func cell(all []usage) string {
	least, most, resident := all[0].wall, all[0].wall, int64(0)
	for _, u := range all {
		least, most, resident = min(least, u.wall), max(most, u.wall), max(resident, u.resident)
	}
	return fmt.Sprintf("%s (%s-%s), %s of processors, %d MiB", seconds(median(all, wall)), seconds(least), seconds(most), seconds(median(all, processor)), resident>>20)
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// load returns the load of the machine, as far as it says so.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
