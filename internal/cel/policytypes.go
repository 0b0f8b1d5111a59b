package cel

import "github.com/kubefake/kubefake/internal/schema"

// fields has the schemas of the fields of a type.
type fields map[string]*schema.Schema

// objectSchema returns the schema of a named object type.
func objectSchema(name string, properties fields) *schema.Schema {
	return &schema.Schema{Name: name, Type: "object", Properties: properties}
}

var (
	text      = &schema.Schema{Type: "string"}
	texts     = &schema.Schema{Type: "array", Items: text}
	textMap   = &schema.Schema{Type: "object", Additional: text}
	textsMap  = &schema.Schema{Type: "object", Additional: texts}
	flag      = &schema.Schema{Type: "boolean"}
	number    = &schema.Schema{Type: "integer"}
	timestamp = &schema.Schema{Type: "string", Format: "date-time"}
	dynamic   = &schema.Schema{IntOrString: true}
)

// requestSchema returns the schema of the variable request, an AdmissionRequest
// without object and oldObject.
func requestSchema() *schema.Schema {
	kind := objectSchema("kubernetes.GroupVersionKind", fields{"group": text, "version": text, "kind": text})
	resource := objectSchema("kubernetes.GroupVersionResource", fields{"group": text, "version": text, "resource": text})
	return objectSchema("kubernetes.AdmissionRequest", fields{
		"kind": kind, "resource": resource, "subResource": text,
		"requestKind": kind, "requestResource": resource, "requestSubResource": text,
		"name": text, "namespace": text, "operation": text,
		"userInfo": objectSchema("kubernetes.UserInfo", fields{"username": text, "uid": text, "groups": texts, "extra": textsMap}),
		"dryRun":   flag, "options": dynamic,
	})
}

// namespaceSchema returns the schema of the variable namespaceObject, a Namespace
// with the fields that kube-apiserver passes to policies.
func namespaceSchema() *schema.Schema {
	condition := objectSchema("kubernetes.NamespaceCondition", fields{
		"status": text, "type": text, "lastTransitionTime": timestamp, "message": text, "reason": text,
	})
	return objectSchema("kubernetes.Namespace", fields{
		"metadata": objectSchema("kubernetes.NamespaceMetadata", fields{
			"name": text, "generateName": text, "namespace": text, "labels": textMap, "annotations": textMap, "UID": text,
			"creationTimestamp": timestamp, "deletionGracePeriodSeconds": number, "deletionTimestamp": timestamp,
			"generation": number, "resourceVersion": text, "finalizers": texts,
		}),
		"spec": objectSchema("kubernetes.NamespaceSpec", fields{"finalizers": texts}),
		"status": objectSchema("kubernetes.NamespaceStatus", fields{
			"conditions": &schema.Schema{Type: "array", Items: condition}, "phase": text,
		}),
	})
}

// accessReviewSchema returns the schema of the spec of a SubjectAccessReview.
func accessReviewSchema(selectors bool) *schema.Schema {
	attributes := fields{"namespace": text, "verb": text, "group": text, "version": text, "resource": text, "subresource": text, "name": text}
	if selectors {
		requirements := &schema.Schema{Type: "array", Items: objectSchema("kubernetes.SelectorRequirement", fields{"key": text, "operator": text, "values": texts})}
		attributes["fieldSelector"] = objectSchema("kubernetes.FieldSelectorAttributes", fields{"rawSelector": text, "requirements": requirements})
		attributes["labelSelector"] = objectSchema("kubernetes.LabelSelectorAttributes", fields{"rawSelector": text, "requirements": requirements})
	}
	return objectSchema("kubernetes.SubjectAccessReviewSpec", fields{
		"resourceAttributes":    objectSchema("kubernetes.ResourceAttributes", attributes),
		"nonResourceAttributes": objectSchema("kubernetes.NonResourceAttributes", fields{"path": text, "verb": text}),
		"user":                  text, "groups": texts, "extra": textsMap, "uid": text,
	})
}
