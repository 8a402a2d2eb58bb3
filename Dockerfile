# The program alone: PostgreSQL and Kafka are the cluster's. Build with `docker build .`.
FROM node:24-bookworm-slim AS app
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build

FROM golang:1.26-bookworm AS server
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=app /src/frontend/dist frontend/dist
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /oriel ./server

FROM scratch
COPY --from=server /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=server /oriel /oriel
USER 65532:65532
ENV ORIEL_ADDR=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK CMD ["/oriel", "healthcheck"]
ENTRYPOINT ["/oriel"]
CMD ["serve"]
