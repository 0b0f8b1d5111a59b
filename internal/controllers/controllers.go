// Package controllers is what a cluster does by itself: the controllers of
// kube-controller-manager, a scheduler and a kubelet, which act on the objects of one
// server. None runs unless it is asked for.
//
// Each controller has a folder of its own, named as it is, with a function Start.
// Package controller has what they are written with.
package controllers

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/suggest"
)

// ErrUnknown is, for errors.Is, the error for a controller that does not exist.
var ErrUnknown = errors.New("unknown controller")

// A Manager runs the controllers of one server. It is safe for concurrent use.
type Manager struct {
	config controller.Config

	mu       sync.Mutex // guards the fields below
	selected []string
	runtime  *controller.Runtime // nil if no controller is on
	closed   bool
}

// NewManager returns a Manager without controllers for a server of a release.
func NewManager(c *cluster.Cluster, faults *fault.Set, r *release.Release) *Manager {
	return &Manager{config: controller.Config{Cluster: c, Faults: faults, Release: r, Lifecycle: &lifecycle.Set{}}}
}

// Lifecycle returns what Pods and Nodes do by themselves. After a change the caller
// calls Wake.
func (m *Manager) Lifecycle() *lifecycle.Set { return m.config.Lifecycle }

// Inherit makes Pods and Nodes do what they do on another server. It must be called
// before Select.
func (m *Manager) Inherit(from *Manager) { m.config.Lifecycle.Inherit(from.config.Lifecycle) }

// Wake makes controllers that run on a running clock look for work.
func (m *Manager) Wake() {
	if r := m.current(); r != nil {
		r.Wake()
	}
}

// SetRootCA sets the CA certificate that the root-ca-certificate-publisher-controller
// publishes, in PEM. Controllers that run already do not see it.
func (m *Manager) SetRootCA(pem []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.config.RootCA = string(pem)
}

// SetSigner sets what issues certificates for the
// certificatesigningrequest-signing-controller: in PEM, of a public key, signed by the CA
// of the cluster. Controllers that run already do not see it.
func (m *Manager) SetSigner(sign func(template *x509.Certificate, public crypto.PublicKey) ([]byte, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.config.Sign = sign
}

// Select starts and stops controllers: those of the selection run when it returns, and
// no others. The selection has the syntax of --controllers: "*" is every controller
// that is on by default, "foo" turns foo on, "-foo" turns it off. A string may have
// several, separated by commas. A change of the
// selection restarts all controllers, as a restart of kube-controller-manager does. An
// unknown name is an ErrUnknown.
func (m *Manager) Select(selection []string) error {
	starters, err := selected(selection)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	if m.runtime != nil {
		m.runtime.Close()
		m.runtime = nil
	}
	m.selected = slices.Clone(selection)
	if len(starters) == 0 {
		return nil
	}
	m.runtime, err = controller.New(m.config, starters)
	return err
}

// Upgrade restarts the controllers with another release of the server.
func (m *Manager) Upgrade(to *release.Release) error {
	m.mu.Lock()
	m.config.Release = to
	selected := slices.Clone(m.selected)
	m.mu.Unlock()
	return m.Select(selected)
}

// Selection returns the argument of the last Select.
func (m *Manager) Selection() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.selected)
}

// current returns what runs the controllers, nil if none is on.
func (m *Manager) current() *controller.Runtime {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runtime
}

// Run runs all that is due now. It does nothing without controllers.
func (m *Manager) Run() { _ = m.RunContext(context.Background()) }

// RunOutside is Run, but it returns false at once if a controller waits for a function of a
// fault, which may be the caller, or if no controller is on.
func (m *Manager) RunOutside() bool {
	r := m.current()
	return r != nil && r.RunOutside()
}

// RunContext is Run until ctx ends; then it returns the cause.
func (m *Manager) RunContext(ctx context.Context) error {
	if r := m.current(); r != nil {
		return r.RunContext(ctx)
	}
	return nil
}

// RunDue is RunContext, except that it does not end batches.
func (m *Manager) RunDue(ctx context.Context) error {
	if r := m.current(); r != nil {
		return r.RunDue(ctx)
	}
	return nil
}

// Next returns the next time at which a controller has something to do; false if there
// is none.
func (m *Manager) Next() (time.Time, bool) {
	if r := m.current(); r != nil {
		return r.Next()
	}
	return time.Time{}, false
}

// Close ends the controllers. When it returns, none runs.
func (m *Manager) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.runtime != nil {
		m.runtime.Close()
		m.runtime = nil
	}
}

// Names returns the names of the controllers in the order in which they start.
func Names() []string {
	names := make([]string, len(known))
	for i := range known {
		names[i] = known[i].name
	}
	return names
}

// An unknown is an ErrUnknown with a text of its own.
type unknown string

func (e unknown) Error() string { return string(e) }

func (e unknown) Is(target error) bool { return target == ErrUnknown }

// Check fails with an ErrUnknown for a selection that Select does not take.
func Check(selection []string) error {
	_, err := selected(selection)
	return err
}

// selected returns the controllers of a selection.
func selected(selection []string) ([]controller.Starter, error) {
	selection = split(selection)
	on := map[string]bool{}
	for _, s := range selection {
		name, off := strings.CutPrefix(s, "-")
		if s == "*" {
			continue
		}
		c := find(name)
		if c == nil && slices.Contains(missing, name) {
			if off {
				continue
			}
			return nil, unknown(fmt.Sprintf("this server does not have the %s of kube-controller-manager", name))
		}
		if c == nil {
			return nil, unknown(fmt.Sprintf("%q is not in the list of known controllers%s", name, intended(name)))
		}
		if _, said := on[c.name]; !said { // the first mention decides, as in kube-controller-manager
			on[c.name] = !off
		}
	}
	everything := slices.Contains(selection, "*")
	var out []controller.Starter
	for i := range known {
		c := &known[i]
		enabled, said := on[c.name]
		if said && enabled || !said && everything && !c.offByDefault {
			out = append(out, controller.Starter{Name: c.name, Start: c.start})
		}
	}
	return out, nil
}

// split returns the names in comma-separated lists. "none" is no name.
func split(lists []string) (names []string) {
	for _, list := range lists {
		for _, name := range strings.Split(list, ",") {
			if name = strings.TrimSpace(name); name != "" && name != "none" {
				names = append(names, name)
			}
		}
	}
	return names
}

// intended ends the error for a name that is unknown: with the names that may be meant, or
// with all.
func intended(name string) string {
	names := make([]suggest.Name, len(known))
	for i, c := range known {
		names[i] = suggest.Name{Name: c.name, Aliases: []string{c.alias}}
	}
	if text := suggest.DidYouMeanAny(name, names); text != "" {
		return text
	}
	return ": " + strings.Join(Names(), ", ")
}

func find(name string) *entry {
	for i := range known {
		if known[i].name == name || known[i].alias == name && name != "" {
			return &known[i]
		}
	}
	return nil
}
