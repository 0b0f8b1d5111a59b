package explore

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

// An objectKey identifies an object. in is the cluster, if there are several.
type objectKey struct{ resource, namespace, name, in string }

func (k objectKey) String() string {
	text := fmt.Sprintf("%s %s", k.resource, strings.Trim(k.namespace+"/"+k.name, "/"))
	if k.in != "" {
		text += " in " + k.in
	}
	return text
}

// nameOf returns the name of an object, or its prefix with * if the server has generated
// it.
func (t *trial) nameOf(k objectKey) string {
	if k.name == "" {
		return ""
	}
	t.mu.Lock()
	name, known := t.names[k]
	t.mu.Unlock()
	if known {
		return name
	}
	o := t.target.object(k, 0)
	if o == nil {
		return k.name // of an object that is about to be created, or is gone
	}
	name = stableName(o)
	t.mu.Lock()
	t.names[k] = name
	t.mu.Unlock()
	return name
}

// stableName returns the name of an object, or its prefix with * if it was generated: by the
// server, or by a controller that appends a UID or the time, or five random characters to the
// name of the owner.
func stableName(o fakeapi.Object) string {
	prefix, name := object.String(o, "metadata", "generateName"), o.Name()
	if prefix != "" && strings.HasPrefix(name, prefix) && name != prefix {
		return prefix + "*"
	}
	if i := len(name) - uidLength; i > 0 && uidPattern.MatchString(name[i:]) {
		return name[:i] + "*"
	}
	if i := strings.LastIndexByte(name, '-') + 1; i > 1 && isTime(name[i:], object.String(o, "metadata", "creationTimestamp")) {
		return name[:i] + "*"
	}
	if i := len(name) - randomLength; i > 0 && strings.Trim(name[i:], randomCharacters) == "" {
		owners, _ := object.Value(o, "metadata", "ownerReferences").([]any)
		for _, owner := range owners {
			if owner, ok := owner.(map[string]any); ok && name[:i] == object.String(owner, "name")+"-" {
				return name[:i] + "*"
			}
		}
	}
	return name
}

// isTime reports whether a text is a time, within an hour of the creation of an object: the
// seconds or, as in the names of a CronJob's Jobs, the minutes since 1970.
func isTime(text, creation string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	created, noTime := time.Parse(time.RFC3339, creation)
	if err != nil || noTime != nil {
		return false
	}
	for _, t := range []time.Time{time.Unix(n, 0), time.Unix(60*n, 0)} {
		if created.Sub(t).Abs() <= time.Hour {
			return true
		}
	}
	return false
}
