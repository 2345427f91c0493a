package watches

import "gopkg.in/yaml.v3"

func referenceKeys() []entryKey {
	return []entryKey{
		{KeyDoc: KeyDoc{Key: relatedKey, Type: "list", Default: "[]", Content: forAll,
			Doc: "Objects that the resource refers to: a run gets them as variables, and a change of them starts one."},
			nested: relatedDocs(), read: readRelated},
		{KeyDoc: KeyDoc{Key: varsFromKey, Type: "list", Default: "[]", Content: forAnsible,
			Doc: "Variables from Secrets and ConfigMaps; the values of Secrets are kept out of logs, events, status and artifacts."},
			nested: sourceDocs(varsFromKey, forAnsible, KeyDoc{Key: varsFromKey + "[].as", Type: "text", Default: "required",
				Content: forAnsible, Doc: "The name of the variable."}),
			read: func(e *entry, n *yaml.Node, key string) { e.watch.VarsFrom = e.readSources(n, key, asVariable) }},
		{KeyDoc: KeyDoc{Key: valuesFromKey, Type: "list", Default: "[]", Content: forChart,
			Doc: "Values from Secrets and ConfigMaps; the spec wins over them."},
			nested: sourceDocs(valuesFromKey, forChart, KeyDoc{Key: valuesFromKey + "[].targetPath", Type: "text",
				Default: "the key holds values as a YAML document", Content: forChart, Doc: "Where in the values it goes, like db.password."}),
			read: func(e *entry, n *yaml.Node, key string) { e.watch.ValuesFrom = e.readSources(n, key, asValue) }},
		{KeyDoc: KeyDoc{Key: vaultKey, Type: "mapping", Default: "none", Content: forAnsible,
			Doc: "The Secret that holds the password for what is encrypted with Ansible Vault."},
			nested: []KeyDoc{
				{Key: vaultKey + ".name", Type: "template", Default: "required", Content: forAnsible, Doc: "The name of the Secret."},
				{Key: vaultKey + ".key", Type: "template", Default: "required", Content: forAnsible, Doc: "The key that holds the password."},
				{Key: vaultKey + ".namespace", Type: "template", Default: "the resource's", Content: forAnsible, Doc: "The namespace of the Secret."},
			}, read: readVaultPassword},
		{KeyDoc: KeyDoc{Key: envKey, Type: "mapping", Default: "{}", Content: forAnsible,
			Doc: "Environment variables of ansible-playbook; they win over the operator's."},
			read: readEnv},
	}
}

func relatedDocs() []KeyDoc {
	doc := func(key, kind, byDefault, text string) KeyDoc {
		return KeyDoc{Key: relatedKey + "[]." + key, Type: kind, Default: byDefault, Content: forAll, Doc: text}
	}
	return []KeyDoc{
		doc("apiVersion", "text", "required", "The API version of the objects, like v1 or apps/v1."),
		doc("kind", "text", "required", "The kind of the objects."),
		doc("name", "template", "none", "The name of the object."),
		doc("selector", "label selector", "none", "Labels of the objects, in the place of a name; its values are templates."),
		doc("namespace", "template", "the resource's", "The namespace of the objects."),
		doc("as", "text", "required", "The variable, or the key of the values, that holds the object or the list of objects."),
		doc("optional", "boolean", "false", "Whether a run goes on, with null, when the object is missing."),
		doc("watchStatus", "boolean", "false", "Whether a change of the object's status starts a run, too."),
	}
}

// sourceDocs describes the keys of varsFrom and valuesFrom, with target in the last place.
func sourceDocs(key string, content []string, target KeyDoc) []KeyDoc {
	var docs []KeyDoc
	for _, kind := range []string{"Secret", "ConfigMap"} {
		small := map[string]string{"Secret": "secret", "ConfigMap": "configMap"}[kind]
		docs = append(docs,
			KeyDoc{Key: key + "[]." + small + "KeyRef", Type: "mapping", Default: "none", Content: content,
				Doc: "One key of a " + kind + ": name and key, both templates, and namespace and optional."},
			KeyDoc{Key: key + "[]." + small + "Ref", Type: "mapping", Default: "none", Content: content,
				Doc: "All keys of a " + kind + ", as a mapping: name, a template, and namespace and optional."})
	}
	return append(docs, target)
}
