package helm

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chartbook-operator/chartbook/runner/internal/engine"
)

// ownerAnnotation names the owner of a release record where an owner reference would be illegal: the garbage collector
// takes an owner in another namespace for one that is gone, and deletes the record.
const ownerAnnotation = "chartbook.dev/owner"

var errNoNamespace = errors.New("a Helm release lives in a namespace; set releaseNamespace in watches.yaml")

// place returns the namespace of the release of owner.
func (c Config) place(owner engine.Owner) (string, error) {
	if c.Namespace != nil {
		return c.Namespace(owner)
	}
	if owner.Namespace == "" {
		return "", fmt.Errorf("%s %q is cluster-scoped: %w", owner.Kind, owner.Name, errNoNamespace)
	}
	return owner.Namespace, nil
}

// qualified returns the name of an owner as annotations have it.
func qualified(owner engine.Owner) string {
	if owner.Namespace == "" {
		return owner.Name
	}
	return owner.Namespace + "/" + owner.Name
}

// remoteOwner is the owner of a record in another namespace.
type remoteOwner struct {
	metav1.OwnerReference `json:",inline"`

	Namespace string `json:"namespace"`
}

// writeRemoteOwner returns the annotation that names owner.
func writeRemoteOwner(owner engine.Owner) (string, error) {
	data, err := json.Marshal(remoteOwner{OwnerReference: reference(owner), Namespace: owner.Namespace})
	if err != nil {
		return "", fmt.Errorf("write the owner of a release record: %w", err)
	}
	return string(data), nil
}

// readRemoteOwner reads the annotation; nil if there is none.
func readRemoteOwner(annotations map[string]string) *remoteOwner {
	var owner remoteOwner
	if err := json.Unmarshal([]byte(annotations[ownerAnnotation]), &owner); err != nil || owner.UID == "" {
		return nil
	}
	return &owner
}
