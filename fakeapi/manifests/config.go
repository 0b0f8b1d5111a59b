package manifests

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"runtime"
	"slices"

	"github.com/kubefake/kubefake/fakeapi"
)

// A Config says how Validate works. The zero value validates files of the operating system as
// `kubectl apply --server-side` of an administrator, with the default release.
type Config struct {
	// Files has the files of the paths. Nil means those of the operating system.
	Files fs.FS

	// Stdin is what the path "-" stands for. Nil is empty.
	Stdin io.Reader

	// Releases are those whose servers validate, such as "1.33": each object is validated by every
	// one of them. None means the default release, or the one of Options.
	Releases []string

	// From and To make Validate answer what an upgrade of a cluster does to the objects: they are
	// stored by a server of the release From, such as "1.33", which is then upgraded in place to To,
	// one minor release after the other. An object with a uid is one of a cluster, and is stored as
	// it is; others are documents, which are applied. Findings are what From does not say, and the
	// errors that keep a document from being stored. To is the default release if it is "".
	From, To string

	// Options are further options of the servers, such as fakeapi.WithCRDs, WithProfileFile or
	// WithWebhookService.
	Options []fakeapi.Option

	// CRDs are files and folders of CustomResourceDefinitions, which the servers get before the
	// input. Other kinds are defined by the JSON schemas in a folder, in a layout of kubeconform
	// (GROUP/KIND_VERSION.json or KIND-GROUP-VERSION.json), or by those whose names a template of
	// kubeconform describes: "schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json".
	CRDs []string

	// Base is the state that the objects update: what Validate answers is what they do to it. It is
	// a file or a folder, or "git:REVISION", which has the files of the same paths at a revision of
	// the git repository around the working directory. The objects of the base are stored first, as
	// a cluster has them: policies and quotas of the base do not refuse them. "" is a cluster
	// without them.
	Base string

	// Prune is how the objects of the base that the input does not have are deleted: Background,
	// Foreground or Orphan, as the propagationPolicy of a deletion. With "" they stay.
	Prune string

	// Create sends creates. The default is server-side apply, which also is what kubectl apply
	// --server-side, Flux and Argo CD do. Objects with generateName, which cannot be applied, are
	// created.
	Create bool

	// FieldValidation is what happens with unknown and duplicate fields: Strict, which is the
	// default, Warn or Ignore.
	FieldValidation string

	// Namespace is the one of objects that name none; "" means "default".
	Namespace string

	// RequireNamespaces makes an object in a namespace that is neither in the input nor in the
	// server an error, as it is when it is written. By default the namespace is created first.
	RequireNamespaces bool

	// User is the user who writes the objects, whom the roles and bindings of the input and of
	// Options permit what they say. Nil is an administrator. Roles and bindings are written by an
	// administrator.
	User *fakeapi.User

	// WebhookServices are the addresses of the Services of webhooks: "namespace/name" to
	// "127.0.0.1:9443". Without any, no webhook is called.
	WebhookServices map[string]string

	// Skip has the kinds that are counted and not validated, Reject those that are errors:
	// "Secret", or with their version "apps/v1/Deployment".
	Skip, Reject []string

	// IgnoreMissingKinds makes objects of kinds without a definition notes instead of errors.
	IgnoreMissingKinds bool

	// StrictFiles makes documents that are not objects errors instead of notes.
	StrictFiles bool

	// IgnoreFiles has patterns of the names of files that are not read.
	IgnoreFiles []*regexp.Regexp

	// Objects makes results and answers have the objects.
	Objects bool

	// Workers is how many objects are validated at a time; 0 means runtime.GOMAXPROCS(0).
	Workers int
}

func (c *Config) workers() int { return cmp.Or(max(0, c.Workers), runtime.GOMAXPROCS(0)) }

func (c *Config) fieldValidation() string { return cmp.Or(c.FieldValidation, "Strict") }

func (c *Config) namespace() string { return cmp.Or(c.Namespace, "default") }

// checkBase checks the settings of a base.
func (c *Config) checkBase() error {
	var problem string
	switch {
	case !slices.Contains([]string{"", "Background", "Foreground", "Orphan"}, c.Prune):
		problem = fmt.Sprintf("Prune %q is not Background, Foreground or Orphan", c.Prune)
	case c.Base == "" && c.Prune != "":
		problem = "Prune needs a Base"
	case c.Base == "-":
		problem = "the base cannot be the standard input"
	case c.Base != "" && c.Create:
		problem = "Create and Base exclude each other: the objects of the base exist"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", fakeapi.ErrInvalidOption, problem)
}
