#!/bin/sh
# Builds localcluster into the file named by the first argument, unless that file is newer than everything it is made of.
set -eu

usage="usage: build.sh OUTPUT"
output=${1:?$usage}
case $output in /*) ;; *) output=$PWD/$output ;; esac
cd "$(dirname "$0")"

# fresh is true if no input is newer than the output.
fresh() {
	[ -x "$output" ] || return 1
	[ -z "$(find . \( -name '*.go' -o -name '*.yaml' -o -name go.mod -o -name go.sum -o -name build.sh \) -newer "$output" -print -quit)" ]
}

# ldflags stamps the version of Kubernetes as its own release scripts do: kubectl and Helm read it from the server.
ldflags() {
	version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
	major=${version#v}
	minor=${major#*.}
	package=k8s.io/component-base/version
	printf '%s' "-s -w -X $package.gitVersion=$version -X $package.gitMajor=${major%%.*} -X $package.gitMinor=${minor%%.*}" \
		" -X $package.gitCommit= -X $package.gitTreeState=clean"
}

if fresh; then
	exit 0
fi
if [ "$(go env GOOS)" != linux ]; then
	echo "localcluster: cannot build for $(go env GOOS): it needs Linux, because it reads /proc; use another cluster there" >&2
	exit 1
fi
echo "Building localcluster; the first time this compiles Kubernetes and takes about ten minutes of two cores ..." >&2
mkdir -p "$(dirname "$output")"
go build -trimpath -ldflags "$(ldflags)" -o "$output.new" .
mv -f "$output.new" "$output"
echo "Built $output" >&2
