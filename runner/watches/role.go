package watches

import (
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// rolePlace is a directory where a role may be.
type rolePlace struct {
	path       string
	collection bool // the place belongs to a collection
}

// role finds a role's directory. The name is the one that Ansible knows the role by: that of its directory, or the
// fully qualified one for a role of a collection.
func (d *decoder) role(n *yaml.Node, key, value string) (path, name string) {
	places := d.rolePlaces(value)
	looked := make([]string, len(places))
	var failure error
	for i, place := range places {
		looked[i] = place.path
		info, err := d.options.Stat(place.path)
		switch {
		case err == nil && info.IsDir() && place.collection:
			return place.path, value
		case err == nil && info.IsDir():
			return place.path, filepath.Base(place.path)
		case err == nil:
			looked[i] += " (a file)"
		case failure == nil && !missing(err):
			failure = err
		}
	}
	d.notFound(n, key, value, looked, failure)
	return value, value
}

// rolePlaces lists where a role may be, in the order in which it is looked for: an absolute path; a collection, for
// a name of three parts; ANSIBLE_ROLES_PATH; the directory roles; the path itself.
func (d *decoder) rolePlaces(value string) []rolePlace {
	if filepath.IsAbs(value) {
		return []rolePlace{{path: filepath.Clean(value)}}
	}
	var places []rolePlace
	if parts := strings.Split(value, "."); len(parts) == 3 {
		for _, root := range d.collectionRoots() {
			path := filepath.Join(root, "ansible_collections", parts[0], parts[1], "roles", parts[2])
			places = append(places, rolePlace{d.absolute(path), true})
		}
	}
	if roots, _ := d.options.LookupEnv("ANSIBLE_ROLES_PATH"); roots != "" {
		for root := range strings.SplitSeq(roots, ":") {
			places = append(places,
				rolePlace{path: d.absolute(filepath.Join(root, value))},
				rolePlace{path: d.absolute(filepath.Join(root, "roles", value))})
		}
	}
	return append(places, rolePlace{path: d.absolute(filepath.Join("roles", value))}, rolePlace{path: d.absolute(value)})
}

// collectionRoots lists where collections are installed. Setting the variable replaces the defaults.
func (d *decoder) collectionRoots() []string {
	if roots, _ := d.options.LookupEnv("ANSIBLE_COLLECTIONS_PATH"); roots != "" {
		return strings.Split(roots, ":")
	}
	roots := []string{"/usr/share/ansible/collections"}
	if d.options.Home != "" {
		roots = append(roots, filepath.Join(d.options.Home, ".ansible/collections"))
	}
	return roots
}
