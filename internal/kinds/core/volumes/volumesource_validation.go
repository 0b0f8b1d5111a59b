package volumes

import (
	"cmp"
	"fmt"
	"net"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func CheckHostPath(p validation.View) {
	if !p.Require("path") {
		return
	}
	CheckNoBacksteps(p, "path")
	p.OneOfIfSet("type", "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
}

func CheckGcePersistentDisk(p validation.View) {
	p.Require("pdName")
	checkDiskPartition(p)
}

func CheckAwsElasticBlockStore(p validation.View) {
	p.Require("volumeID")
	checkDiskPartition(p)
}

func checkDiskPartition(p validation.View) {
	if n := p.Int("partition"); n < 0 || n > 255 {
		p.Invalid("partition", validation.RangeMessage(1, 255))
	}
}

// CheckFileMode checks that the field holds file permissions.
func CheckFileMode(p validation.View, name string) {
	if n := p.Int(name); n < 0 || n > 0o777 {
		p.Invalid(name, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

// CheckUser checks that the field, if it is set, holds the ID of a user.
func CheckUser(p validation.View, name string) {
	if p.Has(name) {
		id := p.Int(name)
		p.AddList(validation.Each(p.At(name), id, validation.UserID(id)))
	}
}

func CheckNfsVolume(p validation.View) {
	p.RequireEach("server", "path")
	if !path.IsAbs(p.String("path")) {
		p.Invalid("path", "must be an absolute path")
	}
}

const (
	MaxPortal     = 64
	PortalTooLong = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
)

func CheckIscsiVolume(p validation.View) {
	p.Require("targetPortal")
	checkIscsiTarget(p, "must be valid format starting with iqn, eui, or naa")
	checkIscsiInitiator(p)
}

// checkIscsiTarget validates the target. unknownDetail is the error for an iqn with
// an unknownDetail prefix.
func checkIscsiTarget(p validation.View, unknownDetail string) {
	if p.Require("iqn") {
		switch known, valid := iscsiName(p.String("iqn")); {
		case !known:
			p.Invalid("iqn", unknownDetail)
		case !valid:
			p.Invalid("iqn", "must be valid format")
		}
	}
	if n := p.Int("lun"); n < 0 || n > 255 {
		p.Invalid("lun", validation.RangeMessage(0, 255))
	}
	if (p.Bool("chapAuthDiscovery") || p.Bool("chapAuthSession")) && !p.Has("secretRef") {
		p.Required("secretRef", "")
	}
}

func checkIscsiInitiator(p validation.View) {
	if !p.Has("initiatorName") {
		return
	}
	name := p.String("initiatorName")
	switch known, valid := iscsiName(name); {
	case !known:
		p.Add(validation.Invalid(p.At("initiatorname"), name, "must be valid format starting with iqn, eui, or naa"))
	case !valid:
		p.Add(validation.Invalid(p.At("initiatorname"), name, "must be valid format"))
	}
}

// iscsiName reports whether the name starts with a known naming authority, and
// whether it is valid for that authority.
//
// See RFC 3720, section 3.2.6.3.
func iscsiName(name string) (known, valid bool) {
	switch {
	case strings.HasPrefix(name, "iqn"):
		return true, isQualifiedISCSIName(name)
	case strings.HasPrefix(name, "eui"):
		return true, isHardwareName(name, 16)
	case strings.HasPrefix(name, "naa"):
		return true, isHardwareName(name, 32)
	}
	return false, false
}

// isHardwareName reports whether the name is a three-letter authority, a separator
// and n letters and digits.
func isHardwareName(name string, n int) bool {
	const authority = len("eui.")
	return len(name) == authority+n && name[authority-1] != '\n' && !strings.ContainsFunc(name[authority:], notAlphanumeric)
}

func notAlphanumeric(c rune) bool {
	return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// isQualifiedISCSIName reports whether the name has a suffix of the form
// iqn.YYYY-MM.domain:string.
func isQualifiedISCSIName(name string) bool {
	for i := range name {
		rest, ok := strings.CutPrefix(name[i:], "iqn.")
		if !ok || len(rest) < len("2006-01.") || !isYearMonth(rest) {
			continue
		}
		domain := rest[len("2006-01."):]
		end := strings.IndexFunc(domain, func(c rune) bool { return notAlphanumeric(c) && c != '-' && c != '.' })
		if end < 1 || domain[end] != ':' {
			continue
		}
		if tail := domain[end+1:]; tail != "" && !strings.ContainsAny(tail, ",;*&$| \t\n\f\r") {
			return true
		}
	}
	return false
}

// isYearMonth reports whether s begins with "YYYY-MM.".
func isYearMonth(s string) bool {
	for i, want := range "dddd-dd." {
		if isDigit := '0' <= s[i] && s[i] <= '9'; want == 'd' && !isDigit || want != 'd' && rune(s[i]) != want {
			return false
		}
	}
	return true
}

func CheckGlusterfs(p validation.View) { p.RequireEach("endpoints", "path") }

func CheckFlocker(p validation.View) {
	name, uuid := p.String("datasetName"), p.String("datasetUUID")
	if name == "" && uuid == "" {
		p.Add(validation.Required(p.Path, "one of datasetName and datasetUUID is required"))
	}
	if name != "" && uuid != "" {
		p.Add(validation.Invalid(p.Path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(name, "/") {
		p.Invalid("datasetName", "must not contain '/'")
	}
}

func CheckRbdVolume(p validation.View) { p.RequireEach("monitors", "image") }

func CheckCinderVolume(p validation.View) {
	p.Require("volumeID")
	p.IfPresent("secretRef", func(ref validation.View) { ref.Require("name") })
}

func CheckCephfsVolume(p validation.View) { p.Require("monitors") }

func CheckQuobyte(p validation.View) {
	const (
		pairs     = "must be a host:port pair or multiple pairs separated by commas"
		maxTenant = 64
	)
	registry := p.String("registry")
	switch {
	case registry == "":
		p.Required("registry", pairs)
	case len(p.String("tenant")) > maxTenant:
		p.Required("tenant", "must be a UUID and may not exceed a length of 64 characters")
	default:
		for _, pair := range strings.Split(registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				p.Invalid("registry", pairs)
			}
		}
	}
	p.Require("volume")
}

func CheckFibreChannel(p validation.View) {
	targets, wwids := p.Len("targetWWNs"), p.Len("wwids")
	if targets == 0 && wwids == 0 {
		p.Required("targetWWNs", "must specify either targetWWNs or wwids, but not both")
	}
	if targets != 0 && wwids != 0 {
		p.Invalid("targetWWNs", "targetWWNs and wwids can not be specified simultaneously")
	}
	if targets == 0 {
		return
	}
	if !p.Has("lun") {
		p.Required("lun", "lun is required if targetWWNs is specified")
	} else if n := p.Int("lun"); n < 0 || n > 255 {
		p.Invalid("lun", validation.RangeMessage(0, 255))
	}
}

func CheckFlexVolume(p validation.View) {
	p.Require("driver")
	for key := range p.Entries("options") {
		namespace, _, _ := strings.Cut(key, "/")
		namespace = "." + strings.ToLower(namespace)
		if strings.HasSuffix(namespace, ".kubernetes.io") || strings.HasSuffix(namespace, ".k8s.io") {
			p.Add(validation.Invalid(p.At("options").Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
}

func CheckAzureFile(p validation.View) { p.RequireEach("secretName", "shareName") }

func CheckAzureDisk(p validation.View) {
	p.RequireEach("diskName", "diskURI")
	p.OneOfIfSet("cachingMode", "None", "ReadOnly", "ReadWrite")
	p.OneOfIfSet("kind", "Dedicated", "Managed", "Shared")
	if !p.Has("kind") {
		return
	}
	prefix, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	if p.String("kind") == "Managed" {
		prefix, form = "/subscriptions/", "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	}
	if uri := p.String("diskURI"); !strings.HasPrefix(uri, prefix) {
		p.Add(validation.NotSupported(p.At("diskURI"), uri, []string{form}))
	}
}

func CheckScaleIO(p validation.View) { p.RequireEach("gateway", "system", "volumeName") }

func CheckStorageOS(p validation.View) {
	p.RequireFormat("volumeName", validation.DNS1123Label)
	p.FormatIfSet("volumeNamespace", validation.DNS1123Label)
	p.IfPresent("secretRef", func(ref validation.View) { ref.Require("name") })
}

const maxCSIDriver = 63

// CheckCSIDriverName checks that the field holds the name of a CSI driver.
func CheckCSIDriverName(p validation.View, name string) {
	errs := DriverName(p.String(name), p.At(name))
	if !p.Require(name) {
		errs = errs.Until(behavior.EmptyDriverNames)
	}
	p.AddList(errs)
}

// CheckDeclaredDriverName is CheckCSIDriverName for a field whose declaration has the rules too:
// it counts characters, and is about a name in any case of letters.
func CheckDeclaredDriverName(p validation.View, name string) {
	driver := p.String(name)
	if driver == "" {
		p.Declarative(func(p validation.View) { CheckCSIDriverName(p, name) })
		return
	}
	for _, e := range DriverName(driver, p.At(name)) {
		before := e.Detail
		e.Detail = caselessName.Replace(before)
		if e.Reason == validation.ReasonTooLong && utf8.RuneCountInString(driver) > maxCSIDriver {
			e.Detail = fmt.Sprintf("may not be more than %d characters", maxCSIDriver)
		}
		if e.Reason != validation.ReasonTooLong || utf8.RuneCountInString(driver) > maxCSIDriver {
			e.Declarative()
		}
		p.Add(e.Before(behavior.DeclarativeErrors, validation.Detail(before)))
	}
}

// caselessName replaces the words about length and lower case in the error of a name that may have
// upper case letters.
var caselessName = strings.NewReplacer(validation.MaxLengthMessage(validation.DNS1123SubdomainMaxLength), "must be no more than 253 bytes", "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric", "an RFC 1123 subdomain must consist of alphanumeric", "(e.g. 'example.com'", "(e.g. 'Example.com'")

// DriverName checks the name of a CSI driver.
func DriverName(driver string, path *validation.Path) validation.List {
	var list validation.List
	if len(driver) > maxCSIDriver {
		list = append(list, validation.TooLong(path, maxCSIDriver))
	}
	return append(list, validation.Each(path, driver, validation.DNS1123Subdomain(strings.ToLower(driver)))...)
}

// The bounds of the lifetime of a ServiceAccount token, in seconds.
const (
	MinTokenExpiration = 10 * 60
	MaxTokenExpiration = 1 << 32
)

// HasBacksteps reports whether the path has an element "..".
func HasBacksteps(p string) bool {
	for _, element := range strings.Split(p, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

func CheckNoBacksteps(p validation.View, name string) {
	if HasBacksteps(p.String(name)) {
		p.Invalid(name, "must not contain '..'")
	}
}

// CheckDescendingPath checks that the path is relative and has no element "..".
func CheckDescendingPath(p validation.View, name string) {
	if path.IsAbs(p.String(name)) {
		p.Invalid(name, "must be a relative path")
	}
	CheckNoBacksteps(p, name)
}

// forbiddenNames are the names of volume sources in the error about a second source,
// where they differ from the field names.
var forbiddenNames = map[string]string{"cephfs": "cephFS", "downwardAPI": "downwarAPI"}

// ForbidVolumeSource reports a volume source of a volume that already has one.
func ForbidVolumeSource(p validation.View, name string) {
	p.Forbidden(cmp.Or(forbiddenNames[name], name), "may not specify more than 1 volume type")
}
