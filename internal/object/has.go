package object

func Has(m map[string]any, key string) bool { _, ok := m[key]; return ok }
