package helm

import (
	"bytes"
	"regexp"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
)

// uses is what a chart's templates refer to beyond chart and values. Only that is part of a release's digest, so
// that a new kind in the cluster concerns no release whose chart does not ask for it.
type uses struct {
	kubeVersion bool     // the cluster's version
	kinds       []string // group versions or kinds whose presence is asked for, sorted
	allKinds    bool     // the kinds are used in a way that cannot be told from the text
	lookup      bool     // objects in the cluster
	values      bool     // values are templates too and may refer to anything
}

// capabilities reports whether the cluster's capabilities have to be known for a digest.
func (u *uses) capabilities() bool { return u.kubeVersion || u.allKinds || len(u.kinds) > 0 }

var (
	capabilityUse = regexp.MustCompile(`\bCapabilities\b(?:\.(\w+))?(?:\.Has\s+"([^"]+)")?`)
	lookupUse     = regexp.MustCompile(`\blookup\b`)
	tplUse        = regexp.MustCompile(`\btpl\b`)
	filesUse      = regexp.MustCompile(`\.Files\b`)
)

// scan reads the templates of a chart and its dependencies.
func scan(c *chart.Chart) uses {
	var u uses
	u.add(c)
	slices.Sort(u.kinds)
	u.kinds = slices.Compact(u.kinds)
	return u
}

func (u *uses) add(c *chart.Chart) {
	files := false
	for _, template := range c.Templates {
		u.text(template.Data)
		u.values = u.values || tplUse.Match(template.Data)
		files = files || filesUse.Match(template.Data)
	}
	if u.values && files {
		for _, file := range c.Files {
			u.text(file.Data)
		}
	}
	for _, dependency := range c.Dependencies() {
		u.add(dependency)
	}
}

func (u *uses) text(text []byte) {
	u.lookup = u.lookup || lookupUse.Match(text)
	for _, match := range capabilityUse.FindAllSubmatch(text, -1) {
		switch member, kind := string(match[1]), string(match[2]); {
		case member == "KubeVersion":
			u.kubeVersion = true
		case member == "APIVersions" && kind != "":
			u.kinds = append(u.kinds, kind)
		case member == "HelmVersion": // the same in every run of this binary
		default:
			u.kubeVersion, u.allKinds = true, true
		}
	}
}

// with adds what values refer to, where the chart evaluates them.
func (u *uses) with(values []byte) *uses {
	out := *u
	if u.values && bytes.Contains(values, []byte("Capabilities")) {
		out.kubeVersion, out.allKinds = true, true
	}
	return &out
}
