package ansible

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Content is a playbook or a role. If both are given, the playbook is run.
type Content struct {
	// Playbook is the absolute path of a playbook.
	Playbook string
	// Role is the absolute path of a role's directory.
	Role string
	// RoleName is the role as the user named it. The fully qualified name of a role in a collection is used to run
	// it, so that it finds the other plugins of its collection.
	RoleName string
}

func (c Content) validate() error {
	switch {
	case c.path() == "":
		return errors.New("a playbook or a role is needed")
	case !filepath.IsAbs(c.path()):
		return fmt.Errorf("path of the content is not absolute: %s", c.path())
	}
	return nil
}

// isRole reports whether a play has to be made up around a role.
func (c Content) isRole() bool { return c.Playbook == "" }

func (c Content) path() string {
	if c.isRole() {
		return c.Role
	}
	return c.Playbook
}

// missing says what is not there, empty if all is well.
func (c Content) missing() string {
	info, err := os.Stat(c.path())
	switch {
	case c.isRole() && (err != nil || !info.IsDir()):
		return fmt.Sprintf("role %s does not exist or is not a directory", c.Role)
	case err != nil || !info.Mode().IsRegular():
		if !c.isRole() {
			return fmt.Sprintf("playbook %s does not exist or is not a file", c.Playbook)
		}
	}
	return ""
}

// root is the directory that file names in messages are relative to.
func (c Content) root() string { return filepath.Dir(filepath.Clean(c.path())) }

// role returns the name by which a play refers to the role, and the directory to look for it in: one of the roles
// path, or one of the collections path for a role of a collection.
func (c Content) role() (name, rolesDir, collectionsDir string) {
	path := filepath.Clean(c.Role)
	if parts := strings.Split(c.RoleName, "."); len(parts) == 3 {
		inside := filepath.Join("ansible_collections", parts[0], parts[1], "roles", parts[2])
		if dir, ok := strings.CutSuffix(path, string(filepath.Separator)+inside); ok {
			return c.RoleName, "", dir
		}
	}
	return filepath.Base(path), filepath.Dir(path), ""
}
