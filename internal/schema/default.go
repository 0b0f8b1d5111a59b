package schema

import "github.com/kubefake/kubefake/internal/object"

// SetDefaults sets the defaults of absent fields, and replaces nulls that are not
// allowed by defaults. Defaults are set within defaults too. The schema is one that FromProps
// returned, or nil, which has none.
func (s *Schema) SetDefaults(v any) {
	if s == nil || !s.hasDefaults {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			if !property.HasDefault {
				continue
			}
			if member, ok := v[name]; !ok || property.isForbiddenNull(member) {
				v[name] = object.Copy(property.Default)
			}
		}
		for name, member := range v {
			known := s.member(name)
			if known == s.Additional && known.isForbiddenNull(member) {
				member = object.Copy(known.Default)
				v[name] = member
			}
			known.SetDefaults(member)
		}
	case []any:
		for i, elem := range v {
			if s.Items.isForbiddenNull(elem) {
				elem = object.Copy(s.Items.Default)
				v[i] = elem
			}
			s.Items.SetDefaults(elem)
		}
	}
}

// isForbiddenNull reports whether v is a null that the schema does not allow.
func (s *Schema) isForbiddenNull(v any) bool { return v == nil && s != nil && !s.Nullable }
