// Package packages tests the packages for Python and JavaScript in clients/: their own
// tests, their example projects, and the code blocks of their documentation.
package packages
