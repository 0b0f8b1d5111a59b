package explore

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/backdoor"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/story"
)

// Show makes the page of a server show what the searches of a directory have tried and found so far, and
// the stories of their findings. It shows those below the directory too, which need not exist yet. The
// server reads it when it is asked.
func Show(srv *fakeapi.Server, dir string) { backdoor.Of(srv).ShowSearches(directory(dir)) }

// A directory has the files of searches.
type directory string

var _ control.Searches = directory("")

// merge returns the reports of the directory, none before the first search has written something.
func (d directory) merge() ([]*Merged, error) {
	merged, err := Merge(string(d))
	if errors.Is(err, ErrNoSearch) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return merged, err
}

// Explored implements [control.Searches].
func (d directory) Explored() (control.Explored, error) {
	merged, err := d.merge()
	if err != nil {
		return control.Explored{}, status.Internal(err.Error())
	}
	out := control.Explored{Directory: string(d), Systems: []control.ExploredSystem{}}
	for _, m := range merged {
		s := m.system(time.Now())
		for _, list := range [][]control.ExploredFinding{s.Findings, s.Unrepeated} {
			for j := range list {
				list[j].StoryName = d.nameOf(list[j].Story)
			}
		}
		out.Systems = append(out.Systems, s)
	}
	return out, nil
}

// nameOf returns the name of a story, "" for "".
func (d directory) nameOf(file string) string {
	if name, err := filepath.Rel(string(d), file); file != "" && err == nil {
		return filepath.ToSlash(name)
	}
	return ""
}

// Story implements [control.Searches]. It reads only files that the searches name.
func (d directory) Story(name string) (*story.Story, error) {
	merged, err := d.merge()
	if err != nil {
		return nil, status.Internal(err.Error())
	}
	for _, m := range merged {
		for _, f := range append(m.Findings, m.Unrepeated...) {
			if f.Story == "" || d.nameOf(f.Story) != name {
				continue
			}
			html, err := inputfile.Read(f.Story)
			if err != nil {
				return nil, status.Internal(err.Error())
			}
			s, err := story.ReadPage(html)
			if err != nil {
				return nil, status.Internal(f.Story + ": " + err.Error())
			}
			return s, nil
		}
	}
	return nil, status.Failure(http.StatusNotFound, status.ReasonNotFound, "no finding has the story "+name, nil)
}

// MarshalJSON implements [json.Marshaler]. The JSON is that of the control endpoint.
func (m *Merged) MarshalJSON() ([]byte, error) { return json.Marshal(m.system(time.Now())) }

// system returns the report as the control endpoint has it, at the time now.
func (m *Merged) system(now time.Time) control.ExploredSystem {
	s := control.ExploredSystem{
		Name: m.Name, Searches: m.Searches, Plans: m.Plans, States: m.States, Writes: m.Points.Writes, Deliveries: m.Points.Deliveries, Lists: m.Points.Lists,
		Findings: findings(m.Findings), Unrepeated: findings(m.Unrepeated), Coverage: []control.ExploredCoverage{},
		Permissions: []control.ExploredPermission{},
	}
	for _, r := range m.Running {
		whole := max(r.Ends.Sub(r.Began), 1)
		s.Running = append(s.Running, control.RunningSearch{
			Summary: r.String(), Done: min(1, float64(r.Said.Sub(r.Began))/float64(whole)), Silent: max(0, int(now.Sub(r.Said).Seconds())),
		})
	}
	for _, p := range m.Permissions {
		s.Permissions = append(s.Permissions, control.ExploredPermission(p))
	}
	for _, c := range m.Coverage {
		s.Coverage = append(s.Coverage, control.ExploredCoverage{Sort: c.Sort, Action: string(c.Action), Points: c.Points, Done: c.Done, Equal: c.Equal})
	}
	return s
}

// findings returns findings as the control endpoint has them.
func findings(from []*Finding) []control.ExploredFinding {
	out := []control.ExploredFinding{}
	for _, f := range from {
		plan, decisions := []json.RawMessage{}, []string{}
		for _, d := range f.Plan {
			text, _ := json.Marshal(d) // strings and numbers always encode
			plan, decisions = append(plan, text), append(decisions, d.String())
		}
		out = append(out, control.ExploredFinding{
			Oracle: string(f.Oracle), Subject: f.Subject, Detail: f.Detail, Plan: plan, Decisions: decisions,
			Plans: f.Plans, Tried: f.Tried, Repeated: f.Repeated, File: f.File, Story: f.Story, Command: f.Command,
		})
	}
	return out
}
