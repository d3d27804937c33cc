// Package login decides who may use the registry's port: it owns the file of
// users, the check of a name and password against it, and the refusal. It knows
// nothing of Eureka and must not import the packages that do.
package login
