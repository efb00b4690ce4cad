//go:build tools

// Package main is the grpc-go client; this file pins, in go.mod, the tools that are built beside it.
package main

import _ "github.com/summerwind/h2spec/cmd/h2spec"
