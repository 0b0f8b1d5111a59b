package core

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateConfigMap(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(obj, nil, checkConfigMap)
	}
	return validation.Collect(obj, nil, immutableData(old, dataField{"data", true}, dataField{name: "binaryData"}), checkConfigMap)
}

func checkConfigMap(p validation.View) {
	size := 0
	binary := object.Map(p.Obj, "binaryData")
	for key, v := range p.Entries("data") {
		text, _ := v.(string)
		size += len(text)
		checkDataKey(p, "data", key)
		if _, duplicate := binary[key]; duplicate {
			p.Add(validation.Invalid(p.At("data").Key(key), key, "duplicate of key present in binaryData"))
		}
	}
	for key, v := range p.Entries("binaryData") {
		size += decodedLen(v)
		checkDataKey(p, "binaryData", key)
	}
	if size > maxDataSize {
		p.Add(validation.TooLong(validation.NewPath("[]"), maxDataSize))
	}
}
