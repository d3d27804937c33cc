# The same image as `make image` builds without docker; a test compares both. Any 1.26 will
# do here: what is built is built with the Go that go.mod names.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETPLATFORM VERSION=devel COMMIT=unknown
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/cache/go-build \
    GOCACHE=/cache/go-build hack/pinned.sh go run ./hack/release -version "$VERSION" -commit "$COMMIT" -platforms "$TARGETPLATFORM" -out /rootfs rootfs

FROM scratch
ARG VERSION=devel COMMIT=unknown
LABEL org.opencontainers.image.title="kureka" \
      org.opencontainers.image.description="A Eureka-compatible service registry that watches the cluster and knows which instances are dead" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.source="https://github.com/kureka/kureka" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /rootfs /
WORKDIR /
USER 65532:65532
# Eureka API, metrics, probes.
EXPOSE 8761 8080 8081
ENTRYPOINT ["/kureka"]
CMD ["manager"]
