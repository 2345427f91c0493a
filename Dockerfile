# Two images: "base" is Chartbook with Ansible, for operators that bring their own content; the last stage, which is
# what "make image" builds, adds the example of this repository.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY runner runner
ARG VERSION=dev
ARG COMMIT=unknown
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT" \
    -o /chartbook ./cmd/chartbook

# Debian has the collection kubernetes.core only within its package of all collections, which is many times larger.
FROM debian:bookworm-slim AS collections
WORKDIR /collections
RUN apt-get update && apt-get download ansible && dpkg-deb --extract ansible_*.deb all

FROM debian:bookworm-slim AS base
RUN apt-get update \
    && apt-get install -y --no-install-recommends ansible-core ca-certificates python3-kubernetes tini \
    && rm -rf /var/lib/apt/lists/*
COPY --from=collections /collections/all/usr/lib/python3/dist-packages/ansible_collections/kubernetes \
    /usr/share/ansible/collections/ansible_collections/kubernetes
COPY --from=build /chartbook /usr/local/bin/chartbook
# Operators that were built for the old images start these.
RUN ln -s chartbook /usr/local/bin/ansible-operator && ln -s chartbook /usr/local/bin/helm-operator
# Any user of group 0 may run it, and with a root file system that is read only: everything is written to /tmp.
ENV HOME=/opt/ansible \
    ANSIBLE_LOCAL_TEMP=/tmp/ansible \
    ANSIBLE_REMOTE_TEMP=/tmp/ansible
WORKDIR /opt/ansible
RUN chgrp 0 . && chmod g=u .
USER 1001:0
ENTRYPOINT ["/usr/bin/tini", "--", "chartbook", "run", "--watches-file=./watches.yaml"]

FROM base
COPY watches.yaml ./
COPY playbooks playbooks
COPY charts charts
