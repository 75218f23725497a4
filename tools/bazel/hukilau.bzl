"""Rules that build with make and run Luau suites.

Bazel's own C++ and Go rules are not used: they come from outside the repository, and the flags would
be in two places. One action calls make in the source tree, where make, go and cargo rebuild only what
changed.
"""

_BUILD = """
set -euo pipefail
tree=$(dirname "$(readlink -f "$1")")
mkdir -p "$tree/build"
exec 9>"$tree/build/bazel.lock" # both programs come of one make, which must not run twice at once
flock 9
if ! log=$(make -C "$tree" build 2>&1); then
    echo "$log" >&2
    exit 1
fi
cp "$tree/build/bin/$2" "$3"
"""

# `bazel run` starts a program in its runfiles; paths in its arguments are meant from where the user stands.
_LAUNCHER = """#!/usr/bin/env bash
program=$(readlink -f "${BASH_SOURCE[0]}").bin
cd "${BUILD_WORKING_DIRECTORY:-.}" && exec "$program" "$@"
"""

def _make_program_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name + ".bin")
    ctx.actions.run_shell(
        command = _BUILD,
        arguments = [ctx.file._makefile.path, ctx.label.name, program.path],
        inputs = [ctx.file._makefile] + ctx.files.srcs,
        outputs = [program],
        mnemonic = "Make",
        progress_message = "make build (%s)" % ctx.label.name,
        use_default_shell_env = True,
        # It writes into build/ of the source tree and may fetch what Cargo.lock and go.sum pin.
        execution_requirements = {
            "local": "1",
            "no-cache": "1",
            "no-remote": "1",
            "no-sandbox": "1",
            "requires-network": "1",
        },
    )
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(launcher, _LAUNCHER, is_executable = True)
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher, program]),
        runfiles = ctx.runfiles(files = [program]),
    )]

make_program = rule(
    implementation = _make_program_impl,
    executable = True,
    doc = "The program build/bin/<name> of the Makefile.",
    attrs = {
        "srcs": attr.label_list(allow_files = True, doc = "What the build reads: a change runs make again."),
        "_makefile": attr.label(default = "//:Makefile", allow_single_file = True),
    },
)

_SUITE = """#!/usr/bin/env bash
exec "./%s" "./%s"
"""

def _luau_test_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        _SUITE % (ctx.executable.runner.short_path, ctx.file.src.short_path),
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [ctx.file.src] + ctx.files.data)
    return [DefaultInfo(
        executable = script,
        runfiles = runfiles.merge(ctx.attr.runner[DefaultInfo].default_runfiles)
            .merge(ctx.runfiles(files = [ctx.executable.runner])),
    )]

luau_test = rule(
    implementation = _luau_test_impl,
    test = True,
    doc = "Runs one Luau file; it fails by a script error.",
    attrs = {
        "data": attr.label_list(allow_files = True, doc = "What the suite reads or requires."),
        "runner": attr.label(default = "//go/cmd/luau", executable = True, cfg = "target"),
        "src": attr.label(allow_single_file = [".luau"], mandatory = True),
    },
)

def luau_tests(srcs, data):
    """One luau_test for each file.

    Args:
      srcs: the suites.
      data: what they read or require, shared by all.
    """
    for src in srcs:
        luau_test(
            name = src[:-len(".luau")] + "_suite",
            src = src,
            data = data,
            size = "medium",
        )
