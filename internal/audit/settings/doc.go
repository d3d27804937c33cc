// Package settings reads what a pod's manifest tells a Spring Boot application:
// environment variables, arguments, JVM options, SPRING_APPLICATION_JSON and the
// application files of ConfigMaps, with the precedence that Spring Boot gives them.
//
// What a manifest does not show, such as files in the image, Secrets and config
// servers, stays unknown: the package never guesses. It must not import other
// packages of this module.
package settings
