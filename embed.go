// Package oriel holds the files that the binary carries: the built browser app and the database
// migrations. It imports nothing of the project.
package oriel

import "embed"

// Frontend is the built single-page app under frontend/dist.
//
//go:embed all:frontend/dist
var Frontend embed.FS

// Migrations are the golang-migrate files under db/migrations.
//
//go:embed db/migrations/*.sql
var Migrations embed.FS
