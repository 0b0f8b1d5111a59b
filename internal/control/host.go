package control

import (
	"context"
	"net/http"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/status"
)

// A Host is what a server has apart from its objects: a listener, credentials and
// forks. Its methods are safe for concurrent use, and their errors are of type
// *status.Status.
type Host interface {
	// Fork starts a server with the state of this one. The host ends it with this one,
	// or when EndForks ends it.
	Fork() (Fork, error)
	// Forks returns the forks that have not ended, oldest first.
	Forks() []Fork
	// EndForks ends the forks with these IDs, all of them if ids is nil, and returns
	// them. It fails without an effect if there is no fork of an ID.
	EndForks(ids []string) ([]Fork, error)
	// StartReplica starts another API server of the cluster. It ends with the first one.
	StartReplica() (Replica, error)
	// Replicas returns the API servers of the cluster, the first one first.
	Replicas() []Replica
	// Failover moves clients to an API server of the cluster.
	Failover(userAgent, replica string) error
	// Signal sends a signal to a process that the host knows by a name.
	Signal(in Signal) error
	// Upgrade restarts the server with another Kubernetes release.
	Upgrade(release string) error
	// Release returns the name of the release that the server has.
	Release() string
	// Kubeconfig returns a kubeconfig file with a token of a user.
	Kubeconfig(user authn.User) (Kubeconfig, error)
	// Play plays the scenarios of a text against the server, until they have ended or ctx does.
	Play(ctx context.Context, text string) (Played, error)
	// InstallWebhooks lets the client serve webhooks.
	InstallWebhooks(Webhooks) (WebhookListener, error)
}

// SetHost sets the host of the server. Without one, requests that need it fail.
func (c *Control) SetHost(h Host) { c.host.Store(&h) }

// onHost returns an endpoint that calls f with the host of the server.
func onHost[In, Out any](f func(Host, In) (Out, error)) endpoint {
	return serve(func(c *Control, _ *Request, in In) (out Out, err error) {
		h, err := c.theHost()
		if err != nil {
			return out, err
		}
		return f(h, in)
	})
}

// theHost returns the host of the server.
func (c *Control) theHost() (Host, error) {
	h := c.host.Load()
	if h == nil {
		return nil, status.Failure(http.StatusServiceUnavailable, status.ReasonServiceUnavailable, "the server has no listener of its own", nil)
	}
	return *h, nil
}

// A Fork is a server that began with the state, history, lags and faults of another
// one. The two are independent, but the fork ends with the other one at the latest.
type Fork struct {
	// ID identifies the fork among those of the server.
	ID string `json:"id"`
	// URL is the base URL of the fork, without a trailing slash.
	URL string `json:"url"`
	// Kubeconfig is a kubeconfig file for the fork. Its user is a member of
	// system:masters.
	Kubeconfig string `json:"kubeconfig"`
}

// Forks are forks of the server, oldest first.
type Forks struct {
	Forks []Fork `json:"forks"`
}

// A ForksQuery selects forks.
type ForksQuery struct {
	// IDs selects forks by their identifiers. Without it, all are selected.
	IDs []string `query:"id"`
}

func fork(h Host, _ none) (Fork, error) { return h.Fork() }

func listForks(h Host, _ none) (Forks, error) { return Forks{append([]Fork{}, h.Forks()...)}, nil }

func endForks(h Host, in ForksQuery) (Forks, error) {
	ended, err := h.EndForks(in.IDs)
	return Forks{append([]Fork{}, ended...)}, err
}

