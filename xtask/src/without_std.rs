//! Refuses a user's program that uses `std` where it is built for the host. No backend has `std` for programs; bare metal
//! says so by itself, and the host would build what then cannot be flashed.

use crate::{
    build::{self, Built},
    process,
    program::{self, Program},
    workspace,
};
use anyhow::{Result, bail};
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// A platform without a system that every compiler knows. What is needed there counts.
const BARE: &str = "x86_64-unknown-none";

/// Refuses a program of which a dependency uses `std`. What only the host needs may, and what comes with Atoll. Of what
/// depends on a crate that uses `std`, nothing is known: all of them have it.
pub(crate) fn check_dependencies(program: &Program, what: &str, built: &Built) -> Result<()> {
    let metadata = program::metadata(&program.directory, &["--filter-platform", BARE])?;
    let graph = Graph::new(&metadata);
    let (atolls, own) = (graph.reached("kernel", ""), graph.reached(&program.package, "kernel"));
    let with_std = |package: &str| {
        let mut libraries = built.libraries.iter().filter(|library| library.package == package);
        libraries.try_fold(false, |with_std, library| Ok::<_, anyhow::Error>(with_std || uses_std(&library.path)?))
    };
    for library in &built.libraries {
        let package = &*library.package;
        if own.contains(package) && !atolls.contains(package) && with_std(package)? {
            let comes_with_it = graph.of(package).map(with_std).collect::<Result<Vec<_>>>()?;
            if !comes_with_it.contains(&true) {
                bail!(build::refusal_of_std(what, &library.name));
            }
        }
    }
    Ok(())
}

/// Which packages depend on which, by cargo's metadata; not for tests or builds, nor by macros.
struct Graph<'m> {
    names: HashMap<&'m str, &'m str>,
    needs: HashMap<&'m str, Vec<&'m str>>,
}

impl<'m> Graph<'m> {
    fn new(metadata: &'m Value) -> Self {
        let list = |value: &'m Value| value.as_array().into_iter().flatten();
        let text = |value: &'m Value| value.as_str().unwrap_or_default();
        let is_macro = |package: &&'m Value| {
            list(&package["targets"]).any(|target| list(&target["kind"]).any(|kind| kind == "proc-macro"))
        };
        let macros: HashSet<_> = list(&metadata["packages"]).filter(is_macro).map(|it| text(&it["id"])).collect();
        let is_needed = |dependency: &&'m Value| {
            list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null())
                && !macros.contains(text(&dependency["pkg"]))
        };
        let needs = |node: &'m Value| list(&node["deps"]).filter(is_needed).map(|it| text(&it["pkg"])).collect();
        Self {
            names: list(&metadata["packages"]).map(|package| (text(&package["id"]), text(&package["name"]))).collect(),
            needs: list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), needs(node))).collect(),
        }
    }

    /// What a package needs itself.
    fn of(&self, package: &str) -> impl Iterator<Item = &'m str> {
        self.needs.get(package).into_iter().flatten().copied()
    }

    /// The package of this name and all that it needs, but for those of name `but` and what only these need.
    fn reached(&self, from: &str, but: &str) -> HashSet<&'m str> {
        let mut reached = HashSet::new();
        let mut open: Vec<_> = self.names.iter().filter(|(_, name)| **name == from).map(|(id, _)| *id).collect();
        while let Some(package) = open.pop() {
            if self.names.get(package).is_none_or(|name| *name != but) && reached.insert(package) {
                open.extend(self.of(package));
            }
        }
        reached
    }
}

/// Whether a library was compiled with `std`.
fn uses_std(library: &Path) -> Result<bool> {
    let mut command = workspace::command(compiler());
    command.args(["-Z", "ls=root"]).arg(library).env("RUSTC_BOOTSTRAP", "1");
    let listed = process::finish(&mut command, |_| {})?;
    // The lines are a number and the name with a checksum behind it.
    Ok(listed.output.lines().any(|line| line.split(' ').nth(1).is_some_and(|name| name.starts_with("std-"))))
}

/// The compiler that the host's cargo takes: the one beside it, if there is one.
fn compiler() -> PathBuf {
    let beside = workspace::host_cargo().with_file_name("rustc");
    if beside.is_file() { beside } else { "rustc".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn packages_are_followed_to_what_they_need() {
        let package =
            |name: &str, kind: &str| json!({"id": format!("{name}#1"), "name": name, "targets": [{"kind": [kind]}]});
        let node = |name: &str, normal: &[&str], of_tests: &[&str]| {
            let dependency =
                |name: &&str, kind: Value| json!({"pkg": format!("{name}#1"), "dep_kinds": [{"kind": kind}]});
            let normal = normal.iter().map(|name| dependency(name, Value::Null));
            let of_tests = of_tests.iter().map(|name| dependency(name, "dev".into()));
            json!({"id": format!("{name}#1"), "deps": normal.chain(of_tests).collect::<Vec<_>>()})
        };
        let metadata = json!({
            "packages": [
                package("mine", "bin"), package("kernel", "lib"), package("libc", "lib"), package("near", "lib"),
                package("far", "lib"), package("derive", "proc-macro"), package("syn", "lib"), package("proptest", "lib"),
            ],
            "resolve": {"nodes": [
                node("mine", &["kernel", "near", "libc"], &["proptest"]), node("kernel", &["libc"], &[]),
                node("near", &["far", "derive"], &[]), node("derive", &["syn"], &[]), node("far", &[], &[]),
            ]},
        });
        let graph = Graph::new(&metadata);
        let mut own: Vec<_> = graph.reached("mine", "kernel").into_iter().collect();
        own.sort();
        assert_eq!(own, ["far#1", "libc#1", "mine#1", "near#1"]);
        assert_eq!(graph.reached("kernel", ""), HashSet::from(["kernel#1", "libc#1"]));
        assert_eq!(graph.of("near#1").collect::<Vec<_>>(), ["far#1"]);
    }
}
