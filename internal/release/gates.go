package release

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/once"
	"github.com/kubefake/kubefake/internal/release/data"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/suggest"
)

// A Gate is a feature gate of kube-apiserver in one release.
type Gate struct {
	Name    string
	Stage   string // ALPHA, BETA, GA or DEPRECATED
	Default bool
	Locked  bool     // to its default
	Needs   []string // the gates that must be on if this one is
}

// The gates that stand for all gates of a stage that are not set.
const (
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// A gateState is the state of a gate from a release on.
type gateState struct {
	minor int
	gate  *Gate // nil from the release on that does not have it
}

// parseStates parses the states of a gate, the oldest first.
func parseStates(name, text string) []gateState {
	var out []gateState
	for _, word := range strings.Split(text, " ") {
		release, state, _ := strings.Cut(word, ":")
		s := gateState{minor: minorNumber(release)}
		if state != "-" {
			s.gate = parseGate(name, state)
		}
		out = append(out, s)
	}
	return out
}

// statesOf returns the states of a gate, none if no release has it.
func statesOf(name string) []gateState {
	_, after, ok := strings.Cut(data.Gates(), "\n"+name+" ")
	if !ok {
		return nil
	}
	line, _, _ := strings.Cut(after, "\n")
	return parseStates(name, line)
}

// parseGate parses a state such as "BETA=true,locked,needs=X".
func parseGate(name, state string) *Gate {
	stage, state, _ := strings.Cut(state, "=")
	value, rest, _ := strings.Cut(state, ",")
	g := &Gate{Name: name, Stage: stage, Default: value == "true"}
	for _, word := range strings.Split(rest, ",") {
		if need, ok := strings.CutPrefix(word, "needs="); ok {
			g.Needs = append(g.Needs, need)
		} else if word == "locked" {
			g.Locked = true
		}
	}
	return g
}

// gateOf returns a gate of a release, nil if the release does not have it.
func gateOf(minor int, name string) *Gate { return gateIn(minor, statesOf(name)) }

// gateIn returns what a gate with the given states is in a release.
func gateIn(minor int, states []gateState) (found *Gate) {
	for _, s := range states {
		if s.minor <= minor {
			found = s.gate
		}
	}
	return found
}

// Gates returns the feature gates of the release, sorted by their names.
func (r *Release) Gates() []Gate {
	var all []Gate
	for _, line := range strings.Split(data.Gates(), "\n") {
		name, states, ok := strings.Cut(line, " ")
		if !ok || name == "#" {
			continue
		}
		if g := gateIn(r.Minor(), parseStates(name, states)); g != nil {
			all = append(all, *g)
		}
	}
	slices.SortFunc(all, func(a, b Gate) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Enabled reports whether a feature is on. A feature whose gate comes with a later
// release is off; one whose gate is gone is as it was in the last release that had the
// gate. It panics for a name that is no gate of any release.
func (r *Release) Enabled(gate string) bool { return r.enabled(gate) }

// enabledIn returns [Release.Enabled] of a minor release in which the changed gates do not have
// their default. It keeps the values that were asked for.
func enabledIn(minor int, changed map[string]bool) func(gate string) bool {
	return once.PerKey(func(gate string) bool {
		states := statesOf(gate)
		if len(states) == 0 {
			panic("release: no feature gate " + strconv.Quote(gate))
		}
		on, set := changed[gate]
		for _, s := range states {
			if !set && s.minor <= minor && s.gate != nil {
				on = s.gate.Default
			}
		}
		return on
	})
}

// ParseGates parses the values of --feature-gates, such as "A=true,B=false". A value may
// begin with "kube:". The errors are those of kube-apiserver.
func ParseGates(values []string) (map[string]bool, error) {
	set := map[string]bool{}
	plain, prefixed := false, false
	for _, word := range strings.Split(strings.Join(values, ","), ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(word), "=")
		if component, gate, qualified := strings.Cut(name, ":"); qualified {
			if component != "kube" {
				return nil, fmt.Errorf("component not registered: %s", component)
			}
			name, prefixed = gate, true
		} else if name != "" {
			plain = true
		}
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("missing bool value for %s", name)
		}
		text = strings.TrimSpace(text)
		on, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("invalid value of %s=%s, err: %w", name, text, err)
		}
		set[name] = on
	}
	if plain && prefixed {
		return nil, errors.New("set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use")
	}
	return set, nil
}