// A Replica is an API server of the cluster, with the same objects, clock and controllers as
// the others, and with watch caches, lags and faults of its own.
type Replica struct {
	// ID identifies the replica. The first server has the ID 1.
	ID string `json:"id"`
	// URL is the base URL of the replica, without a trailing slash.
	URL string `json:"url"`
	// Kubeconfig is a kubeconfig file for the replica. Its user is a member of
	// system:masters. It is empty if the server has no listener.
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// Replicas are the API servers of the cluster, the first one first.
type Replicas struct {
	Replicas []Replica `json:"replicas"`
}

// A Failover moves clients to a replica: it breaks their connections, and the replica serves
// their next requests to any server of the cluster, except those to control endpoints.
type Failover struct {
	// UserAgent matches the User-Agent header of the clients, such as manager/*.
	UserAgent string `json:"userAgent"`
	// Replica is the ID of the replica. 1 is the first server.
	Replica string `json:"replica"`
}

func startReplica(h Host, _ none) (Replica, error) { return h.StartReplica() }

func listReplicas(h Host, _ none) (Replicas, error) { return Replicas{h.Replicas()}, nil }

func failover(h Host, in Failover) (Replicas, error) {
	if in.UserAgent == "" {
		return Replicas{}, status.BadRequest("userAgent: the clients are not selected")
	}
	if err := h.Failover(in.UserAgent, in.Replica); err != nil {
		return Replicas{}, err
	}
	return Replicas{h.Replicas()}, nil
}

// A Signal is a signal to a process.
type Signal struct {
	// Process is the name that the flag --process or fakeapi.WithProcess gives the process.
	Process string `json:"process"`
	// Signal is SIGKILL, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGSTOP or
	// SIGCONT. On Windows it is SIGKILL.
	Signal string `json:"signal"`
	// Duration, such as 15s, sends SIGCONT that long after SIGSTOP.
	Duration string `json:"duration,omitempty"`
}

func signal(h Host, in Signal) (Signal, error) { return in, h.Signal(in) }

// A Release is a Kubernetes release.
type Release struct {
	// Release is its name, such as v1.36.3. In a request it may leave out the patch release.
	Release string `json:"release"`
}

func upgrade(h Host, in Release) (Release, error) {
	if in.Release == "" {
		return Release{}, status.BadRequest("release: it is not named")
	}
	if err := h.Upgrade(in.Release); err != nil {
		return Release{}, err
	}
	return Release{h.Release()}, nil
}

// A User is the user of a kubeconfig. Without a name it is admin, a member of
// system:masters.
type User struct {
	Name   string              `json:"name,omitempty"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// A Kubeconfig is a kubeconfig file and the bearer token that it has.
type Kubeconfig struct {
	Kubeconfig string `json:"kubeconfig"`
	Token      string `json:"token"`
}

func kubeconfig(h Host, in User) (Kubeconfig, error) {
	user := authn.User{Name: in.Name, UID: in.UID, Groups: in.Groups, Extra: in.Extra}
	if in.Name == "" {
		if in.UID != "" || in.Groups != nil || in.Extra != nil {
			return Kubeconfig{}, status.BadRequest("name: the user has no name")
		}
		user = *authn.Administrator()
	}
	return h.Kubeconfig(user)
}

// Webhooks says which webhooks the client serves.
type Webhooks struct {
	// Services have DNS names for which the certificate is valid, each as
	// namespace/name. It is also valid for those of the webhook configurations and
	// CustomResourceDefinitions that the server has.
	Services []string `json:"services,omitempty"`
	// Convert has the names of CustomResourceDefinitions that get a conversion webhook
	// with the path /convert.
	Convert []string `json:"convert,omitempty"`
}

// A WebhookListener is where and how the client serves webhooks over HTTPS.
type WebhookListener struct {
	// Host and Port are the address to listen on. Calls of webhooks wait up to ten
	// seconds until the client does.
	Host string `json:"host"`
	Port int    `json:"port"`
	// Certificate and Key are the certificate of the webhooks and its key in PEM.
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	// CABundle is the CA certificate of the webhooks in PEM. The server has set it in
	// the configurations that it has. Later ones need it, encoded in base64.
	CABundle string `json:"caBundle"`
}

func installWebhooks(h Host, in Webhooks) (WebhookListener, error) { return h.InstallWebhooks(in) }
