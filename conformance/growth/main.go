// Growth measures how the cost of a request grows with what a server has: objects,
// namespaces, definitions, managers of an object, old versions, watches.
//
//	go run ./growth
//	go run ./growth -only watches -write ../docs/growth.md
//
// For each axis it starts a server of each size in this process, and measures each request
// on all of them in turn, so that a slow moment of the machine slows all sizes: the median
// of several batches, through the in-memory transport and on one core. It prints a table for
// each axis. The exponent of a row is the slope of the time over the size, both as
// logarithms: 0 is a constant time, 1 a linear one.
//
// With -write it writes the tables and plots of them as a page of the documentation. It
// fails if a write is slower than the limits below allow.
//
// It needs about 4 GiB of memory and some minutes on a quiet machine. It is no test,
// because it measures time.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// The limits: a write may take so many times as long at the largest size of an axis as at
// its smallest.
var limits = map[string]float64{
	"objects in other namespaces":      1.3,
	"idle watches of other namespaces": 1.1,
}

// writes are the requests that the limits hold for.
var writes = []string{"create", "update", "merge patch", "apply", "delete"}

// A table has the results of an axis.
type table struct {
	axis
	requests []string
	times    [][]time.Duration // by request and size
}

func main() {
	only := flag.String("only", ".", "measure the axes whose names match `REGEXP`")
	largest := flag.Int("largest", 1_000_000, "skip sizes above `NUMBER`")
	page := flag.String("write", "", "write the tables and plots to the Markdown `FILE`, and beside it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only, *largest, *page); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, largest int, page string) error {
	matches, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var tables []*table
	var slow []string
	for _, a := range axes {
		if !matches.MatchString(a.name) {
			continue
		}
		a.sizes = slices.DeleteFunc(slices.Clone(a.sizes), func(n int) bool { return n > largest })
		t, err := measure(ctx, a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		t.print(os.Stdout)
		slow = append(slow, t.tooSlow()...)
		tables = append(tables, t)
	}
	if page != "" {
		if err := write(page, tables); err != nil {
			return err
		}
	}
	if len(slow) > 0 {
		return fmt.Errorf("above the limit: %s", strings.Join(slow, "; "))
	}
	return nil
}

// measure measures all requests at all sizes of an axis.
func measure(ctx context.Context, a axis) (*table, error) {
	var servers []*server
	defer func() {
		for _, s := range servers {
			s.close()
		}
	}()
	for _, n := range a.sizes {
		s, err := newServer()
		if err != nil {
			return nil, err
		}
		servers = append(servers, s)
		if err := a.grow(s, n); err != nil {
			return nil, err
		}
	}
	runtime.GC()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // it is chance on which core a goroutine goes on
	took := make([][][]time.Duration, len(requests)) // by request, size and batch
	for i := range took {
		took[i] = make([][]time.Duration, len(servers))
	}
	for range batches {
		for i, r := range requests {
			for size, s := range servers {
				d, err := s.batch(ctx, r)
				if err != nil {
					return nil, err
				}
				took[i][size] = append(took[i][size], d)
			}
		}
	}
	t := &table{axis: a}
	for i, r := range requests {
		var medians []time.Duration
		for _, ds := range took[i] {
			slices.Sort(ds)
			medians = append(medians, ds[len(ds)/2])
		}
		t.requests, t.times = append(t.requests, r.name), append(t.times, medians)
	}
	return t, nil
}

// print prints the table.
func (t *table) print(to io.Writer) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\t", t.name)
	for _, n := range t.sizes {
		fmt.Fprintf(w, "%s\t", count(n))
	}
	fmt.Fprintln(w, "exponent\t")
	for i, name := range t.requests {
		fmt.Fprintf(w, "%s\t", name)
		for _, d := range t.times[i] {
			fmt.Fprintf(w, "%s\t", microseconds(d))
		}
		fmt.Fprintf(w, "%.2f\t\n", t.exponent(i))
	}
	w.Flush()
	fmt.Fprintln(to)
}

// count formats a number with a separator of thousands.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// microseconds formats a time in microseconds.
func microseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1000)
}

// exponent returns the slope of a row, by least squares.
func (t *table) exponent(row int) float64 {
	var x, y, xx, xy, n float64
	for i, d := range t.times[row] {
		lx, ly := math.Log(float64(max(t.sizes[i], 1))), math.Log(float64(d))
		x, y, xx, xy, n = x+lx, y+ly, xx+lx*lx, xy+lx*ly, n+1
	}
	if n < 2 {
		return 0
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// tooSlow returns the writes that are above the limit of the axis.
func (t *table) tooSlow() (out []string) {
	limit, limited := limits[t.name]
	for i, name := range t.requests {
		first, last := t.times[i][0], t.times[i][len(t.sizes)-1]
		if ratio := float64(last) / float64(first); limited && slices.Contains(writes, name) && ratio > limit {
			out = append(out, fmt.Sprintf("%s with %s %s: %.2f times", name, count(t.sizes[len(t.sizes)-1]), t.name, ratio))
		}
	}
	return out
}
