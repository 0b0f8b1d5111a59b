package pods

import (
	"strings"
)

// pullPolicy returns the default pull policy of an image: Always if its tag is
// latest or missing.
func pullPolicy(image string) string {
	if imageTag(image) == "latest" {
		return "Always"
	}
	return "IfNotPresent"
}

// imageTag returns the tag of an image reference. It returns "latest" if the
// reference has neither tag nor digest, and "" if it has only a digest or is
// invalid.
func imageTag(image string) string {
	if len(image) == 64 && strings.Trim(image, hexDigits) == "" {
		return "" // an image ID
	}
	name, digest, hasDigest := strings.Cut(image, "@")
	if hasDigest && !isDigest(digest) {
		return ""
	}
	tag := ""
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name, tag = name[:colon], name[colon+1:]
		if !isTag(tag) {
			return ""
		}
	}
	if !isRepository(name) {
		return ""
	}
	if tag == "" && !hasDigest {
		return "latest"
	}
	return tag
}

const hexDigits = "0123456789abcdef"

// digestLengths maps a digest algorithm to the number of hexadecimal digits of its
// digests.
var digestLengths = map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}

func isDigest(s string) bool {
	algorithm, sum, _ := strings.Cut(s, ":")
	length, ok := digestLengths[algorithm]
	return ok && len(sum) == length && strings.Trim(sum, hexDigits) == ""
}

func isTag(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '.' && s[i] != '-' {
			return false
		}
	}
	return true
}

// isRepository reports whether s is a repository, with or without a registry.
func isRepository(s string) bool {
	const most = 255 // of the name with the default registry and namespace
	length := len(s)
	if first, rest, ok := strings.Cut(s, "/"); ok && isRegistryPrefix(first) && isRegistry(first) {
		s = rest
	} else if length += len("docker.io/"); !ok {
		length += len("library/")
	}
	if length > most {
		return false
	}
	return everyPart(s, "/", isPathComponent)
}

// everyPart reports whether each part of s, between separators, is valid.
func everyPart(s, separator string, valid func(string) bool) bool {
	for {
		part, rest, more := strings.Cut(s, separator)
		if !valid(part) {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}

// isRegistryPrefix reports whether the first element of a repository is parsed as a
// registry.
func isRegistryPrefix(first string) bool {
	return strings.ContainsAny(first, ".:") || first == "localhost" || strings.ToLower(first) != first
}

// isRegistry reports whether s is a valid registry: a host name or an IPv6 address
// in brackets, with an optional port.
func isRegistry(s string) bool {
	host, port := s, ""
	if colon := strings.LastIndexByte(s, ':'); colon > strings.LastIndexByte(s, ']') {
		host, port = s[:colon], s[colon+1:]
		if port == "" || strings.Trim(port, "0123456789") != "" {
			return false
		}
	}
	if address, ok := strings.CutPrefix(host, "["); ok {
		address, ok = strings.CutSuffix(address, "]")
		return ok && address != "" && strings.Trim(address, hexDigits+"ABCDEF:") == ""
	}
	return everyPart(host, ".", isHostLabel)
}

// isHostLabel reports whether s is a label of a registry's host name.
func isHostLabel(s string) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if s[i] == '_' || !isWord(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

// isPathComponent reports whether s consists of lower-case letters and digits with
// separators between them: a dot, one or two underscores, or any number of dashes.
func isPathComponent(s string) bool {
	if s == "" || !isLowerOrDigit(s[0]) || !isLowerOrDigit(s[len(s)-1]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if isLowerOrDigit(s[i]) {
			continue
		}
		start := i
		for !isLowerOrDigit(s[i]) {
			i++
		}
		switch separator := s[start:i]; {
		case separator == ".", separator == "_", separator == "__":
		case strings.Trim(separator, "-") == "":
		default:
			return false
		}
	}
	return true
}

func isLowerOrDigit(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

func isWord(c byte) bool { return isLowerOrDigit(c) || 'A' <= c && c <= 'Z' || c == '_' }
