package story

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/journal"
)

// A Client is a program that made requests.
type Client struct {
	// Name is the controller, the component or the program, as its user agent names it:
	// "deployment-controller", "kubectl", "manager".
	Name      string `json:"name"`
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	// Manager is the field manager of a write; "" if it is the default of the user agent.
	Manager string `json:"manager,omitempty"`
}

// String returns the client as "kubectl (kubectl-edit)".
func (c Client) String() string {
	if c.Manager != "" && c.Manager != c.Name {
		return c.Name + " (" + c.Manager + ")"
	}
	return c.Name
}

const unnamed = "an unnamed client"

// client returns the client of a user and a user agent.
func client(user, userAgent string) Client {
	return Client{Name: clientName(user, userAgent), User: user, UserAgent: userAgent}
}

// writer returns the client that made a transaction.
func writer(w journal.Writer) Client {
	c := client(w.User, w.UserAgent)
	program, _ := splitAgent(w.UserAgent)
	if w.Manager != "" && w.Manager != program { // by default they are equal
		c.Manager = w.Manager
	}
	switch {
	case c.Manager != "":
		if program == "" || program == "Go-http-client" { // the user agent names no program
			c.Name = c.Manager
		}
	case w.UserAgent != "":
	case w.Verb == "store", w.Verb == "remove", w.Verb == "restore":
		c.Name = "the test"
	default:
		c.Name = "the server"
	}
	return c
}

// controllerManagers are the programs that run many controllers. Each of them has a client,
// with the name of the controller as its word or as its service account.
var controllerManagers = []string{"kube-controller-manager", "cloud-controller-manager"}

// shared are the words of clients that the parts of a program share.
var shared = []string{"leader-election", "shared-informers", "metadata-informers", "controller-discovery"}

// clientName returns the name of the client of a user and a user agent: the controller, or the
// word by which a client of client-go distinguishes itself from others of its program, or the
// program.
func clientName(user, userAgent string) string {
	program, word := splitAgent(userAgent)
	if account := serviceAccount(word); account != "" {
		word = account
	}
	switch {
	case program == "":
		return unnamed
	case program == "Mozilla":
		return "a browser"
	case program == "OpenAPI-Generator", program == "Swagger-Codegen": // of the clients that they generate
		return strings.TrimSpace(word + " client")
	case program == "kubelet" && strings.HasPrefix(user, nodes):
		return "kubelet on " + strings.TrimPrefix(user, nodes)
	case slices.Contains(controllerManagers, program) && strings.HasPrefix(user, serviceAccounts+"kube-system:"):
		return serviceAccount(user)
	case word == "", slices.Contains(shared, word), strings.Contains(program, word):
		return program
	}
	return word
}

// splitAgent returns the program of a user agent, and the word that rest.AddUserAgent of
// client-go adds:
//
//	kubectl/v1.36.0 (linux/amd64) kubernetes/0c1a2b3
//	manager/v0.0.0 (linux/amd64) kubernetes/$Format/shop-controller
//	OpenAPI-Generator/34.1.0/python
func splitAgent(userAgent string) (program, word string) {
	program, rest, _ := strings.Cut(userAgent, "/")
	if _, commit, ok := strings.Cut(rest, " kubernetes/"); ok {
		rest = commit
	}
	rest, _, _ = strings.Cut(rest, " ")
	_, word, _ = strings.Cut(rest, "/")
	return strings.TrimSpace(program), word
}

// The prefixes of users that are nodes and service accounts.
const (
	nodes           = "system:node:"
	serviceAccounts = "system:serviceaccount:"
)

// serviceAccount returns the name of the service account that is a user; "" for another user.
func serviceAccount(user string) string {
	if rest, ok := strings.CutPrefix(user, serviceAccounts); ok {
		_, name, _ := strings.Cut(rest, ":")
		return name
	}
	return ""
}
