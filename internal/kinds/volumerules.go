package kinds

import (
	"cmp"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkVolumes checks the volumes and remembers those without a mistake.
func (r *podRules) checkVolumes() {
	if r.spec.size("volumes") == 0 {
		return
	}
	r.volumes = make(map[string]part, r.spec.size("volumes"))
	for _, v := range r.spec.each("volumes") {
		before := len(*v.errs)
		r.checkVolumeSource(v)
		v.needsToBe("name", validation.DNS1123Label)
		name := v.text("name")
		if _, taken := r.volumes[name]; taken {
			v.duplicate("name", name)
		}
		if v.sound(before) {
			r.volumes[name] = v
		}
		if claim, ok := v.given("persistentVolumeClaim"); ok && r.createsClaim(claim.text("claimName")) {
			claim.invalid("claimName", "must not reference a PVC that gets created for an ephemeral volume")
		}
	}
}

// createsClaim reports whether a claim is going to be made for one of the pod's
// ephemeral volumes.
func (r *podRules) createsClaim(name string) bool {
	if r.name == "" {
		return false
	}
	for v := range object.Each(r.spec.obj["volumes"]) {
		if v["ephemeral"] != nil && name == r.name+"-"+object.String(v, "name") {
			return true
		}
	}
	return false
}

// A volumeRule is the rule of one of the members by which a volume says what it is.
type volumeRule struct {
	name string
	rule func(r *podRules, source part)
}

// volumeRules are all of them, in the order in which they are looked at.
var volumeRules = []volumeRule{
	{"emptyDir", plain(emptyDir)},
	{"hostPath", plain(hostPath)},
	{"gitRepo", plain(gitRepo)},
	{"gcePersistentDisk", plain(gcePersistentDisk)},
	{"awsElasticBlockStore", plain(awsElasticBlockStore)},
	{"secret", plain(secretVolume)},
	{"nfs", plain(nfsVolume)},
	{"iscsi", plain(iscsiVolume)},
	{"glusterfs", plain(glusterfs)},
	{"flocker", plain(flocker)},
	{"persistentVolumeClaim", plain(func(p part) { p.needs("claimName") })},
	{"rbd", plain(rbdVolume)},
	{"cinder", plain(cinderVolume)},
	{"cephfs", plain(cephfsVolume)},
	{"quobyte", plain(quobyte)},
	{"downwardAPI", plain(downwardAPIVolume)},
	{"fc", plain(fibreChannel)},
	{"flexVolume", plain(flexVolume)},
	{"configMap", plain(configMapVolume)},
	{"azureFile", plain(azureFile)},
	{"vsphereVolume", plain(func(p part) { p.needs("volumePath") })},
	{"photonPersistentDisk", plain(func(p part) { p.needs("pdID") })},
	{"portworxVolume", plain(func(p part) { p.needs("volumeID") })},
	{"azureDisk", plain(azureDisk)},
	{"storageos", plain(storageOS)},
	{"projected", plain(projectedVolume)},
	{"scaleIO", plain(scaleIO)},
	{"csi", plain(csiVolume)},
	{"ephemeral", plain(ephemeralVolume)},
	{"image", (*podRules).checkImageVolume},
}

// plain is a rule that needs to know nothing of the pod.
func plain(rule func(part)) func(*podRules, part) {
	return func(_ *podRules, source part) { rule(source) }
}

// forbiddenAs are the sources that kube-apiserver calls by another name when
// they are one too many.
var forbiddenAs = map[string]string{"cephfs": "cephFS", "downwardAPI": "downwarAPI"}

// forbidSource forbids a source of a volume that has another one.
func (p part) forbidSource(name string) {
	p.forbid(cmp.Or(forbiddenAs[name], name), "may not specify more than 1 volume type")
}

// checkVolumeSource checks that a volume says in one way what it is.
func (r *podRules) checkVolumeSource(v part) {
	sources := 0
	for i := range volumeRules {
		s := &volumeRules[i]
		source, ok := v.given(s.name)
		if !ok {
			continue
		}
		if sources++; sources > 1 {
			v.forbidSource(s.name)
		} else {
			if s.name == "gcePersistentDisk" {
				source.path = v.at("persistentDisk") // so kube-apiserver calls it
			}
			s.rule(r, source)
		}
		switch s.name {
		case "iscsi":
			if source.has("initiatorName") && len(v.text("name")+":"+source.text("targetPortal")) > maxPortal {
				v.note(validation.Invalid(v.at("name"), v.text("name"), portalTooLong))
			}
		case "ephemeral":
			r.checkEphemeralName(v, sources)
		}
	}
	if sources == 0 {
		v.note(validation.Required(v.path, "must specify a volume type"))
	}
}

// checkEphemeralName checks the name of the claim that is going to be made for
// an ephemeral volume.
func (r *podRules) checkEphemeralName(v part, sources int) {
	if sources > 1 || r.name == "" || v.text("name") == "" {
		return
	}
	claim := r.name + "-" + v.text("name")
	for _, message := range subdomain(claim) {
		v.invalid("name", fmt.Sprintf("PVC name %q: %s", claim, message))
	}
}

func emptyDir(p part) {
	if limit, ok := p.obj["sizeLimit"].(string); ok && compare(limit, "0") < 0 {
		p.forbid("sizeLimit", "SizeLimit field must be a valid resource quantity")
	}
}

// hostPath is the rule of a directory or file of the node.
func hostPath(p part) {
	if !p.needs("path") {
		return
	}
	noBacksteps(p, "path")
	p.ifOneOf("type", "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
}

func gitRepo(p part) {
	p.needs("repository")
	descendingPath(p, "directory")
}

func gcePersistentDisk(p part) {
	p.needs("pdName")
	diskPartition(p)
}

func awsElasticBlockStore(p part) {
	p.needs("volumeID")
	diskPartition(p)
}

func diskPartition(p part) {
	if n := p.integer("partition"); n < 0 || n > 255 {
		p.invalid("partition", validation.RangeMessage(1, 255))
	}
}

// fileMode checks permissions.
func fileMode(p part, name string) {
	if n := p.integer(name); n < 0 || n > 0o777 {
		p.invalid(name, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

func secretVolume(p part) {
	p.needs("secretName")
	fileMode(p, "defaultMode")
	for _, item := range p.each("items") {
		keyToPath(item)
	}
}

func configMapVolume(p part) {
	p.needs("name")
	fileMode(p, "defaultMode")
	for _, item := range p.each("items") {
		keyToPath(item)
	}
}

func keyToPath(p part) {
	p.needsEach("key", "path")
	filePath(p, "path")
	fileMode(p, "mode")
}

func nfsVolume(p part) {
	p.needsEach("server", "path")
	if !path.IsAbs(p.text("path")) {
		p.invalid("path", "must be an absolute path")
	}
}

const (
	maxPortal     = 64
	portalTooLong = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
)

func iscsiVolume(p part) {
	p.needs("targetPortal")
	iscsiTarget(p, "must be valid format starting with iqn, eui, or naa")
	iscsiInitiator(p)
}

// iscsiTarget checks what is mounted. unknown is what is said of a name of
// another authority.
func iscsiTarget(p part, unknown string) {
	if p.needs("iqn") {
		switch known, valid := iscsiName(p.text("iqn")); {
		case !known:
			p.invalid("iqn", unknown)
		case !valid:
			p.invalid("iqn", "must be valid format")
		}
	}
	if n := p.integer("lun"); n < 0 || n > 255 {
		p.invalid("lun", validation.RangeMessage(0, 255))
	}
	if (p.flag("chapAuthDiscovery") || p.flag("chapAuthSession")) && !p.has("secretRef") {
		p.missing("secretRef", "")
	}
}

// iscsiInitiator checks who mounts it.
func iscsiInitiator(p part) {
	if !p.has("initiatorName") {
		return
	}
	name := p.text("initiatorName")
	switch known, valid := iscsiName(name); {
	case !known:
		p.note(validation.Invalid(p.at("initiatorname"), name, "must be valid format starting with iqn, eui, or naa"))
	case !valid:
		p.note(validation.Invalid(p.at("initiatorname"), name, "must be valid format"))
	}
}

// iscsiName reports whether a name is of a known naming authority, and whether
// it has the format of that.
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

// isHardwareName reports whether a name is its authority, a separator and n
// letters and digits.
func isHardwareName(name string, n int) bool {
	const authority = len("eui.")
	return len(name) == authority+n && name[authority-1] != '\n' && !strings.ContainsFunc(name[authority:], notAlphanumeric)
}

func notAlphanumeric(c rune) bool {
	return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// isQualifiedISCSIName reports whether a name has, somewhere up to its end, the
// form iqn.YYYY-MM.domain:string.
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

func glusterfs(p part) { p.needsEach("endpoints", "path") }

func flocker(p part) {
	name, uuid := p.text("datasetName"), p.text("datasetUUID")
	if name == "" && uuid == "" {
		p.note(validation.Required(p.path, "one of datasetName and datasetUUID is required"))
	}
	if name != "" && uuid != "" {
		p.note(validation.Invalid(p.path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(name, "/") {
		p.invalid("datasetName", "must not contain '/'")
	}
}

func rbdVolume(p part) { p.needsEach("monitors", "image") }

func cinderVolume(p part) {
	p.needs("volumeID")
	p.ifGiven("secretRef", func(ref part) { ref.needs("name") })
}

func cephfsVolume(p part) { p.needs("monitors") }

func quobyte(p part) {
	const (
		pairs     = "must be a host:port pair or multiple pairs separated by commas"
		maxTenant = 64
	)
	registry := p.text("registry")
	switch {
	case registry == "":
		p.missing("registry", pairs)
	case len(p.text("tenant")) > maxTenant:
		p.missing("tenant", "must be a UUID and may not exceed a length of 64 characters")
	default:
		for pair := range strings.SplitSeq(registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				p.invalid("registry", pairs)
			}
		}
	}
	p.needs("volume")
}

// downwardAPIVolume notes the mistakes in its files at itself, as
// kube-apiserver does.
func downwardAPIVolume(p part) {
	fileMode(p, "defaultMode")
	for _, file := range p.each("items") {
		file.path = p.path
		downwardAPIFile(file)
	}
}

func downwardAPIFile(p part) {
	p.needs("path")
	filePath(p, "path")
	field, byField := p.given("fieldRef")
	resource, byResource := p.given("resourceFieldRef")
	switch {
	case byField:
		fieldRef(field, fileFields)
		if byResource {
			p.note(validation.Invalid(p.path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case byResource:
		resourceFieldRef(resource, true)
	default:
		p.note(validation.Required(p.path, "one of fieldRef and resourceFieldRef is required"))
	}
	fileMode(p, "mode")
}

func fibreChannel(p part) {
	targets, wwids := p.size("targetWWNs"), p.size("wwids")
	if targets == 0 && wwids == 0 {
		p.missing("targetWWNs", "must specify either targetWWNs or wwids, but not both")
	}
	if targets != 0 && wwids != 0 {
		p.invalid("targetWWNs", "targetWWNs and wwids can not be specified simultaneously")
	}
	if targets == 0 {
		return
	}
	if !p.has("lun") {
		p.missing("lun", "lun is required if targetWWNs is specified")
	} else if n := p.integer("lun"); n < 0 || n > 255 {
		p.invalid("lun", validation.RangeMessage(0, 255))
	}
}

func flexVolume(p part) {
	p.needs("driver")
	for key := range p.entries("options") {
		namespace, _, _ := strings.Cut(key, "/")
		namespace = "." + strings.ToLower(namespace)
		if strings.HasSuffix(namespace, ".kubernetes.io") || strings.HasSuffix(namespace, ".k8s.io") {
			p.note(validation.Invalid(p.at("options").Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
}

func azureFile(p part) { p.needsEach("secretName", "shareName") }

func azureDisk(p part) {
	p.needsEach("diskName", "diskURI")
	p.ifOneOf("cachingMode", "None", "ReadOnly", "ReadWrite")
	p.ifOneOf("kind", "Dedicated", "Managed", "Shared")
	if !p.has("kind") {
		return
	}
	prefix, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	if p.text("kind") == "Managed" {
		prefix, form = "/subscriptions/", "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	}
	if uri := p.text("diskURI"); !strings.HasPrefix(uri, prefix) {
		p.note(validation.NotSupported(p.at("diskURI"), uri, []string{form}))
	}
}

func scaleIO(p part) { p.needsEach("gateway", "system", "volumeName") }

func storageOS(p part) {
	p.needsToBe("volumeName", validation.DNS1123Label)
	p.ifSet("volumeNamespace", validation.DNS1123Label)
	p.ifGiven("secretRef", func(ref part) { ref.needs("name") })
}

const maxCSIDriver = 63

// csiDriverName checks the name of a driver at a member.
func csiDriverName(p part, name string) {
	if p.needs(name) {
		p.add(driverName(p.text(name), p.at(name)))
	}
}

func driverName(driver string, path *validation.Path) validation.List {
	var list validation.List
	if len(driver) > maxCSIDriver {
		list = append(list, validation.TooLong(path, maxCSIDriver))
	}
	return append(list, validation.Each(path, driver, validation.DNS1123Subdomain(strings.ToLower(driver)))...)
}

func csiVolume(p part) {
	csiDriverName(p, "driver")
	p.ifGiven("nodePublishSecretRef", func(ref part) {
		if ref.needs("name") {
			p.add(validation.Each(p.at("name"), ref.text("name"), subdomain(ref.text("name"))))
		}
	})
}

func ephemeralVolume(p part) {
	template, ok := p.given("volumeClaimTemplate")
	if !ok {
		p.missing("volumeClaimTemplate", "")
		return
	}
	claimTemplate(template)
}

// checkImageVolume checks a volume that is the content of an image. A template
// may leave the image open.
func (r *podRules) checkImageVolume(p part) {
	if r.isPod {
		p.needs("reference")
	}
	p.needsOneOf("pullPolicy", pullPolicies...)
}

// The bounds of the lifetime of a service account's token, in seconds.
const (
	minTokenExpiration = 10 * 60
	maxTokenExpiration = 1 << 32
)

func projectedVolume(p part) {
	fileMode(p, "defaultMode")
	taken := names{}
	// claim notes a path that another source has.
	claim := func(file string, value any) {
		if taken[file] {
			p.note(validation.Invalid(p.path, value, "conflicting duplicate paths"))
		}
		taken[file] = true
	}
	for _, source := range p.each("sources") {
		sources := 0
		each := func(name string, rule func(part)) {
			if projection, ok := source.given(name); ok {
				sources++
				rule(projection)
			}
		}
		keys := func(s part) {
			s.needs("name")
			for _, item := range s.each("items") {
				keyToPath(item)
				if file := item.text("path"); file != "" {
					claim(file, s.text("name"))
				}
			}
		}
		each("secret", keys)
		each("configMap", keys)
		each("downwardAPI", func(s part) {
			for _, file := range s.each("items") {
				file.path = s.path
				downwardAPIFile(file)
				if name := file.text("path"); name != "" {
					claim(name, name)
				}
			}
		})
		each("serviceAccountToken", func(s part) {
			switch n := s.integer("expirationSeconds"); {
			case n < minTokenExpiration:
				s.invalid("expirationSeconds", "may not specify a duration less than 10 minutes")
			case n > maxTokenExpiration:
				s.invalid("expirationSeconds", "may not specify a duration larger than 2^32 seconds")
			}
			file := part{s.obj, p.path, s.errs}
			file.needs("path")
			filePath(file, "path")
		})
		each("clusterTrustBundle", func(s part) {
			trustBundle(s)
			claim(s.text("path"), s.text("path"))
		})
		each("podCertificate", func(s part) { podCertificate(s, claim) })
		if sources > 1 {
			source.note(validation.Forbidden(source.path, "may not specify more than 1 volume type per source"))
		}
	}
}

func trustBundle(p part) {
	named, signed := p.has("name"), p.has("signerName")
	switch {
	case named && signed:
		p.note(validation.Invalid(p.path, internal("core.ClusterTrustBundleProjection", p.obj), "only one of name and signerName may be used"))
	case named:
		name := p.text("name")
		if name == "" {
			p.missing("name", "must be a valid object name")
		}
		for _, message := range validation.ClusterTrustBundleName(signerOf(name))(name, false) {
			p.invalid("name", "not a valid clustertrustbundlename: "+message)
		}
		if p.has("labelSelector") {
			p.invalid("labelSelector", "labelSelector must be unset if name is specified")
		}
	case signed:
		if p.text("signerName") == "" {
			p.missing("signerName", "must be a valid signer name")
		}
		p.add(validation.SignerName(p.text("signerName"), p.at("signerName")))
		p.labelSelector("labelSelector", validation.LabelSelectorOptions{})
	default:
		p.note(validation.Required(p.path, "either name or signerName must be specified"))
	}
	p.needs("path")
	filePath(p, "path")
}

// signerOf is the signer that the name of a ClusterTrustBundle tells, "" if it
// tells none.
func signerOf(bundle string) string {
	i := strings.LastIndex(bundle, ":")
	if i < 0 {
		return ""
	}
	return strings.ReplaceAll(bundle[:i], ":", "/")
}

var certificateKeyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

// The bounds of the lifetime of a pod's certificate, in seconds.
const (
	minCertificateExpiration       = 60 * 60
	maxCertificateExpiration       = 91 * 24 * 60 * 60
	maxSystemCertificateExpiration = 24 * 60 * 60 // of kubernetes.io's own signers
)

func podCertificate(p part, claim func(file string, value any)) {
	signer := p.text("signerName")
	p.add(validation.SignerName(signer, p.at("signerName")))
	if annotations := object.Map(p.obj, "userAnnotations"); annotations != nil {
		for _, key := range sortedKeys(annotations) {
			p.add(validation.DomainPrefixedKey(strings.ToLower(key), p.at("userAnnotations")))
		}
	}
	if keyType := p.text("keyType"); !slices.Contains(certificateKeyTypes, keyType) {
		p.note(validation.NotSupported(p.at("keyType"), keyType, certificateKeyTypes))
	}
	if p.has("maxExpirationSeconds") {
		longest := int64(maxCertificateExpiration)
		if host, _, _ := strings.Cut(signer, "/"); host == "kubernetes.io" || strings.HasSuffix(host, ".kubernetes.io") {
			longest = maxSystemCertificateExpiration
		}
		n := p.integer("maxExpirationSeconds")
		if n < minCertificateExpiration {
			p.invalid("maxExpirationSeconds", fmt.Sprintf("if provided, maxExpirationSeconds must be >= %d", minCertificateExpiration))
		}
		if n > longest {
			p.invalid("maxExpirationSeconds", fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", longest))
		}
	}
	paths := 0
	for _, name := range []string{"credentialBundlePath", "keyPath", "certificateChainPath"} {
		if file := p.text(name); file != "" {
			paths++
			filePath(p, name)
			claim(file, file)
		}
	}
	if paths == 0 {
		p.note(validation.Required(p.path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))
	}
}
