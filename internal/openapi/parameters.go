package openapi

import "strings"

// The v2 document names parameters that several operations share by a digest of
// their contents, which includes descriptions. The release data has no
// descriptions, so that the names of kube-apiserver v1.36 are listed here.
// Parameters with the same name and different descriptions are distinguished by
// their position.

// sharedParameters has the names of parameters that are the same everywhere.
var sharedParameters = map[string]string{
	"allowWatchBookmarks": "allowWatchBookmarks-HC2hJt-J",
	"continue":            "continue-QfD61s0i",
	"fieldManager":        "fieldManager-Qy4HdaTW",
	"fieldSelector":       "fieldSelector-xIcQKXFG",
	"force":               "force-tOGGb0Yi",
	"gracePeriodSeconds":  "gracePeriodSeconds--K5HaBOS",
	"ignoreStoreReadErrorWithClusterBreakingPotential": "ignoreStoreReadErrorWithClusterBreakingPotential-QbNkfIqj",
	"labelSelector":        "labelSelector-5Zw57w4C",
	"limit":                "limit-1NfNmdNH",
	"namespace":            "namespace-vgWSWtn3",
	"orphanDependents":     "orphanDependents-uRB25kX5",
	"pretty":               "pretty-tJGM1-ng",
	"propagationPolicy":    "propagationPolicy-6jk3prlO",
	"resourceVersion":      "resourceVersion-5WAnf1kx",
	"resourceVersionMatch": "resourceVersionMatch-t8XhRHeC",
	"sendInitialEvents":    "sendInitialEvents-rLXlEK_k",
	"shardSelector":        "shardSelector-Kgyki_3_",
	"timeoutSeconds":       "timeoutSeconds-yvYezaOC",
	"watch":                "watch-XNNPZGbK",
}

// sharedUnder has the names of parameters by subresource, or "patch".
var sharedUnder = map[string]map[string]string{
	"nodes/proxy":      {"path": "path-rFDtV0x9"},
	"patch":            {"fieldManager": "fieldManager-7c6nTn1T"},
	"pods/attach":      {"container": "container-_Q-EJ3nR", "stderr": "stderr-26jJhFUR", "stdin": "stdin-sEFnN3IS", "stdout": "stdout-005YMKE6", "tty": "tty-g7MlET_l"},
	"pods/exec":        {"command": "command-Py3eQybp", "container": "container-i5dOmRiM", "stderr": "stderr-W_1TNlWc", "stdin": "stdin-PSzNhyUC", "stdout": "stdout--EZLRwV1", "tty": "tty-s0flW37O"},
	"pods/log":         {"container": "container-1GeXxFDC", "follow": "follow-9OIXh_2R", "insecureSkipTLSVerifyBackend": "insecureSkipTLSVerifyBackend-gM00jVbe", "limitBytes": "limitBytes-zwd1RXuc", "previous": "previous-1jxDPu3y", "sinceSeconds": "sinceSeconds-vE2NLdnP", "stream": "stream-l-48cgXv", "tailLines": "tailLines-9xQLWHMV", "timestamps": "timestamps-c17fW1w_"},
	"pods/portforward": {"ports": "ports-91KROJmm"},
	"pods/proxy":       {"path": "path-oPbzgLUj"},
	"services/proxy":   {"path": "path-QCf0eosM"},
}

// sharedBodies has the names of bodies by the kind that they refer to.
var sharedBodies = map[string]string{
	"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions": "body-2Y1dVQaQ",
	"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch":         "body-78PwaGsr",
}

// sharedName returns the name of a shared parameter, "" if each operation has
// its own. method is "" for the parameters of a whole path.
func sharedName(path, method string, p parameterV2) string {
	if p.In == "body" {
		schema, _ := p.Schema.(map[string]any)
		ref, _ := schema["$ref"].(string)
		return sharedBodies[ref]
	}
	if p.In == "path" && p.Name == "path" {
		return "path-z6Ciiujn"
	}
	if name := sharedUnder[method][p.Name]; name != "" {
		return name
	}
	if object, sub, ok := strings.Cut(path, "/{name}/"); ok {
		resource := object[strings.LastIndexByte(object, '/')+1:]
		sub, _, _ = strings.Cut(sub, "/")
		if name := sharedUnder[resource+"/"+sub][p.Name]; name != "" {
			return name
		}
	}
	return sharedParameters[p.Name]
}
