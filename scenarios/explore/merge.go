package explore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A Merged is the report of several searches of a system, such as the shards of one.
type Merged struct {
	// Name is that of the test; "" for searches that are no test's.
	Name string
	// Searches is the number of searches that have ended, and Running are those that have not.
	Searches int
	Running  []Running
	// States is the number of states that runs have reached.
	States int
	// Report has the coverage of all, and each finding once. Elapsed is 0.
	Report
}

// Merge reads what searches have left in directories, with those below them, and returns a report
// for each system, by name. A violation of the same oracle and subject is one finding, of the
// first plan that had it. The order of the directories does not matter. Searches that have not ended
// are there with what they have tried so far. It fails with [ErrNoSearch] if a directory has no search.
func Merge(dirs ...string) ([]*Merged, error) {
	byName := map[string][]*record{}
	found := map[string]bool{}
	for _, root := range dirs {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			for _, files := range []string{runningFiles, recordFiles} {
				records, err := readRecords(path, files)
				if err != nil {
					return err
				}
				for _, r := range records {
					found[root] = true
					byName[r.Name] = append(byName[r.Name], r)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if !found[root] {
			return nil, fmt.Errorf("%s: %w", root, ErrNoSearch)
		}
	}
	var out []*Merged
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, merge(name, byName[name]))
	}
	return out, nil
}

// ErrNoSearch is returned for a directory without a search.
var ErrNoSearch = errors.New("no search has left anything in it; -explore.dir and --dir make a search do that")

// merge returns the report of the searches of one system.
func merge(name string, records []*record) *Merged {
	m := &Merged{Name: name}
	slices.SortFunc(records, func(a, b *record) int { return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.dir, b.dir)) })
	plans, states := digests{}, digests{}
	for _, r := range records {
		if r.Running != nil {
			m.Running = append(m.Running, *r.Running)
		} else {
			m.Searches++
		}
		maps.Copy(plans, r.Plans)
		maps.Copy(states, r.States)
		m.Points = Points{max(m.Points.Writes, r.Reference.Writes), max(m.Points.Deliveries, r.Reference.Deliveries), max(m.Points.Lists, r.Reference.Lists)}
		for _, c := range r.Coverage {
			m.coverage(c.Sort, c.Action).add(c)
		}
		for _, p := range r.Permissions {
			m.permission(p)
		}
		for _, f := range r.Findings {
			m.Findings = append(m.Findings, r.finding(f))
		}
		for _, f := range r.Unrepeated {
			m.Unrepeated = append(m.Unrepeated, r.finding(f))
		}
	}
	m.Plans, m.States = len(plans), len(states)
	m.Findings = once(m.Findings)
	m.Unrepeated = slices.DeleteFunc(once(m.Unrepeated), func(f *Finding) bool {
		return slices.ContainsFunc(m.Findings, func(repeated *Finding) bool { return repeated.same(f.Violation) })
	})
	return m
}

// once returns the findings in the order of their first plans, each violation once.
func once(findings []*Finding) (out []*Finding) {
	slices.SortStableFunc(findings, func(a, b *Finding) int { return cmp.Compare(a.first, b.first) })
	for _, f := range findings {
		i := slices.IndexFunc(out, func(other *Finding) bool { return other.same(f.Violation) })
		if i < 0 {
			out = append(out, f)
			continue
		}
		out[i].Plans += f.Plans
	}
	return out
}

// String returns the report in several lines.
func (m *Merged) String() string {
	var b strings.Builder
	if m.Name != "" {
		fmt.Fprintf(&b, "%s: ", m.Name)
	}
	fmt.Fprintf(&b, "searches: %d\n", m.Searches)
	for _, r := range m.Running {
		fmt.Fprintf(&b, "running: %s\n", r)
	}
	b.WriteString(m.Report.String())
	return b.String()
}
