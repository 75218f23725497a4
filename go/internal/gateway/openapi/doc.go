// Package openapi makes functions of the operations of an OpenAPI document and calls them. It reads OpenAPI 3.0 and 3.1
// itself, and Swagger 2 by kin-openapi's conversion; every schema becomes JSON Schema of draft 2020-12. Documents and
// servers are hostile: what they may cost is bounded. It checks no arguments against schemas, and knows nothing of
// scripts.
package openapi
