# Prints "##@ Heading" and "target: ... ## what it does" lines of a Makefile.
/^##@ / { printf "%s%s\n", (seen++ ? "\n" : ""), substr($0, 5) }
/^[a-z-]+:.* ## / {
	target = $1
	sub(/:$/, "", target)
	sub(/^.* ## /, "")
	printf "  make %-14s %s\n", target, $0
}
