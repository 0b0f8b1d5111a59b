package authz

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
)

// Attributes describe an action that needs authorization.
type Attributes struct {
	Verb string

	// IsResource reports whether the action is on a resource. Without it only
	// Verb and Path count, with it Path does not.
	IsResource                   bool
	Path                         string
	Group, Resource, Subresource string
	Namespace, Name              string // "" for all of them

	// Version is the API version of the resource. FieldSelector and LabelSelector
	// restrict a list, a watch or a deletecollection. Roles ignore them.
	Version                      string
	FieldSelector, LabelSelector Selector
}

// AnyVersion is the version of an action on a resource in whichever version.
const AnyVersion = "*"

// A Selector is a selector in attributes: text, or requirements.
type Selector struct {
	Raw          string
	Requirements []Requirement
}

// A Requirement is one of a selector, as in a SubjectAccessReview.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Fields returns the requirements of a field selector that a review can have.
func (s Selector) Fields() []Requirement {
	if s.Raw == "" {
		return s.Requirements
	}
	parsed, err := selector.ParseFields(s.Raw)
	if err != nil {
		return nil
	}
	var out []Requirement
	for _, r := range parsed.Requirements() {
		operator := "In"
		if r.Operator != selector.Equals {
			operator = "NotIn"
		}
		out = append(out, Requirement{r.Field, operator, []string{r.Value}})
	}
	return out
}

// labelOperators are the operators of reviews for those of label selectors.
var labelOperators = map[selector.Operator]string{
	selector.Equals: "In", selector.DoubleEquals: "In", selector.In: "In",
	selector.NotEquals: "NotIn", selector.NotIn: "NotIn",
	selector.Exists: "Exists", selector.DoesNotExist: "DoesNotExist",
}

// Labels returns the requirements of a label selector that a review can have.
func (s Selector) Labels() []Requirement {
	if s.Raw == "" {
		return s.Requirements
	}
	parsed, err := selector.ParseLabels(s.Raw)
	if err != nil {
		return nil
	}
	var out []Requirement
	for _, r := range parsed.Requirements() {
		if operator := labelOperators[r.Operator]; operator != "" {
			out = append(out, Requirement{r.Key, operator, r.Values})
		}
	}
	return out
}

// String returns the action as a 403 error prints it.
func (at Attributes) String() string {
	if !at.IsResource {
		return fmt.Sprintf("%s path %q", at.Verb, at.Path)
	}
	resource := at.Resource
	if at.Subresource != "" {
		resource += "/" + at.Subresource
	}
	where := "at the cluster scope"
	if at.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", at.Namespace)
	}
	return fmt.Sprintf("%s resource %q in API group %q %s", at.Verb, resource, at.Group, where)
}

// escapeHTML escapes what a client sent, as kube-apiserver does in this message.
var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Forbidden returns the 403 error of a user that may not do at. reason may be
// "".
func Forbidden(u *authn.User, at Attributes, reason string) error {
	message := escapeHTML.Replace("User " + strconv.Quote(u.Name) + " cannot " + at.String())
	if reason != "" {
		message += ": " + reason
	}
	return status.Forbidden(status.GroupResource{Group: at.Group, Resource: at.Resource}, at.Name, message)
}
