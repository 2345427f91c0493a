package helm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// Digests are kept in a label, which takes 63 characters: three parts of 20 hexadecimal digits.
const digestPart = 20

// digest stands for all inputs of a release: the chart's content, the values, and of the cluster's capabilities
// those that the chart refers to. Its parts tell what has changed.
type digest string

// inputsDigest returns the digest of a release of c with these values. caps may be nil where the chart asks for none.
func inputsDigest(c *content, values []byte, caps *chartutil.Capabilities) digest {
	return digest(strings.Join([]string{c.digest, part(values), c.uses.with(values).digest(caps)}, "."))
}

// onlyCapabilities reports whether d and other differ in the cluster's capabilities alone.
func (d digest) onlyCapabilities(other digest) bool {
	mine, theirs := d.withoutCapabilities(), other.withoutCapabilities()
	return d != other && mine == theirs && mine != ""
}

func (d digest) withoutCapabilities() string {
	return string(d[:max(strings.LastIndexByte(string(d), '.'), 0)])
}

// digest returns the part for the capabilities that a chart refers to.
func (u *uses) digest(caps *chartutil.Capabilities) string {
	var b strings.Builder
	if caps != nil && u.kubeVersion {
		fmt.Fprintf(&b, "version %s\n", caps.KubeVersion.Version)
	}
	for _, kind := range u.kinds {
		fmt.Fprintf(&b, "%s %v\n", kind, caps != nil && caps.APIVersions.Has(kind))
	}
	if caps != nil && u.allKinds {
		kinds := slices.Sorted(slices.Values(caps.APIVersions))
		fmt.Fprintln(&b, strings.Join(kinds, "\n"))
	}
	return part([]byte(b.String()))
}

// contentDigest returns the digest of all files of a chart, whether it comes as a directory or an archive.
func contentDigest(c *chart.Chart) string {
	files := slices.SortedFunc(slices.Values(c.Raw), func(a, b *chart.File) int { return cmp.Compare(a.Name, b.Name) })
	hash := sha256.New()
	for _, file := range files {
		fmt.Fprintf(hash, "%q %d\n", file.Name, len(file.Data))
		hash.Write(file.Data)
	}
	return hex.EncodeToString(hash.Sum(nil))[:digestPart]
}

func part(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:digestPart]
}

// canonical writes values such that equal values give equal bytes.
func canonical(values map[string]any) ([]byte, error) {
	if values == nil {
		values = map[string]any{}
	}
	data, err := json.Marshal(values) // sorts keys
	if err != nil {
		return nil, fmt.Errorf("write the values as JSON: %w", err)
	}
	return data, nil
}
