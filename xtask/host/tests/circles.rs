//! No two files import each other, not even by way of others.
//!
//! A file and those of its submodules are a room with a front: what they take from each other is no matter of this, and so a crate's
//! root may be taken from by everybody. Names that any other file hands on count as imports of the file where they are from, or of the
//! file that hands them on where it does so by a glob.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::{Item, ItemMod, ItemUse, UseTree, Visibility, visit::Visit};

type Names = Vec<String>;

/// The modules of a crate that have files of their own.
#[derive(Default)]
struct Crate {
    files: BTreeMap<Names, PathBuf>,
    /// What modules hand on: the name, and the path that it stands for.
    handed_on: BTreeMap<(Names, String), Names>,
    /// Paths that are named in a file, by its module.
    named: Vec<(Names, Names)>,
}

/// Collects the paths in a file.
struct Reader<'c> {
    file: Names,
    /// The module at this place of the file.
    module: Names,
    of: &'c mut Crate,
}

impl Reader<'_> {
    /// The path from the root of the crate; nothing if it leads to another crate.
    fn resolved(&self, path: &[String]) -> Option<Names> {
        let mut module = self.module.clone();
        let rest = match path.first()?.as_str() {
            "crate" => {
                module.clear();
                &path[1..]
            }
            "self" => &path[1..],
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                module.truncate(module.len().checked_sub(ups)?);
                &path[ups..]
            }
            first => {
                let child = [&module[..], &[first.to_owned()]].concat();
                self.of.files.contains_key(&child).then_some(path)?
            }
        };
        Some([&module, rest].concat())
    }

    fn name(&mut self, path: &[String]) {
        if let Some(path) = self.resolved(path) {
            self.of.named.push((self.file.clone(), path));
        }
    }

    fn import(&mut self, tree: &UseTree, mut path: Names, handed_on: bool) {
        let shown = match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                return self.import(&inner.tree, path, handed_on);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, path.clone(), handed_on));
            }
            UseTree::Name(name) if name.ident == "self" => path.last().cloned().unwrap_or_default(),
            UseTree::Name(name) => {
                path.push(name.ident.to_string());
                name.ident.to_string()
            }
            UseTree::Rename(rename) => {
                path.push(rename.ident.to_string());
                rename.rename.to_string()
            }
            UseTree::Glob(_) => String::new(),
        };
        self.name(&path);
        if handed_on && let Some(path) = self.resolved(&path) {
            self.of.handed_on.insert((self.module.clone(), shown), path);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.import(&item.tree, Names::new(), !matches!(item.vis, Visibility::Inherited));
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.module.push(module.ident.to_string());
        syn::visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if matches!(names[0].as_str(), "crate" | "self" | "super") {
            self.name(&names);
        }
        syn::visit::visit_path(self, path);
    }
}

impl Crate {
    fn read(source: &Path) -> Self {
        let mut this = Self::default();
        let mut files = Vec::new();
        walk(source, &mut |path| files.push(path.to_owned()));
        for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
            let within = path.strip_prefix(source).unwrap().with_extension("");
            let mut module: Names = within.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            let is_front = module.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str()));
            module.truncate(module.len() - usize::from(is_front));
            this.files.insert(module, path.clone());
        }
        for (file, path) in this.files.clone() {
            let parsed = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|error| {
                panic!("{}: {error}", path.display());
            });
            let items: &[Item] = &parsed.items;
            let mut reader = Reader { module: file.clone(), file, of: &mut this };
            items.iter().for_each(|item| reader.visit_item(item));
        }
        this
    }

    /// The module whose file has what a path says.
    fn file_of(&self, path: &[String]) -> Option<&Names> {
        let mut path = path.to_owned();
        // A name that is handed on in a circle is the compiler's to find.
        for _ in 0..8 {
            let len = (1..=path.len()).rev().find(|len| self.files.contains_key(&path[..*len]))?;
            let name = path.get(len).cloned().unwrap_or_default();
            match self.handed_on.get(&(path[..len].to_vec(), name)) {
                Some(from) => path = [from, &path[(len + 1).min(path.len())..]].concat(),
                None => return self.files.get_key_value(&path[..len]).map(|(module, _)| module),
            }
        }
        None
    }

    /// The files that each file imports, of those that are on a circle or between two.
    fn circles(&self) -> BTreeMap<&Names, BTreeSet<&Names>> {
        let mut imports = BTreeMap::<_, BTreeSet<_>>::new();
        for (from, path) in &self.named {
            let Some(to) = self.file_of(path) else { continue };
            if !from.starts_with(to) && !to.starts_with(from) {
                imports.entry(from).or_default().insert(to);
            }
        }
        loop {
            let imported: BTreeSet<_> = imports.values().flatten().copied().collect();
            let before = imports.len();
            imports.retain(|from, _| imported.contains(from));
            let importing: BTreeSet<_> = imports.keys().copied().collect();
            imports.values_mut().for_each(|all| all.retain(|to| importing.contains(to)));
            imports.retain(|_, all| !all.is_empty());
            if imports.len() == before {
                return imports;
            }
        }
    }
}

/// Calls `found` with each file below a directory.
fn walk(directory: &Path, found: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        // A link is neither.
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && name != "target" && name != ".git" => walk(&path, found),
            kind if kind.is_file() => found(&path),
            _ => {}
        }
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let root = host::workspace::root();
    let mut manifests = Vec::new();
    walk(&root, &mut |path| {
        manifests.extend((path.file_name() == Some("Cargo.toml".as_ref())).then(|| path.to_owned()))
    });
    let sources = manifests.iter().map(|manifest| manifest.with_file_name("src")).filter(|source| source.is_dir());
    let crates: Vec<_> = sources.map(|source| Crate::read(&source)).collect();
    assert!(crates.len() > 10, "where is the tree?");
    let mut found = String::new();
    for of in &crates {
        let shown = |module: &Names| of.files[module].strip_prefix(&root).unwrap().display().to_string();
        for (from, all) in of.circles() {
            for (from, to) in all.into_iter().map(|to| (shown(from), shown(to))) {
                found += &format!("\n{from} imports {to}");
            }
        }
    }
    assert!(found.is_empty(), "files import each other in circles; put what both need into a third one:{found}");
}

/// Files that import each other by way of a name that a third one hands on are found, and one that only imports is not.
#[test]
fn a_circle_is_found() {
    let source = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("lib.rs", "mod first; mod front; mod last; mod second;"),
        ("first.rs", "use crate::front::Second; pub struct First;"),
        ("front.rs", "pub use crate::second::Second;"),
        ("second.rs", "pub struct Second(crate::first::First);"),
        ("last.rs", "use crate::first::First;"),
    ] {
        fs::write(source.path().join(file), text).unwrap();
    }
    let of = Crate::read(source.path());
    let circles: Vec<_> = of.circles().into_iter().map(|(from, to)| (from.concat(), to.len())).collect();
    assert_eq!(circles, [("first".to_owned(), 1), ("second".to_owned(), 1)]);
}
