package runner

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// noKinds is the mapper of no cluster.
type noKinds struct{ meta.RESTMapper }

// RESTMapping implements [meta.RESTMapper].
func (noKinds) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
}
