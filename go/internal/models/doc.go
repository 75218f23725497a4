// Package models is how the host talks to language models: one small interface, the types of a
// conversation, and what is the same for every provider (retries, token budgets, JSON answers). It
// knows no provider and opens no connection; the packages below it do: openaimodel,
// anthropicmodel, geminimodel, scriptmodel, and fakemodel for tests.
package models
