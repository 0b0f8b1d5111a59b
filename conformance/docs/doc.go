// Package docs runs the code blocks of README.md and of the pages in docs/. The
// tests read the pages; they hold no copy of a block. The word after ``` says what
// happens to a block:
//
//	go              is compiled and run. A block with a package clause is a test
//	                file of its own, a block of functions is completed with a package
//	                clause and imports, and a block of statements with a function too.
//	                If statements do not start a server, they get one: srv.
//	sh              is run by bash, after the other sh blocks of the page, in one
//	                directory per page. "fakeapi serve", "record" and "replay" run in
//	                the background until the page ends, but "record" of a profile or of
//	                objects ends by itself.
//	sh interrupt    interrupts the last of these commands at the end of the block.
//	sh name=install is run by TestInstall in a module of a user.
//	sh name=first, clone are run by conformance/firstminutes.
//	sh name=stalecache is run by conformance/storypage.
//	sh name=WORD    is not run by these tests: it runs them, or TestRecipes runs it.
//	yaml file=NAME  is written to NAME in that directory. A later go or sh block of
//	                the page must name the file.
//	diff            is a change of the repository, go file=NAME a new file. The commands in
//	                "sh name=recipe" of the same section run with them.
//	text output     must be in what the sh block before it printed; ... stands for any
//	                characters.
//	text help=NAME  is the output of "fakeapi NAME --help". The flag -update rewrites it.
//	javascript, python  are test files, which conformance/packages runs.
//	java, rust, xml are test files and parts of a pom.xml, which clients/check runs.
//	text            is not run.
//
// Other words fail the test.
package docs
