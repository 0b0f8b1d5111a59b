package schema

import "github.com/kubefake/kubefake/internal/object"

// SetDefaults gives absent members of a value their defaults, and those that are
// null and may not be. It sets defaults within defaults. A nil schema has none.
func (s *Schema) SetDefaults(v any) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			if !property.HasDefault {
				continue
			}
			if member, ok := v[name]; !ok || property.refuses(member) {
				v[name] = object.Copy(property.Default)
			}
		}
		for name, member := range v {
			known := s.Member(name)
			if known == s.Additional && known.refuses(member) {
				member = object.Copy(known.Default)
				v[name] = member
			}
			known.SetDefaults(member)
		}
	case []any:
		for i, elem := range v {
			if s.Items.refuses(elem) {
				elem = object.Copy(s.Items.Default)
				v[i] = elem
			}
			s.Items.SetDefaults(elem)
		}
	}
}

// refuses reports whether a value is a null that the schema does not take.
func (s *Schema) refuses(v any) bool { return v == nil && s != nil && !s.Nullable }