// changed has the releases that Release.with has made, so that servers of the same
// configuration share what is made of them.
var changed struct {
	sync.Mutex
	releases map[changedKey]*Release
}

type changedKey struct {
	*Release
	change string
}

// with returns the release with a change, which has a name. The results for a name are the same.
func (r *Release) with(name string, change func(*Release)) *Release {
	key := changedKey{r, name}
	changed.Lock()
	defer changed.Unlock()
	if out := changed.releases[key]; out != nil {
		return out
	}
	out := new(Release)
	*out = *r
	change(out)
	out.gated()
	if changed.releases == nil {
		changed.releases = map[changedKey]*Release{}
	}
	changed.releases[key] = out
	return out
}

// WithoutPrivileged returns the release as kube-apiserver serves it without --allow-privileged:
// Pods may not have privileged containers. The caller may compare the results with ==.
func (r *Release) WithoutPrivileged() *Release {
	return r.with("without privileged containers", func(out *Release) { out.unprivileged = true })
}

// Privileged reports whether Pods may have privileged containers.
func (r *Release) Privileged() bool { return !r.unprivileged }

// WithGates returns the release with feature gates set as by --feature-gates. Gates that are
// not set have their default, or the value of AllAlpha or AllBeta. It fails in the words
// of kube-apiserver for unknown and locked gates, and if a gate that is on needs one
// that is off. The caller may compare the results of equal configurations with ==.
func (r *Release) WithGates(set map[string]bool) (*Release, error) {
	gates, err := r.changedGates(set)
	if err != nil || len(gates) == 0 {
		return r, err
	}
	name := fmt.Sprint(gates) // maps are printed in the order of their keys
	return r.with(name, func(out *Release) { out.changed, out.enabled = gates, enabledIn(r.minor, gates) }), nil
}

// intendedGate ends the error for a gate that the release does not have: with the releases
// that have it, or the gates that may be meant.
func (r *Release) intendedGate(name string) string {
	if states := statesOf(name); len(states) > 0 {
		first, last := states[0], states[len(states)-1]
		if first.minor > r.Minor() {
			return fmt.Sprintf("; it comes with v1.%d", first.minor)
		}
		return fmt.Sprintf("; it is gone since v1.%d", last.minor)
	}
	var names []string
	for _, g := range r.Gates() {
		names = append(names, g.Name)
	}
	return suggest.DidYouMean(name, names)
}

// changedGates returns the gates that do not have their default.
func (r *Release) changedGates(set map[string]bool) (map[string]bool, error) {
	if len(set) == 0 {
		return nil, nil
	}
	minor, errs := r.Minor(), []error(nil)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		switch g := gateOf(minor, name); {
		case g == nil:
			return nil, fmt.Errorf("unrecognized feature gate: %s%s", name, r.intendedGate(name))
		case g.Locked && g.Default != set[name]:
			errs = append(errs, fmt.Errorf("cannot set feature gate %v to %v, feature is locked to %v", name, set[name], g.Default))
		}
	}
	if len(errs) > 0 {
		return nil, errors.New(status.Aggregate(errs))
	}
	all := r.Gates()
	on, changed := map[string]bool{}, map[string]bool{}
	for _, g := range all {
		value, ok := set[g.Name]
		if stage, of := set[map[string]string{"ALPHA": allAlpha, "BETA": allBeta}[g.Stage]]; !ok && of && g.Name != allAlpha && g.Name != allBeta {
			value, ok = stage, true
		}
		if !ok {
			value = g.Default
		}
		if on[g.Name] = value; value != g.Default {
			changed[g.Name] = value
		}
	}
	for _, g := range all {
		if off := slices.DeleteFunc(slices.Clone(g.Needs), func(need string) bool { return on[need] }); on[g.Name] && len(off) > 0 {
			errs = append(errs, fmt.Errorf("%s is enabled, but depends on features that are disabled: %v", g.Name, off))
		}
	}
	if len(errs) > 0 {
		return nil, errors.New(status.Aggregate(errs))
	}
	return changed, nil
}
