package watches

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// sourceKinds are the keys that name an object, of which an item has one.
var sourceKinds = map[string]struct{ secret, oneKey bool }{
	"secretKeyRef":    {secret: true, oneKey: true},
	"configMapKeyRef": {oneKey: true},
	"secretRef":       {secret: true},
	"configMapRef":    {},
}

// target is what the source of a variable is laid into.
type target struct {
	key  string // that names the place
	read func(e *entry, s *Source, n *yaml.Node, path string)
	// check reports what is missing from a source that was read.
	check func(e *entry, item *yaml.Node, path string, s Source)
}

var asVariable = target{
	key: "as",
	read: func(e *entry, s *Source, n *yaml.Node, path string) {
		s.As = e.literalValue(n, path)
	},
	check: func(e *entry, item *yaml.Node, path string, s Source) {
		if s.As == "" {
			e.failf(item, path+".as", "add the name of a variable", "%s has no as", path)
			return
		}
		e.named(item, path+".as", s.As, s.Name, s.Namespace, s.Key)
	},
}

var asValue = target{
	key: "targetPath",
	read: func(e *entry, s *Source, n *yaml.Node, path string) {
		for step := range strings.SplitSeq(e.literalValue(n, path), ".") {
			if step == "" {
				e.failf(n, path, "write it like db.password", "%s has an empty part", path)
				return
			}
			s.TargetPath = append(s.TargetPath, step)
		}
	},
	check: func(e *entry, item *yaml.Node, path string, s Source) {
		if s.Key.IsZero() && s.TargetPath == nil {
			e.failf(item, path+".targetPath", "add it, like db", "%s takes all keys and has no targetPath", path)
		}
	},
}

// readSources reads varsFrom or valuesFrom.
func (e *entry) readSources(n *yaml.Node, key string, to target) []Source {
	names := []string{"secretKeyRef", "configMapKeyRef", "secretRef", "configMapRef", to.key}
	var all []Source
	e.eachItem(n, key, func(item *yaml.Node, path string) {
		var s Source
		references := 0
		failures := e.errors.count()
		e.eachField(item, path, names, func(name string, value *yaml.Node, path string) {
			if name == to.key {
				to.read(e, &s, value, path)
				return
			}
			references++
			e.readReference(&s, name, value, path)
		})
		switch {
		case e.errors.count() > failures:
		case references != 1:
			e.failf(item, path, "", "%s needs one of secretKeyRef, configMapKeyRef, secretRef and configMapRef", path)
		default:
			to.check(e, item, path, s)
			all = append(all, s)
		}
	})
	return all
}

// readReference reads which object a source is.
func (e *entry) readReference(s *Source, name string, n *yaml.Node, path string) {
	kind := sourceKinds[name]
	s.Secret = kind.secret
	names := []string{"name", "namespace", "optional"}
	if kind.oneKey {
		names = append(names, "key")
	}
	failures := e.errors.count()
	e.eachField(n, path, names, func(name string, value *yaml.Node, path string) {
		switch name {
		case "name":
			s.Name = e.templateValue(value, path)
		case "namespace":
			s.Namespace = e.templateValue(value, path)
		case "key":
			s.Key = e.templateValue(value, path)
		case "optional":
			s.Optional = e.boolOr(value, path, false)
		}
	})
	e.needs(n, path, failures, s.Name, s.Key, kind.oneKey)
}

// needs reports a reference without name or key, unless there are failures already.
func (e *entry) needs(n *yaml.Node, path string, failures int, name, key Template, oneKey bool) {
	switch {
	case e.errors.count() > failures:
	case name.IsZero():
		e.failf(n, path+".name", "add it", "%s has no name", path)
	case oneKey && key.IsZero():
		e.failf(n, path+".key", "add it", "%s has no key", path)
	}
}

func readVaultPassword(e *entry, n *yaml.Node, key string) {
	if null(n) {
		return
	}
	ref := &SecretKey{}
	failures := e.errors.count()
	e.eachField(n, key, []string{"name", "key", "namespace"}, func(name string, value *yaml.Node, path string) {
		place := map[string]*Template{"name": &ref.Name, "key": &ref.Key, "namespace": &ref.Namespace}
		*place[name] = e.templateValue(value, path)
	})
	e.needs(n, key, failures, ref.Name, ref.Key, true)
	e.watch.VaultPassword = ref
}

// ownEnvironment are variables that runs need to be as the operator sets them.
var ownEnvironment = map[string]bool{"KUBECONFIG": true, "K8S_AUTH_KUBECONFIG": true, "ANSIBLE_LOCAL_TEMP": true}

func readEnv(e *entry, n *yaml.Node, key string) {
	if null(n) {
		return
	}
	if follow(n).Kind != yaml.MappingNode {
		e.failf(n, key, "", "%s must be a mapping of names to values", key)
		return
	}
	e.watch.Env = map[string]string{}
	for _, f := range e.fields(n, key, exactly) {
		path := join(key, f.name)
		switch {
		case f.name == "" || strings.ContainsAny(f.name, "=\x00"):
			e.failf(f.key, path, "", "%s: %q cannot be the name of an environment variable", key, f.name)
		case ownEnvironment[f.name] || strings.HasPrefix(f.name, "CHARTBOOK_"):
			e.failf(f.key, path, "remove it", "%s: the operator itself sets %s", key, f.name)
		default:
			value, _ := e.textValue(f.value, path)
			if strings.Contains(value, "\x00") {
				e.failf(f.value, path, "", "%s holds a null character", path)
			}
			e.watch.Env[f.name] = value
		}
	}
}

// checkVariables reports variables that the file sets in two ways.
func (e *entry) checkVariables() {
	for _, name := range slices.Sorted(maps.Keys(e.watch.Vars)) {
		if e.names[name] {
			e.failf(e.at(varsKey), join(varsKey, name), "choose another name", "%s: related or varsFrom sets %s already", varsKey, name)
		}
	}
}
