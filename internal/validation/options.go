package validation

import (
	"fmt"
	"unicode"
)

// fieldManagerMaxLength is the maximum length of the name of a field manager,
// in bytes.
const fieldManagerMaxLength = 128

// The paths of request parameters.
var (
	dryRunPath               = NewPath("dryRun")
	fieldManagerPath         = NewPath("fieldManager")
	fieldValidationPath      = NewPath("fieldValidation")
	forcePath                = NewPath("force")
	includeObjectPath        = NewPath("includeObject")
	propagationPolicyPath    = NewPath("propagationPolicy")
	resourceVersionMatchPath = NewPath("resourceVersionMatch")
	sendInitialEventsPath    = NewPath("sendInitialEvents")
)

// WriteOptions are the parameters of a create or an update: CreateOptions and
// UpdateOptions.
type WriteOptions struct {
	FieldManager    string
	DryRun          []string // each value of the parameter, including empty ones
	FieldValidation string
}

// Validate returns the errors of the options.
func (o WriteOptions) Validate() List {
	list := fieldManager(o.FieldManager, fieldManagerPath)
	list = append(list, dryRun(o.DryRun)...)
	switch o.FieldValidation {
	case "", "Ignore", "Strict", "Warn":
	default:
		list = append(list, NotSupported(fieldValidationPath, o.FieldValidation, []string{"", "Ignore", "Strict", "Warn"}))
	}
	return list
}

// PatchOptions are the parameters of a patch.
type PatchOptions struct {
	WriteOptions
	Force *bool // nil if not given
	Apply bool  // the patch is a server-side apply, in YAML or in CBOR
}

// Validate returns the errors of the options.
func (o PatchOptions) Validate() List {
	var list List
	switch {
	case o.Apply && o.FieldManager == "":
		list = List{Required(fieldManagerPath, "is required for apply patch")}
	case !o.Apply && o.Force != nil:
		list = List{Forbidden(forcePath, "may not be specified for non-apply patch")}
	}
	return append(list, o.WriteOptions.Validate()...)
}

// DeleteOptions are the parameters of a delete that are validated, from the
// body or from the query.
type DeleteOptions struct {
	DryRun            []string
	OrphanDependents  *bool   // nil if not given
	PropagationPolicy *string // nil if not given
}

// Validate returns the errors of the options.
func (o DeleteOptions) Validate() List {
	var list List
	if o.PropagationPolicy != nil {
		policy := NamedString(*o.PropagationPolicy)
		if o.OrphanDependents != nil {
			list = append(list, Invalid(propagationPolicyPath, policy, "orphanDependents and deletionPropagation cannot be both set"))
		}
		switch policy {
		case "Foreground", "Background", "Orphan":
		default:
			list = append(list, NotSupported(propagationPolicyPath, policy, []string{"Foreground", "Background", "Orphan", "nil"}))
		}
	}
	return append(list, dryRun(o.DryRun)...)
}

// ListOptions are the parameters of a list or a watch that are validated
// together.
type ListOptions struct {
	Watch                bool
	ResourceVersion      string
	ResourceVersionMatch string
	Continue             string
	SendInitialEvents    *bool // nil if not given
}

// Validate returns the errors of the options.
func (o ListOptions) Validate() List {
	if o.Watch {
		return o.validateWatch()
	}
	var list List
	if match := o.ResourceVersionMatch; match != "" {
		if o.ResourceVersion == "" {
			list = append(list, Forbidden(resourceVersionMatchPath, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if o.Continue != "" {
			list = append(list, Forbidden(resourceVersionMatchPath, "resourceVersionMatch is forbidden when continue is provided"))
		}
		if match != "Exact" && match != "NotOlderThan" {
			list = append(list, NotSupported(resourceVersionMatchPath, NamedString(match), []string{"Exact", "NotOlderThan", ""}))
		}
		if match == "Exact" && o.ResourceVersion == "0" {
			list = append(list, Forbidden(resourceVersionMatchPath, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if o.SendInitialEvents != nil {
		list = append(list, Forbidden(sendInitialEventsPath, "sendInitialEvents is forbidden for list"))
	}
	return list
}

func (o ListOptions) validateWatch() List {
	var list List
	match := o.ResourceVersionMatch
	if o.SendInitialEvents != nil && match != "NotOlderThan" {
		list = append(list, Forbidden(resourceVersionMatchPath, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	}
	if o.SendInitialEvents != nil {
		list = append(list, Forbidden(sendInitialEventsPath, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled").WithoutGate("WatchList"))
	}
	if match == "" {
		return list
	}
	if o.SendInitialEvents == nil {
		list = append(list, Forbidden(resourceVersionMatchPath, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
	}
	if match != "NotOlderThan" {
		list = append(list, NotSupported(resourceVersionMatchPath, NamedString(match), []string{"NotOlderThan"}))
	}
	if o.Continue != "" {
		list = append(list, Forbidden(resourceVersionMatchPath, "resourceVersionMatch is forbidden when continue is provided"))
	}
	return list
}

// IncludeObject checks the parameter includeObject of a request for a Table.
func IncludeObject(s string) List {
	switch s {
	case "", "Metadata", "None", "Object":
		return nil
	}
	return List{Invalid(includeObjectPath, NamedString(s), "must be 'Metadata', 'Object', 'None', or empty")}
}

// fieldManager checks the name of a field manager, which may be empty.
func fieldManager(name string, path *Path) List {
	var list List
	if len(name) > fieldManagerMaxLength {
		list = append(list, TooLong(path, fieldManagerMaxLength))
	}
	for i, r := range name {
		if !unicode.IsPrint(r) {
			list = append(list, Invalid(path, name, fmt.Sprintf("invalid character %#U (at position %d)", r, i)))
		}
	}
	return list
}

func dryRun(values []string) List {
	for _, v := range values {
		if v != "All" {
			return List{NotSupported(dryRunPath, values, []string{"All"})}
		}
	}
	return nil
}
